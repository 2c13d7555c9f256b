package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;

import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Memory that outlives its device: what is there again, for whom, and who is cut off before. As on {@code soft}. */
class SimNamedMemoryTest
{
    private static final String NAME = "named";
    private static final int BYTES = 4096;
    private static final int SEEDS = 100;

    private static MemoryRegion allocate(final SimPair.Side side)
    {
        return side.domain.allocateNamed(NAME, BYTES, AccessFlags.ALL_REMOTE);
    }

    private static long word(final MemoryRegion region)
    {
        return region.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    private static void write(final SimPair pair, final QueuePair from, final int value, final MemoryRegion target)
    {
        pair.a.word(value * 8L, value);
        SimPair.post(from, () -> from.write(
            value, SendFlags.SIGNALED, pair.a.at(value * 8L), 8, pair.a.key(), target.address(), target.remoteKey()));
    }

    @Test
    void shouldFindTheBytesOfAnEarlierRegistration()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            try (MemoryRegion region = allocate(pair.b))
            {
                assertThat(word(region)).isZero();
                region.segment().set(ValueLayout.JAVA_LONG, 0, 42);
                assertThatThrownBy(() -> allocate(pair.b)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("is held");
                assertThatThrownBy(() -> allocate(pair.a)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("is held by another process that lives");
                assertThatThrownBy(() -> pair.fabric.discardNamed(NAME)).isInstanceOf(RdmaException.class);
            }
            try (MemoryRegion region = allocate(pair.a))
            {
                assertThat(word(region)).isEqualTo(42);
            }
            assertThatThrownBy(() -> pair.a.domain.allocateNamed(NAME, 2 * BYTES, AccessFlags.ALL_REMOTE))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("with " + BYTES + " bytes, asked for are " + 2 * BYTES);
            assertThat(pair.fabric.hasNamed(NAME)).isTrue();
            assertThat(pair.fabric.discardNamed(NAME)).isTrue();
            assertThat(pair.fabric.hasNamed(NAME)).isFalse();
            assertThat(pair.fabric.discardNamed(NAME)).isFalse();
            try (MemoryRegion region = allocate(pair.b))
            {
                assertThat(word(region)).isZero();
            }
            assertThatThrownBy(() -> pair.b.domain.allocateNamed("../x", BYTES, AccessFlags.ALL_REMOTE))
                .isInstanceOf(RdmaException.class).hasMessageContaining("not a name");
        }
    }

    @Test
    void shouldStillBeHeldByADeviceThatIsPaused()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            allocate(pair.b);
            pair.b.device.pause();
            assertThatThrownBy(() -> allocate(pair.a)).isInstanceOf(RdmaException.class)
                .hasMessageContaining("that lives");
        }
    }

    /** A key of one's own to named memory outlives its device for a while too, and ends with a new holder. */
    @Test
    void shouldCutOffEachKeyToTheMemory()
    {
        final Set<String> seen = new HashSet<>();
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            try (SimPair pair = new SimPair(seed, new SimFabricOptions().namedMemoryAfterDeathNs(6_000)))
            {
                final QueuePair from = pair.connected(QueuePairType.RC)[0];
                final MemoryRegion before = allocate(pair.b);
                final MemoryRegion again = pair.b.domain.register(before.segment(), AccessFlags.ALL_REMOTE);
                final MemoryRegion closed = pair.b.domain.register(before.segment(), AccessFlags.ALL_REMOTE);
                closed.close();
                pair.b.device.kill();
                write(pair, from, 1, again);
                if (seed % 2 == 0)
                {
                    pair.drain();
                }
                final MemoryRegion after = allocate(new SimPair.Side(pair.fabric, "successor"));
                final long atTakeover = word(after);
                pair.drain();
                seen.add(pair.a.statuses() + " " + atTakeover);
                assertThat(word(after)).as("seed %s", seed).isEqualTo(atTakeover);
            }
        }
        assertThat(seen).containsExactlyInAnyOrder("[1 success] 1", "[1 transport retry counter exceeded] 0");
    }

    /** As with shared memory: what was acknowledged behind the death is there, and may be refused at any moment. */
    @Test
    void shouldHoldWhatWasAcknowledgedAfterTheDeath()
    {
        final Set<String> seen = new HashSet<>();
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            try (SimPair pair = new SimPair(seed, new SimFabricOptions().namedMemoryAfterDeathNs(6_000)))
            {
                final QueuePair from = pair.connected(QueuePairType.RC)[0];
                final MemoryRegion before = allocate(pair.b);
                pair.b.device.kill();
                write(pair, from, 1, before);
                pair.drain();
                final List<String> statuses = pair.a.statuses();
                final MemoryRegion after = allocate(new SimPair.Side(pair.fabric, "successor"));
                seen.add(statuses + " " + word(after));
                assertThat(after.address()).isNotEqualTo(before.address());
            }
        }
        assertThat(seen).containsExactlyInAnyOrder("[1 success] 1", "[1 transport retry counter exceeded] 0");
    }

    @Test
    void shouldLetNothingLandOnceASuccessorHasIt()
    {
        final Set<Boolean> landedBefore = new HashSet<>();
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            final long[] words = wordsAroundTakeover(seed, new SimFabricOptions());
            landedBefore.add(words[0] != 0);
            assertThat(words[1]).as("seed %d", seed).isEqualTo(words[0]);
        }
        assertThat(landedBefore).as("both orders were tried").containsExactlyInAnyOrder(true, false);
    }

    /** The bad twin: without the cut the late request is seen. */
    @Test
    void shouldShowTheLateRequestWhenNobodyIsCutOff()
    {
        boolean isSeen = false;
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            final long[] words = wordsAroundTakeover(seed, new SimFabricOptions().namedMemoryCutsOff(false));
            isSeen |= words[0] != words[1];
        }
        assertThat(isSeen).isTrue();
    }

    private static long[] wordsAroundTakeover(final long seed, final SimFabricOptions options)
    {
        try (SimPair pair = new SimPair(seed, options.namedMemoryAfterDeathNs(1_000_000)))
        {
            final QueuePair from = pair.connected(QueuePairType.RC)[0];
            final MemoryRegion before = allocate(pair.b);
            write(pair, from, 1, before);
            pair.b.device.kill();
            pair.fabric.advanceTo(pair.fabric.clock().nanoTime() + seed * 3_000 / SEEDS);
            final MemoryRegion after = allocate(new SimPair.Side(pair.fabric, "successor"));
            final long atTakeover = word(after);
            pair.drain();
            return new long[]{ atTakeover, word(after) };
        }
    }

    /** A message needs a process; and in order, nothing executes behind it. */
    @Test
    void shouldServeNothingBehindARequestThatNeedsTheDeadProcess()
    {
        try (SimPair pair = new SimPair(1, SimFabricOptions.calm().namedMemoryAfterDeathNs(1_000_000_000)))
        {
            final QueuePair from = pair.connected(QueuePairType.RC)[0];
            final MemoryRegion before = allocate(pair.b);
            pair.b.device.kill();
            SimPair.post(from, () -> from.send(1, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key()));
            write(pair, from, 2, before);
            pair.drain();
            assertThat(word(before)).isZero();
            assertThat(pair.a.statuses()).first().isEqualTo("1 transport retry counter exceeded");
        }
    }
}
