package io.verbena.elle.history;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    private final HistoryFile file;
    private final List<RecordingLane> lanes = new ArrayList<>();
    private int functions;
    private boolean isClosed;

    private HistoryRecorder(final HistoryFile file)
    {
        this.file = file;
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
        return new HistoryRecorder(HistoryFile.create(file));
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
        final ByteBuffer block = HistoryFile.newBlock(BLOCK_HEADER_LENGTH + bytes.length);
        block.put(BLOCK_HEADER_LENGTH, bytes);
        file.writeBlock(block, bytes.length, KIND_FUNCTION, 0, 0, functions, new CRC32C());
        return functions++;
    }

    /**
     * Makes a lane for one thread.
     *
     * @return the lane; it is flushed by {@link #close()}.
     */
    public synchronized RecordingLane newLane()
    {
        final RecordingLane lane = new RecordingLane(file, lanes.size());
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
        try (file)
        {
            long events = 0;
            for (final RecordingLane lane : lanes)
            {
                lane.flush();
                events += lane.eventCount();
            }
            final ByteBuffer block = HistoryFile.newBlock(BLOCK_HEADER_LENGTH + Long.BYTES);
            block.putLong(BLOCK_HEADER_LENGTH, events);
            file.writeBlock(block, Long.BYTES, KIND_END, 0, lanes.size(), 0, new CRC32C());
        }
    }
}
