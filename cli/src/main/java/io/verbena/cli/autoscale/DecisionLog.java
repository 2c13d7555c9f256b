package io.verbena.cli.autoscale;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.JsonReader;
import io.verbena.cli.cluster.JsonReader.MalformedJsonException;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.server.HealthServer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The decisions of the autoscaler of a cluster, in its folder: a JSON object a line, in {@code autoscale.log}, and
 * before that in {@code autoscale.log.1}. There is one writer, who holds a lock. Used by one thread.
 */
final class DecisionLog implements AutoCloseable
{
    /** A file that is longer is the old one from then on; that takes some ten hours at a decision each 2 s. */
    static final long MOST_BYTES = 8 << 20;
    private static final String NAME = "autoscale.log";
    /** Enough for what is read of the end: some hundred decisions. */
    private static final int END_BYTES = 256 << 10;
    private static final int LINE_FEED = '\n';

    private final Path path;
    private final Path old;
    private final FileChannel lock;
    private final long mostBytes;

    private DecisionLog(final ClusterFolder folder, final FileChannel lock, final long mostBytes)
    {
        path = path(folder);
        old = old(folder);
        this.lock = lock;
        this.mostBytes = mostBytes;
    }

    private static Path path(final ClusterFolder folder)
    {
        return folder.path().resolve(NAME);
    }

    private static Path old(final ClusterFolder folder)
    {
        return folder.path().resolve(NAME + ".1");
    }

    /**
     * Becomes the only writer.
     *
     * @throws CommandFailedException when there is another one, or no folder of a cluster.
     */
    static DecisionLog open(final ClusterFolder folder, final long mostBytes)
    {
        if (!Files.isDirectory(folder.path()))
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no cluster in " + folder.path() + ": 'verbena up'", null);
        }
        final Path file = folder.path().resolve("autoscale.lock");
        try
        {
            final FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (null == tryLock(channel))
            {
                channel.close();
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, "another 'verbena autoscale' runs for the " +
                    "cluster in " + folder.path() + ": end it first", null);
            }
            return new DecisionLog(folder, channel, mostBytes);
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.CANNOT_CREATE, "cannot lock " + file + ": " + FileErrors.reason(ex), ex);
        }
    }

    private static FileLock tryLock(final FileChannel channel) throws IOException
    {
        try
        {
            return channel.tryLock();
        }
        catch (final OverlappingFileLockException ex)
        {
            return null;
        }
    }

    /**
     * Adds a line.
     *
     * @return why it could not be written, one line; null when it was.
     */
    String add(final Map<String, Object> members)
    {
        try (FileChannel file = FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            long end = file.size();
            // One that was killed, or met a full disk, in the middle of a line.
            final boolean isTorn = end > 0 && LINE_FEED != lastByte(file, end);
            final ByteBuffer line = StandardCharsets.UTF_8.encode(
                (isTorn ? "\n" : "") + HealthServer.json(members) + '\n');
            while (line.hasRemaining())
            {
                end += file.write(line, end);
            }
            if (end > mostBytes)
            {
                Files.move(path, old, StandardCopyOption.REPLACE_EXISTING);
            }
            return null;
        }
        catch (final IOException ex)
        {
            return "cannot write " + path + ": " + FileErrors.reason(ex);
        }
    }

    private static int lastByte(final FileChannel file, final long end) throws IOException
    {
        final ByteBuffer last = ByteBuffer.allocate(1);
        file.read(last, end - 1);
        return last.get(0);
    }

    /**
     * Reads what is there, oldest first; lines that were torn are left out.
     *
     * @throws CommandFailedException when there is none, or it cannot be read.
     */
    static List<Map<String, Object>> read(final ClusterFolder folder)
    {
        final List<Map<String, Object>> records = new ArrayList<>();
        boolean isThere = false;
        for (final Path file : List.of(old(folder), path(folder)))
        {
            if (Files.exists(file))
            {
                isThere = true;
                records.addAll(read(file));
            }
        }
        if (!isThere)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE,
                "no decisions in " + folder.path() + ": 'verbena autoscale' makes some", null);
        }
        return records;
    }

    /** @return the last records, oldest first; none where there are none, or they cannot be read. */
    static List<Map<String, Object>> readEnd(final ClusterFolder folder)
    {
        try (FileChannel file = FileChannel.open(path(folder)))
        {
            final ByteBuffer end = ByteBuffer.allocate(END_BYTES);
            final long from = Math.max(0, file.size() - END_BYTES);
            while (end.hasRemaining() && file.read(end, from + end.position()) > 0)
            {
                continue; // a read may return less than there is
            }
            // The first line may lack its beginning: it is left out as one that is torn.
            return records(new String(end.array(), 0, end.position(), StandardCharsets.UTF_8));
        }
        catch (final IOException ex)
        {
            return List.of();
        }
    }

    private static List<Map<String, Object>> read(final Path file)
    {
        try
        {
            return records(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.BAD_DATA, "cannot read " + file + ": " + FileErrors.reason(ex), ex);
        }
    }

    private static List<Map<String, Object>> records(final String lines)
    {
        final List<Map<String, Object>> records = new ArrayList<>();
        for (final String line : lines.split("\n"))
        {
            try
            {
                final Map<String, Object> members = JsonReader.object(line);
                if (members.get("time_ms") instanceof Number && null != members.get("from") &&
                    null != members.get("to"))
                {
                    records.add(members);
                }
            }
            catch (final MalformedJsonException ex)
            {
                continue; // torn
            }
        }
        return records;
    }

    @Override
    public void close()
    {
        try
        {
            lock.close();
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERNAL, "lock cannot be released: " + ex, ex);
        }
    }
}
