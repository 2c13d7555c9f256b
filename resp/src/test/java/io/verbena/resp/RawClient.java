package io.verbena.resp;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A client that sends bytes and reads replies as bytes, one at a time. One thread. */
final class RawClient implements AutoCloseable
{
    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;

    RawClient(final int port) throws IOException
    {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(20_000);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
        out = socket.getOutputStream();
    }

    Socket socket()
    {
        return socket;
    }

    void send(final String bytes) throws IOException
    {
        out.write(bytes.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    /** Encodes words, separated by blanks; {@code <n>} becomes n letters, {@code ""} an empty word. */
    static String command(final String line)
    {
        final String[] words = line.split(" ");
        final StringBuilder bytes = new StringBuilder("*" + words.length + "\r\n");
        for (final String word : words)
        {
            final String text = "\"\"".equals(word) ? "" :
                word.matches("<\\d+>") ? "x".repeat(Integer.parseInt(word.substring(1, word.length() - 1))) : word;
            bytes.append('$').append(text.length()).append("\r\n").append(text).append("\r\n");
        }
        return bytes.toString();
    }

    String ask(final String line) throws IOException
    {
        send(command(line));
        return reply();
    }

    /** One reply, with its line ends as blanks; empty at the end. */
    String reply() throws IOException
    {
        final String line = line();
        if (line.isEmpty())
        {
            return "";
        }
        final StringBuilder all = new StringBuilder(line);
        switch (line.charAt(0))
        {
            case '$', '=' ->
            {
                final int length = Integer.parseInt(line.substring(1));
                if (length >= 0)
                {
                    final byte[] bytes = new byte[length + 2];
                    in.readFully(bytes);
                    all.append(' ').append(new String(bytes, 0, length, StandardCharsets.ISO_8859_1));
                }
            }
            case '*', '~', '%' ->
            {
                final int count = Integer.parseInt(line.substring(1)) * ('%' == line.charAt(0) ? 2 : 1);
                for (int i = 0; i < count; i++)
                {
                    all.append(' ').append(reply());
                }
            }
            default ->
            {
                // The line was all.
            }
        }
        return all.toString();
    }

    private String line() throws IOException
    {
        final StringBuilder line = new StringBuilder();
        int letter;
        while ((letter = in.read()) >= 0 && '\n' != letter)
        {
            line.append((char)letter);
        }
        if (!line.isEmpty() && '\r' == line.charAt(line.length() - 1))
        {
            line.setLength(line.length() - 1);
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException
    {
        socket.close();
    }
}
