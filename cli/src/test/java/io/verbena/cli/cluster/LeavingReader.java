package io.verbena.cli.cluster;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Where a command's output goes: whoever reads it does so some times, and leaves, as {@code head} does. */
final class LeavingReader extends OutputStream
{
    private final ByteArrayOutputStream read = new ByteArrayOutputStream();
    private int left;

    LeavingReader(final int times)
    {
        left = times;
    }

    /** What was read. */
    ByteArrayOutputStream read()
    {
        return read;
    }

    @Override
    public void write(final int oneByte) throws IOException
    {
        write(new byte[]{(byte)oneByte}, 0, 1);
    }

    @Override
    public void write(final byte[] bytes, final int offset, final int length) throws IOException
    {
        if (left-- <= 0)
        {
            throw new IOException("Broken pipe");
        }
        read.write(bytes, offset, length);
    }
}
