package io.verbena.elle.history;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;

import static io.verbena.elle.history.HistoryFileDescriptor.*;

/**
 * Records a run of many threads to a file without disturbing it: each thread writes to a {@link RecordingLane} of its
 * own, which allocates nothing and takes no lock, and puts 64 KiB at a time into the file.
 *
 * <p>Functions and lanes are made before the run, by any thread. {@link HistoryReader} merges the lanes by time, so all
 * threads must take times from one clock.
 */
public final class HistoryRecorder implements Closeable
{
    private final FileChannel channel;
    private final AtomicLong fileLength = new AtomicLong(FILE_HEADER_LENGTH);
    private final List<RecordingLane> lanes = new ArrayList<>();
    private int functions;
    private boolean isClosed;

    private HistoryRecorder(final FileChannel channel)
    {
        this.channel = channel;
    }

    /**
     * Starts a recording.
     *
     * @param file to be made, or replaced if it exists.
     * @return the recorder; the caller closes it after the last event.
     * @throws IOException if the file cannot be written.
     */
    public static HistoryRecorder create(final Path file) throws IOException
    {
        final FileChannel channel = FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
        final ByteBuffer header = ByteBuffer.allocate(FILE_HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(MAGIC_OFFSET, MAGIC).putInt(VERSION_OFFSET, VERSION);
        channel.write(header, 0);
        return new HistoryRecorder(channel);
    }

    /**
     * Gives a function a number, by which events name it.
     *
     * @param name such as {@code put}.
     * @return its number.
     * @throws IOException           if the file cannot be written.
     * @throws IllegalStateException if there are 255 functions already.
     */
    public synchronized int function(final String name) throws IOException
    {
        if (functions == MAX_FUNCTIONS)
        {
            throw new IllegalStateException("a recording has at most " + MAX_FUNCTIONS + " functions");
        }
        final byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        final ByteBuffer block = newBlock(BLOCK_HEADER_LENGTH + bytes.length);
        block.put(BLOCK_HEADER_LENGTH, bytes);
        writeBlock(block, bytes.length, KIND_FUNCTION, 0, 0, functions, new CRC32C());
        return functions++;
    }

    /**
     * Makes a lane for one thread.
     *
     * @return the lane; it is flushed by {@link #close()}.
     */
    public synchronized RecordingLane newLane()
    {
        final RecordingLane lane = new RecordingLane(this, lanes.size());
        lanes.add(lane);
        return lane;
    }

    /**
     * Writes what the lanes still hold and marks the recording as whole. No thread may be recording any more, and what
     * the threads did must be visible here, as it is after they were joined.
     *
     * @throws IOException if the file cannot be written.
     */
    @Override
    public synchronized void close() throws IOException
    {
        if (isClosed)
        {
            return;
        }
        isClosed = true;
        try (channel)
        {
            long events = 0;
            for (final RecordingLane lane : lanes)
            {
                lane.flush();
                events += lane.eventCount();
            }
            final ByteBuffer block = newBlock(BLOCK_HEADER_LENGTH + Long.BYTES);
            block.putLong(BLOCK_HEADER_LENGTH, events);
            writeBlock(block, Long.BYTES, KIND_END, 0, lanes.size(), 0, new CRC32C());
        }
    }

    static ByteBuffer newBlock(final int length)
    {
        return ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Fills the header in, and writes the block where no other thread writes. */
    void writeBlock(
        final ByteBuffer block,
        final int payloadBytes,
        final int kind,
        final int count,
        final int lane,
        final int sequence,
        final CRC32C checksum) throws IOException
    {
        block.putInt(BLOCK_MAGIC_OFFSET, BLOCK_MAGIC);
        block.putInt(BLOCK_KIND_OFFSET, kind);
        block.putInt(BLOCK_PAYLOAD_BYTES_OFFSET, payloadBytes);
        block.putInt(BLOCK_COUNT_OFFSET, count);
        block.putInt(BLOCK_LANE_OFFSET, lane);
        block.putInt(BLOCK_SEQUENCE_OFFSET, sequence);
        block.putInt(BLOCK_RESERVED_OFFSET, 0);
        final int length = BLOCK_HEADER_LENGTH + payloadBytes;
        block.putInt(BLOCK_CHECKSUM_OFFSET, checksumOf(block, length, checksum));
        block.position(0).limit(length);
        long position = fileLength.getAndAdd(length);
        while (block.hasRemaining())
        {
            position += channel.write(block, position);
        }
        block.clear();
    }

    static int checksumOf(final ByteBuffer block, final int length, final CRC32C checksum)
    {
        checksum.reset();
        block.position(0).limit(BLOCK_CHECKSUM_OFFSET);
        checksum.update(block);
        block.limit(length).position(BLOCK_HEADER_LENGTH);
        checksum.update(block);
        return (int)checksum.getValue();
    }
}
