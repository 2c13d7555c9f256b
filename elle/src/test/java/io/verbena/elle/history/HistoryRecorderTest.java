package io.verbena.elle.history;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class HistoryRecorderTest
{
    @TempDir
    private Path folder;
    private Path file;

    @BeforeEach
    void setUp()
    {
        file = folder.resolve("run.history");
    }

    @Test
    void shouldReadBackWhatWasRecorded() throws IOException
    {
        final List<Object> list = Arrays.asList(1L, null, "é", new Keyword("r"), 2.5, true, List.of(3L, 4L));
        try (HistoryRecorder recorder = HistoryRecorder.create(file))
        {
            final int put = recorder.function("put");
            final int get = recorder.function("get");
            final RecordingLane lane = recorder.newLane();
            lane.event(EventType.INVOKE, 10, 0, put).number(7).number(-1);
            lane.event(EventType.INVOKE, 11, 1, get).number(7).nil();
            lane.event(EventType.OK, 12, 0, put).number(7).truth(false);
            lane.event(EventType.OK, 13, 1, get).nil().pair(-1, 5);
            lane.event(EventType.INVOKE, 14, 0, put).value("key").value(list);
            lane.event(EventType.INFO, 15, 0, put).nil().nil();
        }

        final History history = HistoryReader.read(file);

        assertThat(history.operations()).extracting(Operation::toString).containsExactly(
            "process 0: put 7 -1 -> false",
            "process 1: get 7 -> [-1 5]",
            "process 0: put \"key\" [1 nil \"é\" :r 2.5 true [3 4]] -> unknown");
        assertThat(history.operations().getFirst().callTimeNs()).isEqualTo(10);
        assertThat(history.operations().getFirst().endTimeNs()).isEqualTo(12);
    }

    @Test
    void shouldMergeLanesByTimeWithCallsFirst() throws IOException
    {
        try (HistoryRecorder recorder = HistoryRecorder.create(file))
        {
            final int read = recorder.function("read");
            final RecordingLane a = recorder.newLane();
            final RecordingLane b = recorder.newLane();
            b.event(EventType.INVOKE, 5, 1, read).nil().nil();
            a.event(EventType.INVOKE, 3, 0, read).nil().nil();
            a.event(EventType.OK, 5, 0, read).nil().number(1);
            b.event(EventType.OK, 9, 1, read).nil().number(2);
        }

        final List<Operation> operations = HistoryReader.read(file).operations();

        assertThat(operations).extracting(Operation::process).containsExactly(0, 1);
        assertThat(operations.getFirst().precedes(operations.getLast())).isFalse();
    }

    @Test
    void shouldKeepAllEventsOfManyThreads() throws Exception
    {
        final int threads = 4;
        final int operations = 20_000;
        final AtomicLong clock = new AtomicLong();
        try (HistoryRecorder recorder = HistoryRecorder.create(file))
        {
            final int add = recorder.function("add");
            final Thread[] running = new Thread[threads];
            for (int t = 0; t < threads; t++)
            {
                final int process = t;
                final RecordingLane lane = recorder.newLane();
                running[t] = Thread.ofPlatform().start(() ->
                {
                    for (int i = 0; i < operations; i++)
                    {
                        lane.event(EventType.INVOKE, clock.incrementAndGet(), process, add).nil().number(i);
                        lane.event(EventType.OK, clock.incrementAndGet(), process, add).nil().nil();
                    }
                });
            }
            for (final Thread thread : running)
            {
                thread.join();
            }
        }

        final History history = HistoryReader.read(file);

        assertThat(history.operations()).hasSize(threads * operations);
        for (int t = 0; t < threads; t++)
        {
            final int process = t;
            assertThat(history.operations().stream().filter(o -> o.process() == process).map(Operation::input))
                .hasSize(operations).isSortedAccordingTo((x, y) -> Long.compare((Long)x, (Long)y));
        }
        assertThat(history.operations().stream().mapToLong(Operation::callTimeNs)).isSorted();
    }

    @Test
    void shouldAllocateNothingWhileRecording() throws IOException
    {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        try (HistoryRecorder recorder = HistoryRecorder.create(file))
        {
            final int put = recorder.function("put");
            final RecordingLane lane = recorder.newLane();
            record(lane, put, 0, 200_000);
            final long before = threads.getCurrentThreadAllocatedBytes();
            record(lane, put, 200_000, 400_000);
            final long allocated = threads.getCurrentThreadAllocatedBytes() - before;

            // Some 250 blocks were written; the JDK's channel takes a few bytes each time, an event none.
            assertThat(allocated).isLessThan(100_000);
        }
    }

    private static void record(final RecordingLane lane, final int function, final int from, final int to)
    {
        for (int i = from; i < to; i++)
        {
            lane.event(EventType.INVOKE, 2L * i, 0, function).number(i).number(i);
            lane.event(EventType.OK, 2L * i + 1, 0, function).nil().pair(i, i);
        }
    }

    @Test
    void shouldRefuseEachDamagedByteAndEachLostEnd() throws IOException
    {
        try (HistoryRecorder recorder = HistoryRecorder.create(file))
        {
            final int put = recorder.function("put");
            final RecordingLane lane = recorder.newLane();
            lane.event(EventType.INVOKE, 1, 0, put).number(1).number(1);
            lane.event(EventType.OK, 2, 0, put).nil().nil();
        }
        final byte[] whole = Files.readAllBytes(file);
        // The magic tells a recording from a text, and reserved bytes mean nothing.
        for (int i = HistoryFileDescriptor.VERSION_OFFSET; i < whole.length; i++)
        {
            if (isReserved(whole, i))
            {
                continue;
            }
            final byte[] damaged = whole.clone();
            damaged[i] ^= 0x10;
            Files.write(file, damaged);
            assertThatThrownBy(() -> HistoryReader.read(file)).as("byte %d", i).isInstanceOfAny(
                HistoryException.class, IOException.class).hasMessageContaining("run.history");
        }
        for (int length = HistoryFileDescriptor.FILE_HEADER_LENGTH; length < whole.length; length++)
        {
            Files.write(file, Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> HistoryReader.read(file)).as("length %d", length).isInstanceOfAny(
                HistoryException.class, IOException.class).hasMessageContaining("run.history");
        }
    }

    private static boolean isReserved(final byte[] file, final int i)
    {
        int start = HistoryFileDescriptor.FILE_RESERVED_OFFSET;
        if (i >= start && i < start + Integer.BYTES)
        {
            return true;
        }
        int block = HistoryFileDescriptor.FILE_HEADER_LENGTH;
        while (block < file.length)
        {
            start = block + HistoryFileDescriptor.BLOCK_RESERVED_OFFSET;
            if (i >= start && i < start + Integer.BYTES)
            {
                return true;
            }
            block += HistoryFileDescriptor.BLOCK_HEADER_LENGTH +
                file[block + HistoryFileDescriptor.BLOCK_PAYLOAD_BYTES_OFFSET];
        }
        return false;
    }

    @Test
    void shouldRefuseMisuse() throws IOException
    {
        try (HistoryRecorder recorder = HistoryRecorder.create(file))
        {
            final int put = recorder.function("put");
            final RecordingLane lane = recorder.newLane();
            lane.event(EventType.INVOKE, 5, 0, put).nil();
            assertThatThrownBy(() -> lane.event(EventType.OK, 6, 0, put)).isInstanceOf(IllegalStateException.class);
            lane.nil();
            assertThatThrownBy(lane::nil).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldNameVersionItDoesNotKnow() throws IOException
    {
        HistoryRecorder.create(file).close();
        final byte[] bytes = Files.readAllBytes(file);
        bytes[HistoryFileDescriptor.VERSION_OFFSET] = 9;
        Files.write(file, bytes);

        assertThatThrownBy(() -> HistoryReader.read(file)).hasMessageContaining("format version 9");
    }
}
