package io.verbena.table.allocation;

import com.sun.management.ThreadMXBean;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BlockAllocatorTest
{
    private static final int SMALL = SizeClasses.classFor(64);

    private final EpochTracker epochs = new EpochTracker(1);
    private final BlockAllocator allocator = new BlockAllocator(epochs, 1 << 20);

    private void epoch(final long epoch, final long safeEpoch)
    {
        epochs.onEpoch(epoch, safeEpoch);
        allocator.onEpoch();
    }

    private static long word(final long offset, final int sizeClass)
    {
        return SlotWord.committed(1, 0, 0, sizeClass, offset);
    }

    @Test
    void shouldHandOutNothingWhenNothingWasLeased()
    {
        assertThat(allocator.allocate(SMALL)).isEqualTo(BlockAllocator.NONE);
        assertThat(allocator.request()).isTrue();
        assertThat(allocator.request()).isFalse();
        allocator.chunkRefused();
        assertThat(allocator.request()).isTrue();
        assertThat(allocator.refusals()).isEqualTo(1);
    }

    @Test
    void shouldKeepRetiredBlockUntilThreeEpochsArePassed()
    {
        allocator.chunkLeased(4096, 64);
        final long block = allocator.allocate(SMALL);
        epoch(7, 5);
        allocator.retire(word(block, SMALL));
        assertThat(allocator.quarantinedBytes()).isEqualTo(64);
        epoch(11, 9);
        assertThat(allocator.allocate(SMALL)).isEqualTo(BlockAllocator.NONE);
        epoch(12, 10);
        assertThat(allocator.allocate(SMALL)).isEqualTo(block);
        assertThat(allocator.quarantinedBytes()).isZero();
    }

    @Test
    void shouldHandOutFreeBlocksInTheOrderTheyCameBack()
    {
        allocator.chunkLeased(4096, 64 * 3);
        final long first = allocator.allocate(SMALL);
        final long second = allocator.allocate(SMALL);
        allocator.free(second, SMALL);
        allocator.free(first, SMALL);
        allocator.allocate(SMALL);
        assertThat(allocator.allocate(SMALL)).isEqualTo(first);
    }

    @Test
    void shouldStopAtTheBoundOfTheQuarantine()
    {
        final BlockAllocator bounded = new BlockAllocator(epochs, 128);
        bounded.chunkLeased(4096, 1 << 16);
        for (int i = 0; i < 3; i++)
        {
            bounded.retire(word(bounded.allocate(SMALL), SMALL));
        }
        assertThat(bounded.allocate(SMALL)).isEqualTo(BlockAllocator.NONE);
        epochs.onEpoch(9, 8);
        bounded.onEpoch();
        assertThat(bounded.allocate(SMALL)).isNotEqualTo(BlockAllocator.NONE);
    }

    @Test
    void shouldNeverLoseOrOverlapBytesOverRandomUse()
    {
        final long seed = 11;
        final Random random = new Random(seed);
        final Deque<Long> held = new ArrayDeque<>();
        final Map<Long, Integer> taken = new HashMap<>();
        long nextChunk = 1 << 20;
        long heldBytes = 0;
        for (int i = 0; i < 20_000; i++)
        {
            final int sizeClass = random.nextInt(random.nextInt(10) == 0 ? SizeClasses.COUNT : 6);
            final long block = allocator.allocate(sizeClass);
            if (block == BlockAllocator.NONE)
            {
                allocator.chunkLeased(nextChunk, 256 * 1024);
                nextChunk += 256 * 1024;
            }
            else
            {
                final int length = SizeClasses.lengthBytes(sizeClass);
                for (int at = 0; at < length; at += 64)
                {
                    assertThat(taken.put(block + at, i)).as("seed %d, step %d", seed, i).isNull();
                }
                held.add(word(block, sizeClass));
                heldBytes += length;
            }
            if (held.size() > 100)
            {
                final long back = held.poll();
                final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(back));
                heldBytes -= length;
                for (int at = 0; at < length; at += 64)
                {
                    taken.remove(SlotWord.blockOffset(back) + at);
                }
                if (random.nextBoolean())
                {
                    allocator.retire(back);
                }
                else
                {
                    allocator.free(SlotWord.blockOffset(back), SlotWord.sizeClass(back));
                }
            }
            if (i % 50 == 0)
            {
                epoch(epochs.epoch() + 1, epochs.epoch());
            }
            assertThat(heldBytes + allocator.freeBytes() + allocator.quarantinedBytes() + allocator.uncutBytes())
                .isEqualTo(allocator.leasedBytes());
            if (i % 200 == 0)
            {
                assertThat(allocator.heldBytes()).as("seed %d, step %d", seed, i).isEqualTo(listedBytes(allocator));
            }
        }
    }

    @Test
    void shouldCountWhatItTookOverUntilAndAfterItMayBeUsed()
    {
        allocator.takeOver(1 << 20, (1 << 20) + 64_000);
        assertThat(allocator.heldBytes()).isEqualTo(64_000).isEqualTo(listedBytes(allocator));
        epoch(7, 5);
        assertThat(allocator.waitingRegionBytes()).isZero();
        assertThat(allocator.heldBytes()).isEqualTo(64_000).isEqualTo(listedBytes(allocator));
    }

    /** It is asked each second on the thread of the data path, with millions of blocks in quarantine. */
    @Test
    void shouldAllocateNothingWhenAskedHowMuchItHolds()
    {
        final BlockAllocator large = new BlockAllocator(epochs, 64 << 20);
        large.chunkLeased(1 << 20, 8 << 20);
        for (int i = 0; i < 100_000; i++)
        {
            large.retire(word(large.allocate(SMALL), SMALL));
        }
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && least > 0; attempt++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            final long overhead = threads.getCurrentThreadAllocatedBytes() - before;
            final long start = threads.getCurrentThreadAllocatedBytes();
            final long heldBytes = large.heldBytes();
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - start - overhead);
            assertThat(heldBytes).isEqualTo(8 << 20);
        }
        assertThat(least).as("bytes allocated").isZero();
    }

    private static long listedBytes(final BlockAllocator allocator)
    {
        final long[] bytes = {0};
        allocator.forEachHeld((kind, offset, length) -> bytes[0] += length);
        return bytes[0];
    }

    @Test
    void shouldKeepWhatIsLeftOfAChunkForSmallerBlocks()
    {
        allocator.chunkLeased(4096, 100_000 / 64 * 64);
        final int large = SizeClasses.COUNT - 1;
        assertThat(allocator.allocate(large)).isNotEqualTo(BlockAllocator.NONE);
        assertThat(allocator.allocate(large)).isEqualTo(BlockAllocator.NONE);
        assertThat(allocator.allocate(SMALL)).isNotEqualTo(BlockAllocator.NONE);
        assertThat(allocator.isTooLarge(large)).isFalse();
    }
}
