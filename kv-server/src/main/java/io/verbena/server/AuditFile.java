package io.verbena.server;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.verbena.meta.MetaAudit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;

/**
 * Appends one JSON object a line to {@code audit.jsonl} in a folder, mode 0600. A file that has become too long is
 * renamed to {@code audit.jsonl.1}, in the place of an earlier one. Of refusals, which anybody can cause, so many a
 * second are written, and the rest counted: nobody can push out what is there, or keep the server busy. The same holds
 * of what compute nodes deny, counted by itself, so that neither hides the other. A line that cannot be written is
 * counted and logged, and the server goes on. One thread.
 */
final class AuditFile implements MetaAudit, AutoCloseable
{
    static final String NAME = "audit.jsonl";
    static final long MAX_BYTES = 16L << 20;
    static final int REFUSALS_PER_SECOND = 20;
    private static final String REFUSED = "refused";
    private static final int MAX_TEXT = 1_024;
    private static final Logger LOGGER = LoggerFactory.getLogger(AuditFile.class);
    private static final JsonFactory JSON = new JsonFactory();

    private final Path file;
    private final Clock clock;
    private final long maxBytes;
    private FileChannel channel;
    private final Pace refusals = new Pace();
    private final Pace denials = new Pace();
    /** Read by others. */
    private volatile long lost;

    /**
     * Opens it, or makes it.
     *
     * @param folder   of the file; made where it is not there.
     * @param clock    of the lines.
     * @param maxBytes of a file.
     */
    AuditFile(final Path folder, final Clock clock, final long maxBytes)
    {
        this.clock = clock;
        this.maxBytes = maxBytes;
        file = folder.resolve(NAME);
        try
        {
            Files.createDirectories(folder);
            channel = open();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(file + " cannot be written: " + ex.getMessage(), ex);
        }
    }

    private FileChannel open() throws IOException
    {
        return FileChannel.open(file, EnumSet.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    /** @return lines that could not be written. Any thread. */
    long lost()
    {
        return lost;
    }

    @Override
    public void record(final String event, final String by, final String subject)
    {
        final Instant now = clock.instant();
        final Pace pace = REFUSED.equals(event) ? refusals : DENIED.equals(event) ? denials : null;
        if (null != pace && !pace.mayWrite(now.getEpochSecond()))
        {
            return;
        }
        try
        {
            final ByteBuffer line = ByteBuffer.wrap(line(now, event, by, subject));
            if (channel.size() + line.remaining() > maxBytes)
            {
                channel.close();
                Files.move(file, file.resolveSibling(NAME + ".1"), StandardCopyOption.REPLACE_EXISTING);
                channel = open();
            }
            while (line.hasRemaining())
            {
                channel.write(line);
            }
            refusals.suppressed = 0;
            denials.suppressed = 0;
        }
        catch (final IOException ex)
        {
            lost = lost + 1; // one thread writes
            if (1 == lost)
            {
                LOGGER.error("audit log {} cannot be written, events are lost: {}", file, ex.toString());
            }
        }
    }

    /** How many lines of one event there were in this second, and how many were not written since the last line. */
    private static final class Pace
    {
        private long second;
        private int lines;
        private long suppressed;

        private boolean mayWrite(final long nowSecond)
        {
            if (nowSecond != second)
            {
                second = nowSecond;
                lines = 0;
            }
            if (lines++ < REFUSALS_PER_SECOND)
            {
                return true;
            }
            suppressed++;
            return false;
        }
    }

    private byte[] line(final Instant now, final String event, final String by, final String subject)
        throws IOException
    {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(bytes, JsonEncoding.UTF8))
        {
            json.writeStartObject();
            json.writeStringField("time", now.truncatedTo(ChronoUnit.MILLIS).toString());
            json.writeStringField("event", event);
            json.writeStringField("by", cut(by));
            json.writeStringField("subject", cut(subject));
            if (refusals.suppressed > 0)
            {
                json.writeNumberField("refusals_not_written", refusals.suppressed);
            }
            if (denials.suppressed > 0)
            {
                json.writeNumberField("denials_not_written", denials.suppressed);
            }
            json.writeEndObject();
        }
        bytes.write('\n');
        return bytes.toByteArray();
    }

    private static String cut(final String text)
    {
        return text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text;
    }

    @Override
    public void close()
    {
        try
        {
            channel.close();
        }
        catch (final IOException ex)
        {
            LOGGER.warn("audit log {} cannot be closed: {}", file, ex.toString());
        }
    }
}
