package io.verbena.memory;

import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/** When checkpoints are made: what is lost with a host is at most what was written in one period. */
@Timeout(120)
class CheckpointerTest
{
    private static final long PERIOD_NS = TimeUnit.MINUTES.toNanos(10);
    private static final int CHUNKS = 4;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final long HEADERS = SuperblockDescriptor.SPACE_BYTES + (long)CHUNKS * CHUNK_BYTES;
    private static final long LENGTH = HEADERS + (long)CHUNKS * ChunkDescriptor.HEADER_BYTES;

    @TempDir
    private Path directory;
    private final Arena arena = Arena.ofShared();
    private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - PERIOD_NS / 2);
    private final AtomicLong nowMs = new AtomicLong(1);
    private MemorySegment region;
    private MemoryFolder folder;

    @BeforeEach
    void open()
    {
        region = arena.allocate(LENGTH, 4096);
        SuperblockDescriptor.writeBoth(
            region, new Superblock(3, 7, LENGTH, SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS, HEADERS));
        new ChunkTable(SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS,
            new ChunkHeaders(region, HEADERS, CHUNKS));
        folder = MemoryFolder.open(directory.resolve("node"), 0, LENGTH);
        folder.joined(3, 99, 7);
    }

    @AfterEach
    void close()
    {
        folder.close();
        arena.close();
    }

    private Checkpointer checkpointer(final long periodNs)
    {
        return new Checkpointer(folder, region, periodNs, nowNs::get, nowMs::incrementAndGet);
    }

    @Test
    void shouldMakeOneWheneverAPeriodIsOver()
    {
        final Checkpointer checkpointer = checkpointer(PERIOD_NS);
        nowNs.addAndGet(PERIOD_NS - 1);
        assertThat(checkpointer.poll()).as("before the first period is over").isFalse();
        nowNs.addAndGet(1);
        assertThat(checkpointer.poll()).as("when it is over").isTrue();
        assertThat(checkpointer.failure()).isEmpty();
        final long firstMs = checkpointer.finishedMs();
        assertThat(firstMs).isPositive();
        assertThat(folder.lastCheckpoint()).containsEntry("finished_ms", Long.toString(firstMs));
        nowNs.addAndGet(PERIOD_NS - 1);
        assertThat(checkpointer.poll()).as("before the second period is over").isFalse();
        nowNs.addAndGet(1);
        assertThat(checkpointer.poll()).as("when it is over").isTrue();
        assertThat(checkpointer.finishedMs()).isGreaterThan(firstMs);
    }

    @Test
    void shouldReportHowFarItIsWhileItIsMade()
    {
        final Checkpointer checkpointer = checkpointer(PERIOD_NS);
        assertThat(checkpointer.progress()).isEqualTo(new Checkpointer.Progress(0, 0, 0, 0));
        final List<Checkpointer.Progress> seen = new ArrayList<>();
        final long startedMs = nowMs.get() + 1;
        checkpointer.make((mapped) ->
        {
            seen.add(checkpointer.progress());
            return new MappedLoads(mapped);
        });
        assertThat(checkpointer.failure()).isEmpty();
        assertThat(seen).containsExactly(new Checkpointer.Progress(startedMs, 0, 0, 0));
        assertThat(checkpointer.progress()).isEqualTo(new Checkpointer.Progress(0, 0, 0, 0));
        checkpointer.make((mapped) ->
        {
            throw new IllegalStateException("planted");
        });
        assertThat(checkpointer.progress().startedMs()).as("after one that failed").isZero();
        assertThat(new Checkpointer.Progress(1, 3, 4, 0).fraction()).isEqualTo(0.75);
        assertThat(new Checkpointer.Progress(1, 5, 4, 0).fraction()).as("subtables were made meanwhile").isEqualTo(1);
        assertThat(new Checkpointer.Progress(1, 0, 0, 0).fraction()).isZero();
    }

    @Test
    void shouldMakeOneOnRequestAndCountThePeriodFromThere()
    {
        final Checkpointer checkpointer = checkpointer(PERIOD_NS);
        nowNs.addAndGet(PERIOD_NS / 2);
        MemoryFolder.requestCheckpoint(folder.path());
        assertThat(checkpointer.poll()).isTrue();
        nowNs.addAndGet(PERIOD_NS - 1);
        assertThat(checkpointer.poll()).isFalse();
        nowNs.addAndGet(1);
        assertThat(checkpointer.poll()).isTrue();
    }

    @Test
    void shouldMakeNoneByItselfWithoutAPeriod()
    {
        final Checkpointer checkpointer = checkpointer(0);
        nowNs.addAndGet(100 * PERIOD_NS);
        assertThat(checkpointer.poll()).isFalse();
        checkpointer.makeLast();
        assertThat(checkpointer.poll()).isTrue();
        assertThat(checkpointer.isLastDone()).isTrue();
    }

    /** The thread looks four times a second whether it is time. */
    @Test
    void shouldMakeThemOnItsThread()
    {
        try (Checkpointer checkpointer = checkpointer(PERIOD_NS))
        {
            checkpointer.start();
            nowNs.addAndGet(PERIOD_NS);
            final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (checkpointer.finishedMs() == 0 && System.nanoTime() < deadlineNs)
            {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
            assertThat(checkpointer.finishedMs()).isPositive();
        }
    }
}
