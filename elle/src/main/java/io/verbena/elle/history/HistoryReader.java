package io.verbena.elle.history;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads a history of any of the known formats; the first bytes, not the name of the file, say which.
 */
public final class HistoryReader
{
    private static final long MAX_TEXT_BYTES = Integer.MAX_VALUE - 64;

    private HistoryReader()
    {
    }

    /**
     * Reads a file.
     *
     * @param file EDN (maps one after the other or one vector) or JSON (lines or one array), in UTF-8 and up to
     *             2 GiB, also from a pipe; or what a {@link HistoryRecorder} wrote.
     * @return the history; its source is the name of the file.
     * @throws IOException      if the file cannot be read.
     * @throws HistoryException if it is no well-formed history; names file and line.
     */
    public static History read(final Path file) throws IOException
    {
        final String source = file.toString();
        if (!Files.isRegularFile(file))
        {
            return parse(source, decode(source, unsized(source, file)));
        }
        try (FileChannel channel = FileChannel.open(file))
        {
            if (RecordingReader.isRecording(channel))
            {
                return nonEmpty(RecordingReader.read(file, channel));
            }
        }
        if (Files.size(file) > MAX_TEXT_BYTES)
        {
            throw new HistoryException(source, 0, "text of " + Files.size(file) +
                " bytes: more than 2 GiB must be recorded in the binary form");
        }
        return parse(source, decode(source, Files.readAllBytes(file)));
    }

    /**
     * Reads the text of a history, EDN or JSON.
     *
     * @param source name in messages.
     * @param text   the whole text.
     * @return the history.
     * @throws HistoryException if it is no well-formed history; names source and line.
     */
    public static History parse(final String source, final String text)
    {
        final TextCursor cursor = new TextCursor(source, text);
        final HistoryBuilder builder = new HistoryBuilder(source);
        if (isJson(text))
        {
            new JsonParser(cursor).parseEvents(builder);
        }
        else
        {
            new EdnParser(cursor).parseEvents(builder);
        }
        return nonEmpty(builder.build());
    }

    private static History nonEmpty(final History history)
    {
        if (history.operations().isEmpty())
        {
            // An empty file passes every check: far more often it is a mistake than a history.
            throw new HistoryException(history.source(), 0, "holds no operation of a client");
        }
        return history;
    }

    /** JSON's objects begin with a string, EDN's events with a keyword. */
    private static boolean isJson(final String text)
    {
        for (int i = 0; i < text.length(); i++)
        {
            final char c = text.charAt(i);
            if (c == '"')
            {
                return true;
            }
            if (c != '[' && c != '{' && c != '\uFEFF' && !Character.isWhitespace(c))
            {
                return false;
            }
        }
        return false;
    }

    /** What is no file on a disk, such as a pipe, can be read once only, and does not say how much it holds. */
    private static byte[] unsized(final String source, final Path file) throws IOException
    {
        try (InputStream in = Files.newInputStream(file))
        {
            final byte[] bytes = in.readNBytes((int)MAX_TEXT_BYTES);
            if (RecordingReader.isRecording(bytes))
            {
                throw new HistoryException(source, 0, "is a recording, which must be a file, not a pipe");
            }
            return bytes;
        }
    }

    private static String decode(final String source, final byte[] bytes)
    {
        final String text = new String(bytes, StandardCharsets.UTF_8);
        if (text.indexOf('\uFFFD') >= 0)
        {
            // Either the text holds that very character, or the bytes were no UTF-8: the strict decoder knows.
            try
            {
                StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            }
            catch (final CharacterCodingException ex)
            {
                throw new HistoryException(source, 0, "is no UTF-8 text");
            }
        }
        return text;
    }
}
