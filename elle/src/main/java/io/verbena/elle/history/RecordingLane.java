package io.verbena.elle.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32C;

import static io.verbena.elle.history.HistoryFileDescriptor.*;

/**
 * Records the events of one thread. Not thread-safe; allocates nothing but for strings, keywords and lists given as
 * objects.
 *
 * <p>An event is begun by {@link #event}, then its key and its value follow, one call each:
 * <pre>
 *   lane.event(EventType.INVOKE, clock.nanoTime(), process, put).number(key).number(value);
 *   lane.event(EventType.OK, clock.nanoTime(), process, put).nil().nil();
 * </pre>
 * Take the time of a call before calling and that of a completion after the answer came: a recorded operation may last
 * longer than the real one, never shorter. All events of a process go to one lane, or their times differ.
 */
public final class RecordingLane
{
    private static final int VALUES_PER_EVENT = 2;

    private final HistoryFile file;
    private final int number;
    private final ByteBuffer buffer = HistoryFile.newBlock(MAX_BLOCK_LENGTH);
    private final CRC32C checksum = new CRC32C();
    private int position = BLOCK_HEADER_LENGTH;
    private int eventStart = BLOCK_HEADER_LENGTH;
    private int valuesMissing;
    private int eventsInBlock;
    private int sequence;
    private long eventCount;
    private long lastTimeNs = Long.MIN_VALUE;

    RecordingLane(final HistoryFile file, final int number)
    {
        this.file = file;
        this.number = number;
    }

    /**
     * Begins an event.
     *
     * @param type     call or kind of completion.
     * @param timeNs   from the clock that all lanes share; not before the last event of this lane.
     * @param process  the client, from 0.
     * @param function number that the recorder gave.
     * @return this, to be given the key and the value.
     * @throws IllegalStateException if the last event lacks its key or value, or time ran backwards.
     */
    public RecordingLane event(final EventType type, final long timeNs, final int process, final int function)
    {
        if (valuesMissing != 0 || timeNs < lastTimeNs)
        {
            throw new IllegalStateException("event cannot begin: valuesMissing=" + valuesMissing + " timeNs=" +
                timeNs + " lastTimeNs=" + lastTimeNs);
        }
        lastTimeNs = timeNs;
        eventStart = position;
        makeRoom(EVENT_VALUES_OFFSET);
        buffer.put(position + EVENT_TYPE_OFFSET, (byte)type.ordinal());
        buffer.put(position + EVENT_FUNCTION_OFFSET, (byte)function);
        buffer.putInt(position + EVENT_PROCESS_OFFSET, process);
        buffer.putLong(position + EVENT_TIME_OFFSET, timeNs);
        position += EVENT_VALUES_OFFSET;
        valuesMissing = VALUES_PER_EVENT;
        eventsInBlock++;
        eventCount++;
        return this;
    }

    /**
     * No key, or no value.
     *
     * @return this.
     */
    public RecordingLane nil()
    {
        putTag(VALUE_NIL);
        return ended();
    }

    /**
     * A truth value.
     *
     * @param value as key or value of the event.
     * @return this.
     */
    public RecordingLane truth(final boolean value)
    {
        putTag(value ? VALUE_TRUE : VALUE_FALSE);
        return ended();
    }

    /**
     * A whole number.
     *
     * @param value as key or value of the event.
     * @return this.
     */
    public RecordingLane number(final long value)
    {
        putLong(VALUE_LONG, value);
        return ended();
    }

    /**
     * A list of two numbers, such as a value and its version.
     *
     * @param first  element.
     * @param second element.
     * @return this.
     */
    public RecordingLane pair(final long first, final long second)
    {
        putTag(VALUE_LIST);
        putShort(2);
        putLong(VALUE_LONG, first);
        putLong(VALUE_LONG, second);
        return ended();
    }

    /**
     * Any value.
     *
     * @param value null, a Boolean, Long, Double, String, {@link Keyword} or List of these.
     * @return this.
     * @throws IllegalArgumentException if it is of another type or longer than a block.
     */
    public RecordingLane value(final Object value)
    {
        put(value);
        return ended();
    }

    long eventCount()
    {
        return eventCount;
    }

    void flush() throws IOException
    {
        eventStart = position;
        if (eventsInBlock > 0)
        {
            flushBlock(eventsInBlock);
        }
    }

    private void put(final Object value)
    {
        switch (value)
        {
            case null -> putTag(VALUE_NIL);
            case Boolean truth -> putTag(truth ? VALUE_TRUE : VALUE_FALSE);
            case Long number -> putLong(VALUE_LONG, number);
            case Double number -> putLong(VALUE_DOUBLE, Double.doubleToLongBits(number));
            case String string -> putText(VALUE_STRING, string);
            case Keyword keyword -> putText(VALUE_KEYWORD, keyword.name());
            case List<?> list ->
            {
                putTag(VALUE_LIST);
                putShort(list.size());
                list.forEach(this::put);
            }
            default -> throw new IllegalArgumentException("cannot record a " + value.getClass().getName());
        }
    }

    private RecordingLane ended()
    {
        if (--valuesMissing < 0)
        {
            throw new IllegalStateException("an event has one key and one value");
        }
        return this;
    }

    private void putTag(final byte tag)
    {
        makeRoom(Byte.BYTES);
        buffer.put(position, tag);
        position += Byte.BYTES;
    }

    private void putLong(final byte tag, final long value)
    {
        putTag(tag);
        makeRoom(Long.BYTES);
        buffer.putLong(position, value);
        position += Long.BYTES;
    }

    private void putText(final byte tag, final String text)
    {
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        putTag(tag);
        putShort(bytes.length);
        makeRoom(bytes.length);
        buffer.put(position, bytes);
        position += bytes.length;
    }

    private void putShort(final int value)
    {
        if (value > MAX_COUNT)
        {
            throw new IllegalArgumentException("a recorded list or text may have up to " + MAX_COUNT +
                " elements or bytes, not " + value);
        }
        makeRoom(Short.BYTES);
        buffer.putShort(position, (short)value);
        position += Short.BYTES;
    }

    /** If the block is full, writes its whole events and moves the begun one to the front. */
    private void makeRoom(final int bytes)
    {
        if (position + bytes <= MAX_BLOCK_LENGTH)
        {
            return;
        }
        final int begun = position - eventStart;
        if (BLOCK_HEADER_LENGTH + begun + bytes > MAX_BLOCK_LENGTH)
        {
            throw new IllegalArgumentException("an event of more than " + MAX_BLOCK_LENGTH + " bytes");
        }
        try
        {
            flushBlock(valuesMissing == 0 ? eventsInBlock : eventsInBlock - 1);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("recording failed", ex);
        }
    }

    private void flushBlock(final int wholeEvents) throws IOException
    {
        final int begun = position - eventStart;
        file.writeBlock(buffer, eventStart - BLOCK_HEADER_LENGTH, KIND_EVENTS, wholeEvents, number, sequence++,
            checksum);
        for (int i = 0; i < begun; i++)
        {
            buffer.put(BLOCK_HEADER_LENGTH + i, buffer.get(eventStart + i));
        }
        eventStart = BLOCK_HEADER_LENGTH;
        position = BLOCK_HEADER_LENGTH + begun;
        eventsInBlock -= wholeEvents;
    }
}
