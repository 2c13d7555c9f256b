package io.verbena.cli.record;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/**
 * Text in UTF-8, without the byte order mark that some programs begin a file with. What comes before bytes that are no
 * UTF-8 is read, and the next read throws {@link CharacterCodingException}: the JDK's readers throw such text away, and
 * nobody knows any more in which line the bytes are. Used by one thread, with room for two characters at least.
 */
final class Utf8Reader extends Reader
{
    private static final int BUFFER_BYTES = 1 << 16;
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private final InputStream in;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    private final ByteBuffer bytes = ByteBuffer.allocate(BUFFER_BYTES).flip();
    private boolean isBegun;
    private boolean isAtEnd;
    private long position;

    /** @param in closed with this. */
    Utf8Reader(final InputStream in)
    {
        this.in = in;
    }

    @Override
    public int read(final char[] target, final int offset, final int length) throws IOException
    {
        final CharBuffer text = CharBuffer.wrap(target, offset, length);
        while (true)
        {
            final CoderResult result = decoder.decode(bytes, text, isAtEnd);
            if (!isBegun && text.position() > offset)
            {
                isBegun = true;
                skipMark(text, offset);
            }
            if (text.position() > offset)
            {
                return text.position() - offset;
            }
            if (result.isError())
            {
                result.throwException();
            }
            if (isAtEnd)
            {
                return -1;
            }
            fill();
        }
    }

    private static void skipMark(final CharBuffer text, final int start)
    {
        text.flip().position(start);
        if (BYTE_ORDER_MARK == text.get(start))
        {
            text.position(start + 1);
        }
        final CharBuffer rest = text.slice();
        text.limit(text.capacity()).position(start);
        text.put(rest);
    }

    /** @return bytes taken so far. */
    long position()
    {
        return position;
    }

    private void fill() throws IOException
    {
        bytes.compact();
        final int count = in.read(bytes.array(), bytes.position(), bytes.remaining());
        isAtEnd = count < 0;
        position += Math.max(0, count);
        bytes.position(bytes.position() + Math.max(0, count)).flip();
    }

    @Override
    public void close() throws IOException
    {
        in.close();
    }
}
