package io.verbena.elle.history;

import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.zip.CRC32C;

import static io.verbena.elle.history.HistoryFileDescriptor.*;

/**
 * Reads what a {@link HistoryRecorder} wrote and merges its lanes by time.
 *
 * <p>Where times of several lanes are equal, calls come before completions: two operations that may have overlapped
 * then do overlap, which can hide a violation of one nanosecond but never make one up.
 */
final class RecordingReader
{
    private final String source;
    private final ByteBuffer block = ByteBuffer.allocate(MAX_BLOCK_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    private final CRC32C checksum = new CRC32C();
    private final Map<Integer, String> functions = new HashMap<>();
    private final Map<Integer, Lane> lanes = new TreeMap<>();
    private final Map<Integer, Integer> processes = new HashMap<>();
    private final LongBoxes numbers = new LongBoxes();
    private long offset = FILE_HEADER_LENGTH;
    private long expectedEvents = -1;
    private int expectedLanes;
    private long events;

    private RecordingReader(final String source)
    {
        this.source = source;
    }

    static boolean isRecording(final FileChannel channel) throws IOException
    {
        final ByteBuffer start = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return channel.read(start, 0) == Long.BYTES && start.getLong(0) == MAGIC;
    }

    static boolean isRecording(final byte[] content)
    {
        return content.length >= Long.BYTES &&
            ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getLong(0) == MAGIC;
    }

    static History read(final Path file, final FileChannel channel) throws IOException
    {
        return new RecordingReader(file.toString()).read(channel);
    }

    private History read(final FileChannel channel) throws IOException
    {
        fill(channel, 0, FILE_HEADER_LENGTH);
        final int version = block.getInt(VERSION_OFFSET);
        if (version != VERSION)
        {
            throw broken("is of format version " + version + ", this reader knows " + VERSION);
        }
        while (offset < channel.size())
        {
            readBlock(channel);
        }
        if (expectedEvents < 0)
        {
            throw broken("has no end: the recorder was not closed");
        }
        if (expectedEvents != events || expectedLanes < lanes.size())
        {
            throw broken("should hold " + expectedEvents + " events of " + expectedLanes + " lanes but holds " +
                events + " of " + lanes.size());
        }
        return merge();
    }

    private void readBlock(final FileChannel channel) throws IOException
    {
        fill(channel, offset, BLOCK_HEADER_LENGTH);
        final int payloadBytes = block.getInt(BLOCK_PAYLOAD_BYTES_OFFSET);
        final int length = BLOCK_HEADER_LENGTH + payloadBytes;
        if (block.getInt(BLOCK_MAGIC_OFFSET) != BLOCK_MAGIC || payloadBytes < 0 || length > MAX_BLOCK_LENGTH)
        {
            throw broken("has no block at offset " + offset);
        }
        fill(channel, offset, length);
        if (HistoryFile.checksumOf(block, length, checksum) != block.getInt(BLOCK_CHECKSUM_OFFSET))
        {
            throw broken("has a block with a wrong checksum at offset " + offset);
        }
        block.position(BLOCK_HEADER_LENGTH).limit(length);
        try
        {
            readPayload(payloadBytes);
        }
        catch (final IndexOutOfBoundsException | BufferUnderflowException ex)
        {
            throw broken("has a block whose events do not fill it at offset " + offset);
        }
        offset += length;
    }

    private void readPayload(final int payloadBytes)
    {
        switch (block.getInt(BLOCK_KIND_OFFSET))
        {
            case KIND_EVENTS -> readEvents();
            case KIND_FUNCTION -> functions.put(block.getInt(BLOCK_SEQUENCE_OFFSET), text(payloadBytes));
            case KIND_END ->
            {
                expectedEvents = block.getLong();
                expectedLanes = block.getInt(BLOCK_LANE_OFFSET);
            }
            default -> throw broken("has a block of unknown kind " + block.getInt(BLOCK_KIND_OFFSET) +
                " at offset " + offset);
        }
    }

    private void readEvents()
    {
        // Threads write their blocks at the same time, so those of a lane may stand in any order.
        final Lane lane = lanes.computeIfAbsent(block.getInt(BLOCK_LANE_OFFSET), key -> new Lane());
        final int count = block.getInt(BLOCK_COUNT_OFFSET);
        final List<Event> read = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            read.add(event());
        }
        if (block.hasRemaining())
        {
            throw broken("has a block whose events do not fill it at offset " + offset);
        }
        if (lane.blocks.put(block.getInt(BLOCK_SEQUENCE_OFFSET), read) != null)
        {
            throw broken("has two blocks of the same number at offset " + offset);
        }
        events += count;
    }

    private Event event()
    {
        final EventType type = EventType.values()[block.get()];
        final int function = block.get() & 0xFF;
        final int process = block.getInt();
        final long timeNs = block.getLong();
        final Object key = value();
        final Object value = value();
        final String f = functions.get(function);
        if (f == null)
        {
            throw broken("has an event of function " + function + ", which has no name");
        }
        return new Event(processes.computeIfAbsent(process, p -> p), type, f, key, value, timeNs, -1, 0);
    }

    private Object value()
    {
        final byte tag = block.get();
        return switch (tag)
        {
            case VALUE_NIL -> null;
            case VALUE_FALSE -> false;
            case VALUE_TRUE -> true;
            case VALUE_LONG -> numbers.box(block.getLong());
            case VALUE_DOUBLE -> Double.longBitsToDouble(block.getLong());
            case VALUE_STRING -> text(block.getShort() & MAX_COUNT);
            case VALUE_KEYWORD -> new Keyword(text(block.getShort() & MAX_COUNT));
            case VALUE_LIST ->
            {
                final Object[] values = new Object[block.getShort() & MAX_COUNT];
                for (int i = 0; i < values.length; i++)
                {
                    values[i] = value();
                }
                yield new ValueList(values);
            }
            default -> throw broken("has a value of unknown kind " + tag + " in the block at offset " + offset);
        };
    }

    private String text(final int bytes)
    {
        final String text = new String(block.array(), block.position(), bytes, StandardCharsets.UTF_8);
        block.position(block.position() + bytes);
        return text;
    }

    private History merge()
    {
        final PriorityQueue<Lane> queue = new PriorityQueue<>(
            Comparator.comparingLong(Lane::timeNs).thenComparing(Lane::isCompletion));
        for (final Lane lane : lanes.values())
        {
            lane.open();
            queue.add(lane);
        }
        final HistoryBuilder builder = new HistoryBuilder(source);
        while (!queue.isEmpty())
        {
            final Lane lane = queue.remove();
            builder.add(lane.next());
            if (lane.hasNext())
            {
                queue.add(lane);
            }
        }
        return builder.build();
    }

    private void fill(final FileChannel channel, final long from, final int length) throws IOException
    {
        block.clear().limit(length);
        while (block.hasRemaining())
        {
            if (channel.read(block, from + block.position()) < 0)
            {
                throw new EOFException(source + " ends within the block at offset " + from);
            }
        }
        block.flip();
    }

    private HistoryException broken(final String what)
    {
        return new HistoryException(source, 0, what);
    }

    /** The events of one recording thread. */
    private static final class Lane
    {
        private final TreeMap<Integer, List<Event>> blocks = new TreeMap<>();
        private final List<Event> all = new ArrayList<>();
        private int next;

        void open()
        {
            blocks.values().forEach(all::addAll);
            blocks.clear();
        }

        boolean hasNext()
        {
            return next < all.size();
        }

        Event next()
        {
            return all.get(next++);
        }

        long timeNs()
        {
            return all.get(next).timeNs();
        }

        boolean isCompletion()
        {
            return all.get(next).type() != EventType.INVOKE;
        }
    }
}
