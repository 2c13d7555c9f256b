package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Requests that come again because their responses were lost. */
class SimRepeatTest
{
    private static final int SEEDS = 40;
    private static final int ADDS = 20;

    private static SimFabricOptions lossy()
    {
        return new SimFabricOptions().responseLoss(0.3);
    }

    /** Adds 1 as often, one request at a time. @return what the word is in the end. */
    private static long add(final long seed, final SimFabricOptions options)
    {
        try (SimPair pair = new SimPair(seed, options))
        {
            final QueuePair queuePair = pair.connected(QueuePairType.RC)[0];
            for (int i = 0; i < ADDS; i++)
            {
                SimPair.post(queuePair, () -> queuePair.fetchAdd(
                    1, SendFlags.SIGNALED, pair.a.at(0), pair.a.key(), pair.b.at(0), pair.b.key(), 1));
                pair.drain();
                assertThat(pair.a.statuses()).containsExactly("1 success");
            }
            return pair.b.word(0);
        }
    }

    @Test
    void shouldExecuteRepeatedAtomicOnceAndReturnWhatItFoundThen()
    {
        for (int seed = 0; seed < SEEDS; seed++)
        {
            assertThat(add(seed, lossy())).as("seed " + seed).isEqualTo(ADDS);
        }
    }

    @Test
    void shouldExecuteAtomicTwiceWhenRepeatsAreNotRecognised()
    {
        assertThat(add(1, lossy().repeatsRecognised(false))).isGreaterThan(ADDS);
    }

    @Test
    void shouldTakeLongerWhenResponseIsLost()
    {
        try (SimPair pair = new SimPair(1, SimFabricOptions.calm().responseLoss(1)))
        {
            final QueuePair queuePair = pair.connected(QueuePairType.RC)[0];
            final long startNs = pair.fabric.clock().nanoTime();
            SimPair.post(queuePair, () -> queuePair.write(
                1, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), pair.b.at(0), pair.b.key()));
            pair.drain();
            // Six times, and then it gets through: a request is not lost for ever.
            assertThat(pair.a.statuses()).containsExactly("1 success");
            assertThat(pair.fabric.clock().nanoTime() - startNs).isGreaterThan(6 * 100_000L);
        }
    }

    @Test
    void shouldReadAnewButNotWriteAgain()
    {
        int readAnew = 0;
        for (int seed = 0; seed < SEEDS; seed++)
        {
            try (SimPair pair = new SimPair(seed, lossy()))
            {
                final QueuePair[] first = pair.connected(QueuePairType.RC);
                pair.a.word(0, 1);
                SimPair.post(first[0],
                    () -> first[0].write(1, 0, pair.a.at(0), 8, pair.a.key(), pair.b.at(0), pair.b.key()),
                    () -> first[0].read(2, SendFlags.SIGNALED, pair.a.at(8), 8, pair.a.key(), pair.b.at(64),
                        pair.b.key()));
                while (pair.b.word(0) == 0)
                {
                    pair.fabric.step();
                }
                // Between the WRITE and its repetition somebody else writes the same word, and the one to be read.
                pair.b.word(0, 2);
                pair.fabric.advanceTo(pair.fabric.clock().nanoTime() + 20_000);
                pair.b.word(64, 3);
                pair.drain();
                assertThat(pair.a.statuses()).containsExactly("2 success");
                assertThat(pair.b.word(0)).as("seed " + seed).isEqualTo(2);
                readAnew += pair.a.word(8) == 3 ? 1 : 0;
            }
        }
        assertThat(readAnew).isBetween(1, SEEDS - 1);
    }
}
