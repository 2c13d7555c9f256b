package io.verbena.rdma.connection;

import java.io.IOException;
import java.io.InputStream;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The first line of a file that begins with a secret. It is never a {@link String}, which could not be wiped and would
 * stand in each dump of the heap: the characters are wiped by {@link #close()}. One thread.
 */
public final class SecretLine implements AutoCloseable
{
    private final byte[] read;
    private final char[] line;
    private final int lengthBytes;

    private SecretLine(final byte[] read, final int lengthBytes)
    {
        this.read = read;
        this.lengthBytes = lengthBytes;
        int end = 0;
        while (end < lengthBytes && '\n' != read[end] && '\r' != read[end])
        {
            end++;
        }
        line = new char[end];
        for (int i = 0; i < end; i++)
        {
            line[i] = (char)(read[i] & 0xFF);
        }
    }

    /**
     * Reads the beginning of a file.
     *
     * @param file      with the secret; whether others may read it is not looked at.
     * @param mostBytes read at most, the line and what follows it.
     * @return the line; to be closed by the caller.
     * @throws IOException when it cannot be read.
     */
    public static SecretLine read(final Path file, final int mostBytes) throws IOException
    {
        try (InputStream in = Files.newInputStream(file))
        {
            return read(in, mostBytes);
        }
    }

    /**
     * Reads the beginning of a stream, which stays open.
     *
     * @param in        with the secret.
     * @param mostBytes read at most, the line and what follows it.
     * @return the line; to be closed by the caller.
     * @throws IOException when it cannot be read.
     */
    public static SecretLine read(final InputStream in, final int mostBytes) throws IOException
    {
        final byte[] bytes = new byte[mostBytes];
        return new SecretLine(bytes, in.readNBytes(bytes, 0, mostBytes));
    }

    /** @return the line without its end, a character for each byte (ISO 8859-1); zeros once this is closed. */
    public CharSequence text()
    {
        return CharBuffer.wrap(line);
    }

    /** @return a copy of the bytes of the line without its end, to be wiped by the caller. */
    public byte[] bytes()
    {
        return Arrays.copyOf(read, line.length);
    }

    /** @return what follows the line, and is no secret, without spaces and ends of lines around it; may be empty. */
    public String rest()
    {
        return new String(read, line.length, lengthBytes - line.length, StandardCharsets.ISO_8859_1).strip();
    }

    /** Wipes it. */
    @Override
    public void close()
    {
        Arrays.fill(read, (byte)0);
        Arrays.fill(line, '\0');
    }

    @Override
    public String toString()
    {
        return "SecretLine{not shown}";
    }
}
