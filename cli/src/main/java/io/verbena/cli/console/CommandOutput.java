package io.verbena.cli.console;

import picocli.CommandLine.Model.CommandSpec;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * What a command prints: text, always in UTF-8, and bytes as they are, in one order. A {@link PrintWriter} keeps
 * silent about what could not be written; this one remembers it, and {@link #end} makes it the command's failure. Text
 * goes out at the end of each line, bytes when they are many or flushed. Used by one thread.
 */
public final class CommandOutput extends PrintWriter
{
    /** Where bytes end up; the first failure is the last attempt. */
    private static final class Place extends OutputStream
    {
        private final OutputStream out;
        private IOException failure;

        private Place(final OutputStream out)
        {
            this.out = out;
        }

        @Override
        public void write(final int oneByte) throws IOException
        {
            write(new byte[]{(byte)oneByte}, 0, 1);
        }

        @Override
        public void write(final byte[] bytes, final int offset, final int length) throws IOException
        {
            if (null != failure)
            {
                throw failure;
            }
            try
            {
                out.write(bytes, offset, length);
            }
            catch (final IOException ex)
            {
                failure = ex;
                throw ex;
            }
        }
    }

    /** Keeps nothing back, so that text and bytes stay in order. */
    private static final class Utf8 extends Writer
    {
        private final OutputStream bytes;

        private Utf8(final OutputStream bytes)
        {
            this.bytes = bytes;
        }

        @Override
        public void write(final char[] text, final int offset, final int length) throws IOException
        {
            bytes.write(new String(text, offset, length).getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void write(final String text, final int offset, final int length) throws IOException
        {
            bytes.write(text.substring(offset, offset + length).getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void flush() throws IOException
        {
            bytes.flush();
        }

        @Override
        public void close() throws IOException
        {
            bytes.close();
        }
    }

    private final Place place;
    private final OutputStream buffer;
    private final boolean isTerminal;
    private boolean endsValues;

    private CommandOutput(final Place place, final OutputStream buffer, final boolean isTerminal)
    {
        super(new Utf8(buffer), true);
        this.place = place;
        this.buffer = buffer;
        this.isTerminal = isTerminal;
    }

    /** Standard output of this process. */
    public static CommandOutput standard()
    {
        return to(new FileOutputStream(FileDescriptor.out), Terminal.isStandardOutput());
    }

    /**
     * Any other place.
     *
     * @param out        takes the bytes.
     * @param isTerminal whether a person reads what is printed, and not a program.
     */
    public static CommandOutput to(final OutputStream out, final boolean isTerminal)
    {
        final Place place = new Place(out);
        return new CommandOutput(place, new BufferedOutputStream(place), isTerminal);
    }

    /** @return what a command prints to that may print bytes. */
    public static CommandOutput of(final CommandSpec spec)
    {
        return (CommandOutput)spec.commandLine().getOut();
    }

    /**
     * For a person, bytes that are no text are better replaced; a program needs all as they are.
     *
     * @return whether a person reads it.
     */
    public boolean isTerminal()
    {
        return isTerminal;
    }

    /** From now on several commands print here, one after the other: a value ends with its line. */
    public void endValues()
    {
        endsValues = true;
    }

    /** @return whether a newline follows each value, which then is not the output's exact bytes. */
    public boolean endsValues()
    {
        return endsValues || isTerminal;
    }

    /** Prints bytes as they are. */
    public void print(final byte[] bytes)
    {
        try
        {
            buffer.write(bytes);
        }
        catch (final IOException ex)
        {
            setError(); // remembered by the place
        }
    }

    /** @return whether what is printed from now on is lost; without waiting for what is still to be written. */
    public boolean hasFailed()
    {
        return null != place.failure;
    }

    /**
     * Writes what is left, and says when it or anything before could not be written. When nobody reads on, that is no
     * failure: who reads a part has what they want.
     *
     * @param status of the command.
     * @param err    takes the reason.
     * @return the status, or {@link ExitStatus#OUTPUT_FAILED} in place of success.
     */
    public int end(final int status, final PrintWriter err)
    {
        flush();
        if (null == place.failure || FileErrors.isUnread(place.failure))
        {
            return status;
        }
        err.println("verbena: standard output cannot be written (" + FileErrors.reason(place.failure) + ")");
        err.flush();
        return ExitStatus.OK == status ? ExitStatus.OUTPUT_FAILED : status;
    }
}
