package io.verbena.resp.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds commands in the bytes that a connection receives: arrays of bulk strings, or lines of words. However the bytes
 * are split into reads, the commands are the same. Arguments stay where the bytes arrived, until the next command is
 * asked for; in steady state nothing is allocated. Limits and error texts are those of Redis 7, except that an argument
 * longer than {@link #MAX_ARGUMENT_BYTES} is passed over instead of kept: its length is known, its bytes are not.
 *
 * <p>One thread. {@link #close()} gives back what it took of the budget.
 */
public final class RespDecoder
{
    /** There is a command: its arguments are valid until the next call of {@link #next}. */
    public static final int COMMAND = 1;
    /** What has arrived ends before the command does. */
    public static final int NEEDS_MORE = 0;
    /** The bytes are no command, see {@link #error()}: nothing after them can be understood. */
    public static final int MALFORMED = -1;

    /** Longest argument that is kept: the longest key of a table, 64 KiB. */
    public static final int MAX_ARGUMENT_BYTES = 64 * 1024;
    /** Longest line, and longest header of an argument: 64 KiB. */
    public static final int MAX_LINE_BYTES = 64 * 1024;
    /** Longest argument that a client may announce: 512 MiB. */
    public static final long MAX_BULK_BYTES = 512L * 1024 * 1024;
    /** Most arguments, and longest of them, of a client that has not given its password yet. */
    public static final int UNAUTHENTICATED_ARGUMENTS = 10;
    /** Longest argument of a client that has not given its password yet. */
    public static final int UNAUTHENTICATED_BYTES = 16 * 1024;

    private static final int INITIAL_BYTES = 16 * 1024;
    private static final int INITIAL_ARGUMENTS = 16;
    /** An argument table longer than this is not kept for the next command. */
    private static final int KEPT_ARGUMENTS = 1024;
    private static final int NOT_KEPT = -1;
    private static final String TOO_LONG = "command is longer than this node keeps, in bytes: ";
    private static final long NO_NUMBER = Long.MIN_VALUE;
    private static final long BYTES_OF_ARGUMENT = 2L * Integer.BYTES;

    private final MemoryBudget budget;
    private final int maxCommandBytes;
    private byte[] buffer = new byte[INITIAL_BYTES];
    /** First byte of the present command, and end of what has arrived. */
    private int begin;
    private int end;
    /** How far the present command is parsed, from {@link #begin}. */
    private int parsed;
    /** How far the present line was searched for its end, from {@link #begin}. */
    private int searched;
    private int[] offsets = new int[INITIAL_ARGUMENTS];
    private int[] lengths = new int[INITIAL_ARGUMENTS];
    private int count;
    /** Arguments still to come; -1 before the header of the command. */
    private long missing = -1;
    /** Length of the argument whose header was read; -1 before that. */
    private long bulkLength = -1;
    /** Bytes that are still to arrive of an argument that is passed over. */
    private long toPassOver;
    private boolean isComplete;
    private boolean isRestricted;
    private String error;
    private final InlineWords words = new InlineWords();

    /**
     * @param budget          for what the buffer takes beyond its first 16 KiB.
     * @param maxCommandBytes longest command, all arguments together, that is kept.
     */
    public RespDecoder(final MemoryBudget budget, final int maxCommandBytes)
    {
        this.budget = budget;
        this.maxCommandBytes = maxCommandBytes;
    }

    /** @param isRestricted whether the client has still to give its password, and may not send much before. */
    public void restrict(final boolean isRestricted)
    {
        this.isRestricted = isRestricted;
    }

    /**
     * Makes room for bytes to arrive at {@link #array()} and {@link #arrayOffset()}, which then are announced by
     * {@link #received}. The arguments of the present command stay valid, at another place maybe.
     *
     * @param lengthBytes of room, 1 or more.
     * @return false when there is no memory for so much: {@link #error()} says which limit was met.
     */
    public boolean reserve(final int lengthBytes)
    {
        if (buffer.length - end >= lengthBytes)
        {
            return true;
        }
        final int used = end - begin;
        if (buffer.length - used >= lengthBytes)
        {
            System.arraycopy(buffer, begin, buffer, 0, used);
            begin = 0;
            end = used;
            return true;
        }
        final long wanted = Math.max(2L * buffer.length, Integer.highestOneBit(used + lengthBytes) * 2L);
        // A pipeline may hold whole commands behind the one that is not complete yet: only that one is too long.
        if (used + (long)lengthBytes > 2L * maxCommandBytes + INITIAL_BYTES || !budget.take(wanted - buffer.length))
        {
            return fail("command is longer than this node keeps, or others hold its memory");
        }
        final byte[] larger = new byte[(int)wanted];
        System.arraycopy(buffer, begin, larger, 0, used);
        buffer = larger;
        begin = 0;
        end = used;
        return true;
    }

    /** @return where to put bytes that arrive. */
    public byte[] array()
    {
        return buffer;
    }

    /** @return first free byte of {@link #array()}. */
    public int arrayOffset()
    {
        return end;
    }

    /** @param lengthBytes that were put there. */
    public void received(final int lengthBytes)
    {
        if (toPassOver > 0 && !isComplete)
        {
            passOver(lengthBytes);
        }
        else
        {
            end += lengthBytes;
        }
    }

    private void passOver(final int lengthBytes)
    {
        final int passed = (int)Math.min(toPassOver, lengthBytes);
        toPassOver -= passed;
        System.arraycopy(buffer, end + passed, buffer, end, lengthBytes - passed);
        end += lengthBytes - passed;
    }

    /** @return bytes that have arrived and were not asked for as commands, the present one included. */
    public int bufferedBytes()
    {
        return end - begin;
    }

    /** @return bytes of memory that it holds. */
    public int capacityBytes()
    {
        return buffer.length;
    }

    /** @return why the bytes are {@link #MALFORMED}, as Redis says it. */
    public String error()
    {
        return error;
    }

    /** @return arguments of the present command, its name included; 1 or more. */
    public int count()
    {
        return count;
    }

    /** @return where argument i begins in {@link #array()}; only where {@link #isKept}. */
    public int offset(final int i)
    {
        return begin + offsets[i];
    }

    /** @return length of argument i in bytes, kept or not. */
    public int length(final int i)
    {
        return lengths[i];
    }

    /** @return whether the bytes of argument i are there: not if it is longer than {@link #MAX_ARGUMENT_BYTES}. */
    public boolean isKept(final int i)
    {
        return NOT_KEPT != offsets[i];
    }

    /** @return argument i as text, byte by byte; empty if it is not kept. Allocates. */
    public String text(final int i)
    {
        return isKept(i) ? new String(buffer, offset(i), lengths[i], StandardCharsets.ISO_8859_1) : "";
    }

    /** @return argument i as errors show it: as a text of C, which ends at a zero. Allocates. */
    public String shownText(final int i)
    {
        final String text = text(i);
        final int zero = text.indexOf(0);
        return zero < 0 ? text : text.substring(0, zero);
    }

    /** @return argument i as a fresh array; only where {@link #isKept}. */
    public byte[] bytes(final int i)
    {
        return Arrays.copyOfRange(buffer, offset(i), offset(i) + lengths[i]);
    }

    /**
     * Leaves the present command, and looks for the next one.
     *
     * @return {@link #COMMAND}, {@link #NEEDS_MORE} or {@link #MALFORMED}, which stays.
     */
    public int next()
    {
        if (isComplete)
        {
            leave();
        }
        while (null == error)
        {
            final int state = missing < 0 ? header() : arguments();
            if (NEEDS_MORE == state)
            {
                return null == error ? NEEDS_MORE : MALFORMED;
            }
            if (COMMAND == state && count > 0)
            {
                isComplete = true;
                return COMMAND;
            }
            if (COMMAND == state)
            {
                leave(); // an empty line, or an array of nothing: not a command, and not an error
            }
        }
        return MALFORMED;
    }

    private void leave()
    {
        begin += parsed;
        parsed = 0;
        searched = 0;
        count = 0;
        missing = -1;
        bulkLength = -1;
        isComplete = false;
        if (begin == end)
        {
            begin = 0;
            end = 0;
            shrink();
        }
    }

    /** What a long command needed is not kept for the short ones that follow. */
    private void shrink()
    {
        if (buffer.length > MAX_ARGUMENT_BYTES)
        {
            budget.giveBack(buffer.length - INITIAL_BYTES);
            buffer = new byte[INITIAL_BYTES];
        }
        if (offsets.length > KEPT_ARGUMENTS)
        {
            budget.giveBack((offsets.length - INITIAL_ARGUMENTS) * BYTES_OF_ARGUMENT);
            offsets = new int[INITIAL_ARGUMENTS];
            lengths = new int[INITIAL_ARGUMENTS];
        }
    }

    private int header()
    {
        if (begin + parsed == end)
        {
            return NEEDS_MORE;
        }
        if ('*' != buffer[begin])
        {
            return line();
        }
        final int lineEnd = findLineEnd("too big mbulk count string");
        if (lineEnd < 0)
        {
            return NEEDS_MORE;
        }
        final long announced = number(begin + 1, lineEnd);
        if (NO_NUMBER == announced || announced > Integer.MAX_VALUE)
        {
            fail("invalid multibulk length");
            return MALFORMED;
        }
        if (isRestricted && announced > UNAUTHENTICATED_ARGUMENTS)
        {
            fail("unauthenticated multibulk length");
            return MALFORMED;
        }
        afterLine(lineEnd);
        missing = Math.max(0, announced);
        return 0 == missing ? COMMAND : arguments();
    }

    private int line()
    {
        int at = begin + Math.max(parsed, searched);
        while (at < end && '\n' != buffer[at])
        {
            at++;
        }
        searched = at - begin;
        if (at == end)
        {
            if (searched > MAX_LINE_BYTES)
            {
                fail("too big inline request");
            }
            return NEEDS_MORE;
        }
        final int lineEnd = at > begin && '\r' == buffer[at - 1] ? at - 1 : at;
        parsed = at + 1 - begin;
        words.split(buffer, begin, lineEnd);
        if (words.isUnbalanced())
        {
            fail("unbalanced quotes in request");
            return MALFORMED;
        }
        missing = 0;
        for (int i = 0; i < words.count(); i++)
        {
            // Words were unescaped in place, so they lie where the line was.
            if (!addArgument(words.offset(i) - begin, words.length(i)))
            {
                return MALFORMED;
            }
        }
        return COMMAND;
    }

    private int arguments()
    {
        while (missing > 0)
        {
            if (bulkLength < 0)
            {
                final int state = bulkHeader();
                if (COMMAND != state)
                {
                    return state;
                }
            }
            if (!argument())
            {
                return null == error ? NEEDS_MORE : MALFORMED;
            }
            bulkLength = -1;
            missing--;
        }
        return COMMAND;
    }

    private int bulkHeader()
    {
        final int at = begin + parsed;
        if (at >= end)
        {
            return NEEDS_MORE;
        }
        final int lineEnd = findLineEnd("too big bulk count string");
        if (lineEnd < 0)
        {
            return null == error ? NEEDS_MORE : MALFORMED;
        }
        if ('$' != buffer[at])
        {
            fail("expected '$', got '" + (char)(buffer[at] & 0xff) + "'");
            return MALFORMED;
        }
        final long announced = number(at + 1, lineEnd);
        if (NO_NUMBER == announced || announced < 0 || announced > MAX_BULK_BYTES)
        {
            fail("invalid bulk length");
            return MALFORMED;
        }
        if (isRestricted && announced > UNAUTHENTICATED_BYTES)
        {
            fail("unauthenticated bulk length");
            return MALFORMED;
        }
        afterLine(lineEnd);
        if (announced <= MAX_ARGUMENT_BYTES && parsed + announced > maxCommandBytes)
        {
            fail(TOO_LONG + maxCommandBytes);
            return MALFORMED;
        }
        bulkLength = announced;
        toPassOver = announced > MAX_ARGUMENT_BYTES ? announced + 2 : 0;
        return COMMAND;
    }

    /** Whether the argument is complete. */
    private boolean argument()
    {
        if (bulkLength > MAX_ARGUMENT_BYTES)
        {
            final int here = (int)Math.min(toPassOver, end - begin - parsed);
            if (here > 0)
            {
                toPassOver -= here;
                System.arraycopy(
                    buffer, begin + parsed + here, buffer, begin + parsed, end - begin - parsed - here);
                end -= here;
            }
            return 0 == toPassOver && addArgument(NOT_KEPT, (int)bulkLength);
        }
        if (end - begin - parsed < bulkLength + 2)
        {
            return false;
        }
        final int offset = parsed;
        parsed += (int)bulkLength + 2;
        searched = parsed;
        return addArgument(offset, (int)bulkLength);
    }

    private boolean addArgument(final int offset, final int length)
    {
        if ((count + 1) * BYTES_OF_ARGUMENT > maxCommandBytes)
        {
            return fail(TOO_LONG + maxCommandBytes);
        }
        if (count == offsets.length)
        {
            final int larger = 2 * count;
            if (!budget.take(count * BYTES_OF_ARGUMENT))
            {
                return fail("command has more arguments than this node has memory for");
            }
            offsets = Arrays.copyOf(offsets, larger);
            lengths = Arrays.copyOf(lengths, larger);
        }
        offsets[count] = offset;
        lengths[count++] = length;
        return true;
    }

    private void afterLine(final int lineEnd)
    {
        parsed = lineEnd + 2 - begin;
        searched = parsed;
    }

    /** Where the line that begins after what is parsed ends; -1 when that has not arrived, or the line is too long. */
    private int findLineEnd(final String tooLong)
    {
        int at = begin + Math.max(parsed, searched);
        while (at < end && '\r' != buffer[at])
        {
            at++;
        }
        searched = at - begin;
        if (at == end && searched - parsed > MAX_LINE_BYTES)
        {
            fail(tooLong);
        }
        // The byte after it is a line feed, whatever it is: Redis does not look either.
        return at + 1 < end ? at : -1;
    }

    private long number(final int from, final int to)
    {
        return DecimalNumber.isNumber(buffer, from, to - from) ? DecimalNumber.parse(buffer, from, to - from) :
            NO_NUMBER;
    }

    private boolean fail(final String why)
    {
        if (null == error)
        {
            error = "Protocol error: " + why;
        }
        return false;
    }

    /** Gives its memory back. Idempotent. */
    public void close()
    {
        if (null != buffer)
        {
            budget.giveBack(buffer.length - INITIAL_BYTES);
            budget.giveBack((offsets.length - INITIAL_ARGUMENTS) * BYTES_OF_ARGUMENT);
            buffer = null;
        }
    }

    @Override
    public String toString()
    {
        return "RespDecoder{bufferedBytes=" + bufferedBytes() + ", count=" + count + ", missing=" + missing +
            ", error=" + error + '}';
    }
}
