package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** DC: one target at a time, keys, contexts, and that an error takes everything with it. */
class SimDynamicTest
{
    private static final long ACCESS_KEY = 0x1234_5678_9ABC_DEF0L;

    private final SimFabricOptions calm = SimFabricOptions.calm();

    /** An initiator on one side and two targets on the other. */
    private static final class Scene implements AutoCloseable
    {
        private final SimPair pair;
        private final QueuePair initiator;
        private final SharedReceiveQueue shared;
        private final DcTarget[] targets = new DcTarget[2];
        private final AddressHandle handle;

        private Scene(final long seed, final SimFabricOptions options)
        {
            pair = new SimPair(seed, options);
            shared = pair.b.domain.createSharedReceiveQueue(16);
            for (int i = 0; i < targets.length; i++)
            {
                targets[i] = pair.b.domain.createDcTarget(new DcTargetOptions(
                    pair.b.completions, shared, ACCESS_KEY, AccessFlags.ALL_REMOTE, 4));
            }
            handle = pair.a.domain.createAddressHandle(pair.b.device.address());
            initiator = initiator();
        }

        private QueuePair initiator()
        {
            final QueuePair queuePair = pair.a.queuePair(QueuePairType.DC_INITIATOR, null);
            SimPair.raise(queuePair, pair.b, 0);
            return queuePair;
        }

        private Runnable write(final QueuePair from, final long wrId, final DcTarget target, final long key)
        {
            return () ->
            {
                from.write(
                    wrId, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), pair.b.at(wrId * 8), pair.b.key());
                from.toDcTarget(handle, target.number(), key);
            };
        }

        private long timeNs(final int... targetIndices)
        {
            final long startNs = pair.fabric.clock().nanoTime();
            initiator.begin();
            for (int i = 0; i < targetIndices.length; i++)
            {
                write(initiator, i, targets[targetIndices[i]], ACCESS_KEY).run();
            }
            initiator.complete();
            int done = 0;
            while (done < targetIndices.length)
            {
                pair.fabric.step();
                done += pair.a.poll().size();
            }
            return pair.fabric.clock().nanoTime() - startNs;
        }

        @Override
        public void close()
        {
            pair.close();
        }
    }

    @Test
    void shouldExecuteEveryOperationAtTheTarget()
    {
        try (Scene scene = new Scene(1, new SimFabricOptions()))
        {
            final SimPair pair = scene.pair;
            final QueuePair from = scene.initiator;
            pair.a.word(0, 5);
            scene.shared.postReceive(9, pair.b.at(1024), 64, pair.b.key());
            scene.shared.postReceive(10, pair.b.at(1088), 64, pair.b.key());
            final Runnable address = () -> from.toDcTarget(scene.handle, scene.targets[0].number(), ACCESS_KEY);
            SimPair.post(from,
                scene.write(from, 1, scene.targets[0], ACCESS_KEY),
                () ->
                {
                    from.fetchAdd(
                        2, SendFlags.SIGNALED, pair.a.at(64), pair.a.key(), pair.b.at(8), pair.b.key(), 2);
                    address.run();
                },
                () ->
                {
                    from.read(
                        3, SendFlags.SIGNALED | SendFlags.FENCE, pair.a.at(72), 8, pair.a.key(), pair.b.at(8),
                        pair.b.key());
                    address.run();
                },
                () ->
                {
                    from.send(4, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key());
                    address.run();
                },
                () ->
                {
                    from.writeWithImmediate(
                        5, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), pair.b.at(16), pair.b.key(), 77);
                    address.run();
                });
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly(
                "1 success", "2 success", "3 success", "4 success", "5 success");
            assertThat(pair.a.word(64)).isEqualTo(5);
            assertThat(pair.a.word(72)).isEqualTo(7);
            assertThat(pair.b.word(1024)).isEqualTo(5);
            assertThat(pair.b.poll()).extracting(SimPair.Done::wrId, SimPair.Done::queuePair)
                .containsExactly(
                    tuple(9L, scene.targets[0].number()),
                    tuple(10L, scene.targets[0].number()));
        }
    }

    @Test
    void shouldServeOneTargetAtATime()
    {
        // Calm: a round trip takes 2,000 ns. Sorted by target there is one change, alternating there are three.
        try (Scene sorted = new Scene(1, calm); Scene alternating = new Scene(1, calm))
        {
            assertThat(sorted.timeNs(0, 0, 1, 1)).isBetween(4_000L, 5_000L);
            assertThat(alternating.timeNs(0, 1, 0, 1)).isBetween(8_000L, 9_000L);
        }
    }

    @Test
    void shouldFlushRequestsOfAllTargetsAfterAnError()
    {
        try (Scene scene = new Scene(1, new SimFabricOptions()))
        {
            final QueuePair from = scene.initiator;
            SimPair.post(from,
                scene.write(from, 1, scene.targets[0], ACCESS_KEY),
                scene.write(from, 2, scene.targets[0], ACCESS_KEY + 1),
                scene.write(from, 3, scene.targets[1], ACCESS_KEY),
                scene.write(from, 4, scene.targets[0], ACCESS_KEY));
            scene.pair.drain();
            assertThat(scene.pair.a.statuses()).containsExactly(
                "1 success", "2 remote access error", "3 work request flushed", "4 work request flushed");
            assertThat(from.state()).isEqualTo(QueuePairState.ERR);
            assertThat(scene.targets[0].accessKeyViolations()).isEqualTo(1);
            assertThat(scene.targets[0].state()).isEqualTo(QueuePairState.RTR);
            assertThat(scene.targets[1].accessKeyViolations()).isZero();
        }
    }

    @Test
    void shouldServeOtherInitiatorsAfterOneWasRefused()
    {
        try (Scene scene = new Scene(1, new SimFabricOptions()))
        {
            final SimPair pair = scene.pair;
            SimPair.post(scene.initiator, () ->
            {
                scene.initiator.write(1, 0, pair.a.at(0), 8, pair.a.key(), pair.b.at(-8), pair.b.key());
                scene.initiator.toDcTarget(scene.handle, scene.targets[0].number(), ACCESS_KEY);
            });
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("1 remote access error");
            final QueuePair other = scene.initiator();
            SimPair.post(other, scene.write(other, 2, scene.targets[0], ACCESS_KEY));
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("2 success");
        }
    }

    @Test
    void shouldQueueInitiatorsForResponderContextsAndFailWhenTheyNeverComeFree()
    {
        try (Scene scene = new Scene(1, SimFabricOptions.calm().maxDcContexts(1)))
        {
            final QueuePair second = scene.initiator();
            SimPair.post(scene.initiator, scene.write(scene.initiator, 1, scene.targets[0], ACCESS_KEY));
            SimPair.post(second, scene.write(second, 2, scene.targets[0], ACCESS_KEY));
            scene.pair.drain();
            assertThat(scene.pair.a.statuses()).containsExactlyInAnyOrder("1 success", "2 success");
            assertThat(scene.pair.fabric.clock().nanoTime()).isGreaterThan(10_000);
            // A SEND that waits for a receive holds the one context longer than the other one's retries last.
            SimPair.post(scene.initiator, () ->
            {
                scene.initiator.writeWithImmediate(
                    3, SendFlags.SIGNALED, scene.pair.a.at(0), 8, scene.pair.a.key(), scene.pair.b.at(0),
                    scene.pair.b.key(), 1);
                scene.initiator.toDcTarget(scene.handle, scene.targets[0].number(), ACCESS_KEY);
            });
            scene.pair.fabric.advanceTo(scene.pair.fabric.clock().nanoTime() + 5_000);
            SimPair.post(second, scene.write(second, 4, scene.targets[1], ACCESS_KEY));
            scene.pair.drain();
            assertThat(scene.pair.a.statuses()).contains("3 RNR retry counter exceeded");
        }
    }

    @Test
    void shouldFailWithinRetryTimeWhenTargetOrItsNodeIsGone()
    {
        final Set<String> seen = new HashSet<>();
        for (int seed = 0; seed < 100; seed++)
        {
            try (Scene scene = new Scene(seed, new SimFabricOptions()))
            {
                final long startNs = scene.pair.fabric.clock().nanoTime();
                SimPair.post(scene.initiator, scene.write(scene.initiator, 1, scene.targets[0], ACCESS_KEY));
                scene.pair.a.word(0, 5);
                for (int i = 0; i < seed % 4; i++)
                {
                    scene.pair.fabric.step();
                }
                if (seed % 2 == 0)
                {
                    scene.targets[0].close();
                }
                else
                {
                    scene.pair.b.device.kill();
                }
                final boolean wasThere = scene.pair.b.word(8) == 5;
                scene.pair.drain();
                assertThat(scene.pair.b.word(8) == 5).isEqualTo(wasThere);
                seen.addAll(scene.pair.a.statuses());
                assertThat(scene.pair.fabric.clock().nanoTime() - startNs).isLessThan((4_096L << 8) * 4 + 200_000);
            }
        }
        assertThat(seen).contains("1 transport retry counter exceeded");
    }

    @Test
    void shouldFreeContextOfKilledInitiator()
    {
        for (int seed = 0; seed < 50; seed++)
        {
            try (Scene scene = new Scene(seed, new SimFabricOptions().maxDcContexts(1)))
            {
                final SimPair.Side third = new SimPair.Side(scene.pair.fabric, "c");
                SimPair.post(scene.initiator, scene.write(scene.initiator, 1, scene.targets[0], ACCESS_KEY));
                for (int i = 0; i < seed % 5; i++)
                {
                    scene.pair.fabric.step();
                }
                scene.pair.a.device.kill();
                scene.pair.drain();
                final QueuePair other = third.queuePair(QueuePairType.DC_INITIATOR, null);
                SimPair.raise(other, scene.pair.b, 0);
                final AddressHandle handle = third.domain.createAddressHandle(scene.pair.b.device.address());
                SimPair.post(other, () ->
                {
                    other.write(
                        2, SendFlags.SIGNALED, third.at(0), 8, third.key(), scene.pair.b.at(0), scene.pair.b.key());
                    other.toDcTarget(handle, scene.targets[1].number(), ACCESS_KEY);
                });
                scene.pair.drain();
                assertThat(third.statuses()).as("seed " + seed).containsExactly("2 success");
            }
        }
    }

    @Test
    void shouldLeaveOutcomeOpenWhenConnectionsBreakAndWorkAfterReset()
    {
        final Set<String> seen = new HashSet<>();
        for (int seed = 0; seed < 100; seed++)
        {
            try (Scene scene = new Scene(seed, new SimFabricOptions()))
            {
                SimPair.post(scene.initiator, scene.write(scene.initiator, 1, scene.targets[0], ACCESS_KEY));
                scene.pair.a.word(0, 5);
                for (int i = 0; i < seed % 5; i++)
                {
                    scene.pair.fabric.step();
                }
                scene.pair.a.device.breakConnections(scene.pair.b.device);
                scene.pair.drain();
                seen.add(scene.pair.a.statuses() + " " + scene.pair.b.word(8));
                scene.initiator.modify(new QueuePairAttributes().state(QueuePairState.RESET));
                SimPair.raise(scene.initiator, scene.pair.b, 0);
                SimPair.post(scene.initiator, scene.write(scene.initiator, 2, scene.targets[0], ACCESS_KEY));
                scene.pair.drain();
                assertThat(scene.pair.a.statuses()).containsExactly("2 success");
            }
        }
        assertThat(seen).contains("[1 success] 5", "[1 transport retry counter exceeded] 0",
            "[1 transport retry counter exceeded] 5");
    }
}
