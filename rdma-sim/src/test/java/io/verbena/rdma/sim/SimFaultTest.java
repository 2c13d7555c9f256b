package io.verbena.rdma.sim;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

import static org.assertj.core.api.Assertions.assertThat;

/** Each fault happens, in all its outcomes, and does no more than it says. */
class SimFaultTest
{
    private static final int SEEDS = 200;

    /** One connection under one seed. */
    private static final class Scene
    {
        private final SimFabric fabric;
        private final SimDevice left;
        private final SimDevice right;
        private final Endpoint from;
        private final Endpoint to;
        private final WorkCompletions completions = new WorkCompletions(16);

        private Scene(final long seed, final SimFabricOptions options)
        {
            fabric = new SimFabric(seed, options);
            left = fabric.openDevice("left");
            right = fabric.openDevice("right");
            from = new Endpoint(left);
            to = new Endpoint(right);
            SimConnections.connect(fabric, from, to);
        }

        private void write(final long remote, final long value)
        {
            from.putLong(remote, value);
            from.queuePair.begin();
            from.queuePair.write(
                remote, SendFlags.SIGNALED, from.address(remote), 8, from.key(), to.address(remote), to.key());
            from.queuePair.complete();
        }

        private List<Integer> drain()
        {
            while (fabric.step())
            {
                assertThat(fabric.steps()).isLessThan(100_000);
            }
            final List<Integer> statuses = new ArrayList<>();
            int count = from.completions.poll(completions);
            for (; count > 0; count = from.completions.poll(completions))
            {
                for (int i = 0; i < count; i++)
                {
                    statuses.add(completions.status(i));
                }
            }
            return statuses;
        }

        private void stepTimes(final int count)
        {
            for (int i = 0; i < count; i++)
            {
                fabric.step();
            }
        }
    }

    private static Set<String> outcomes(final SimFabricOptions options, final BiConsumer<Scene, Set<String>> test)
    {
        return outcomes(SEEDS, options, test);
    }

    private static Set<String> outcomes(
        final int seeds, final SimFabricOptions options, final BiConsumer<Scene, Set<String>> test)
    {
        final Set<String> outcomes = new HashSet<>();
        for (int seed = 0; seed < seeds; seed++)
        {
            final Scene scene = new Scene(seed, options);
            try
            {
                test.accept(scene, outcomes);
            }
            catch (final AssertionError ex)
            {
                throw new AssertionError("seed=" + seed + ": " + ex.getMessage(), ex);
            }
            finally
            {
                scene.fabric.close();
            }
        }
        return outcomes;
    }

    @Test
    void shouldExecuteNothingBeforeAnyStep()
    {
        outcomes(new SimFabricOptions(), (scene, seen) ->
        {
            scene.write(0, 5);
            assertThat(scene.to.getLong(0)).isZero();
            assertThat(scene.drain()).containsExactly(WorkCompletionStatus.SUCCESS);
            assertThat(scene.to.getLong(0)).isEqualTo(5);
        });
    }

    @Test
    void shouldFailWithinRetryTimeWhenTargetIsKilled()
    {
        final SimFabricOptions options = new SimFabricOptions();
        final Set<String> seen = outcomes(options, (scene, outcomes) ->
        {
            final long startNs = scene.fabric.clock().nanoTime();
            scene.write(0, 5);
            scene.stepTimes((int)(scene.fabric.seed() % 5));
            scene.right.kill();
            final List<Integer> statuses = scene.drain();
            assertThat(scene.fabric.clock().nanoTime() - startNs).isLessThan(options.retryTimeoutNs() * 2);
            assertThat(statuses).hasSize(1);
            outcomes.add(statuses + " " + scene.to.getLong(0));
        });
        assertThat(seen).contains(
            "[" + WorkCompletionStatus.RETRY_EXC_ERR + "] 0", "[" + WorkCompletionStatus.SUCCESS + "] 5");
    }

    @Test
    void shouldSometimesLandRequestsOfKilledRequester()
    {
        final Set<String> seen = outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            scene.write(0, 5);
            scene.stepTimes((int)(scene.fabric.seed() % 3));
            final boolean hasLeft = scene.fabric.seed() % 3 > 0;
            scene.left.kill();
            scene.drain();
            outcomes.add(hasLeft + " " + scene.to.getLong(0));
        });
        assertThat(seen).containsExactlyInAnyOrder("false 0", "true 0", "true 5");
    }

    @Test
    void shouldStopExactlyBetweenTwoRequestsWhenKilledAfterCount()
    {
        outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            final int limit = (int)(scene.fabric.seed() % 6);
            scene.left.killAfterRequests(limit);
            for (int i = 0; i < 5; i++)
            {
                scene.write(i * 8, i + 1);
            }
            scene.drain();
            for (int i = 0; i < 5; i++)
            {
                assertThat(scene.to.getLong(i * 8)).isEqualTo(i < limit ? i + 1 : 0);
            }
            assertThat(scene.left.executedRequests()).isEqualTo(Math.min(limit, 5));
            assertThat(scene.left.isKilled()).isTrue();
        });
    }

    @Test
    void shouldLeaveOutcomeOpenWhenConnectionBreaks()
    {
        final Set<String> seen = outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            scene.write(0, 5);
            scene.stepTimes((int)(scene.fabric.seed() % 4));
            scene.left.breakConnections(scene.right);
            final List<Integer> statuses = scene.drain();
            assertThat(statuses).hasSize(1);
            outcomes.add(statuses.get(0) + " " + scene.to.getLong(0));
        });
        assertThat(seen).contains(
            WorkCompletionStatus.RETRY_EXC_ERR + " 0", WorkCompletionStatus.RETRY_EXC_ERR + " 5");
    }

    @Test
    void shouldLetNewConnectionWorkAfterBreak()
    {
        outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            scene.left.breakConnections(scene.right);
            scene.write(0, 5);
            assertThat(scene.drain()).containsExactly(WorkCompletionStatus.RETRY_EXC_ERR);
            scene.from.queuePair.close();
            scene.to.queuePair.close();
            scene.from.queuePair = scene.from.domain.createQueuePair(
                scene.from.completions, scene.from.completions, Endpoint.CAPABILITIES);
            scene.to.queuePair = scene.to.domain.createQueuePair(
                scene.to.completions, scene.to.completions, Endpoint.CAPABILITIES);
            SimConnections.connect(scene.fabric, scene.from, scene.to);
            scene.write(0, 6);
            assertThat(scene.drain()).containsExactly(WorkCompletionStatus.SUCCESS);
        });
    }

    @Test
    void shouldLandRequestsLateAndInOrderWhenPaused()
    {
        final Set<String> seen = outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            scene.write(0, 1);
            scene.write(0, 2);
            scene.stepTimes((int)(scene.fabric.seed() % 4));
            scene.left.pause();
            scene.fabric.advanceTo(scene.fabric.clock().nanoTime() + 1_000_000);
            final long during = scene.to.getLong(0);
            assertThat(scene.left.isPaused()).isTrue();
            scene.left.resume();
            assertThat(scene.drain())
                .containsExactly(WorkCompletionStatus.SUCCESS, WorkCompletionStatus.SUCCESS);
            assertThat(scene.to.getLong(0)).isEqualTo(2);
            outcomes.add("" + during);
        });
        assertThat(seen).contains("0", "2");
    }

    @Test
    void shouldLandNothingLateWhenTargetQueuePairWasClosed()
    {
        outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            scene.write(0, 1);
            scene.stepTimes((int)(scene.fabric.seed() % 4));
            scene.left.pause();
            scene.stepTimes(3);
            scene.to.queuePair.close();
            scene.to.putLong(0, 9);
            scene.left.resume();
            scene.drain();
            assertThat(scene.to.getLong(0)).isEqualTo(9);
        });
    }

    @Test
    void shouldReadTornLinesButNoTornWords()
    {
        // Both requests are at work at once in one run out of twenty.
        final Set<String> seen = outcomes(SEEDS * 10, new SimFabricOptions(), (scene, outcomes) ->
        {
            final QueuePair second = scene.from.domain.createQueuePair(
                scene.from.completions, scene.from.completions, Endpoint.CAPABILITIES);
            final QueuePair secondTarget = scene.to.domain.createQueuePair(
                scene.to.completions, scene.to.completions, Endpoint.CAPABILITIES);
            SimConnections.connect(scene.fabric, scene.from, second, scene.to, secondTarget);
            for (int i = 0; i < 256; i += 8)
            {
                scene.from.putLong(i, -1);
            }
            scene.from.queuePair.begin();
            scene.from.queuePair.write(
                1, 0, scene.from.address(0), 256, scene.from.key(), scene.to.address(0), scene.to.key());
            scene.from.queuePair.complete();
            second.begin();
            second.read(2, 0, scene.from.address(4096), 256, scene.from.key(), scene.to.address(0), scene.to.key());
            second.complete();
            scene.drain();
            outcomes.add(tornLines(scene));
        });
        // All old, all new, new lines before old ones and the other way round.
        assertThat(seen).contains("0000", "1111", "1000", "0001");
    }

    private static String tornLines(final Scene scene)
    {
        final StringBuilder lines = new StringBuilder();
        for (int line = 0; line < 4; line++)
        {
            final long first = scene.from.getLong(4096 + line * 64);
            for (int i = 0; i < 64; i += 8)
            {
                assertThat(scene.from.getLong(4096 + line * 64 + i)).isEqualTo(first).isIn(0L, -1L);
            }
            lines.append(first == 0 ? '0' : '1');
        }
        return lines.toString();
    }

    private static void readThenWrite(final Scene scene, final int writeFlags)
    {
        scene.from.putLong(0, 7);
        scene.from.queuePair.begin();
        scene.from.queuePair.read(
            1, 0, scene.from.address(64), 8, scene.from.key(), scene.to.address(0), scene.to.key());
        scene.from.queuePair.write(
            2, writeFlags, scene.from.address(0), 8, scene.from.key(), scene.to.address(0), scene.to.key());
        scene.from.queuePair.complete();
        scene.drain();
    }

    @Test
    void shouldLetWriteOvertakeReadOnlyWithoutFence()
    {
        assertThat(outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            readThenWrite(scene, 0);
            outcomes.add("" + scene.from.getLong(64));
        })).containsExactlyInAnyOrder("0", "7");
        assertThat(outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            readThenWrite(scene, SendFlags.FENCE);
            outcomes.add("" + scene.from.getLong(64));
        })).containsExactly("0");
        assertThat(outcomes(new SimFabricOptions().readOvertakenByWrite(false), (scene, outcomes) ->
        {
            readThenWrite(scene, 0);
            outcomes.add("" + scene.from.getLong(64));
        })).containsExactly("0");
    }

    @Test
    void shouldExecuteNothingBehindReadThatIsRefused()
    {
        outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            scene.from.putLong(0, 7);
            scene.from.queuePair.begin();
            scene.from.queuePair.read(
                1, 0, scene.from.address(64), 8, scene.from.key(), scene.to.address(0), scene.to.key() + 1);
            scene.from.queuePair.write(
                2, 0, scene.from.address(0), 8, scene.from.key(), scene.to.address(0), scene.to.key());
            scene.from.queuePair.complete();
            assertThat(scene.drain())
                .containsExactly(WorkCompletionStatus.REM_ACCESS_ERR, WorkCompletionStatus.WR_FLUSH_ERR);
            assertThat(scene.to.getLong(0)).isZero();
        });
    }

    private static String addThenRead(final Scene scene, final int readFlags)
    {
        scene.from.queuePair.begin();
        scene.from.queuePair.fetchAdd(
            1, 0, scene.from.address(0), scene.from.key(), scene.to.address(0), scene.to.key(), 3);
        scene.from.queuePair.read(
            2, readFlags, scene.from.address(64), 8, scene.from.key(), scene.to.address(0), scene.to.key());
        scene.from.queuePair.complete();
        scene.drain();
        return "" + scene.from.getLong(64);
    }

    @Test
    void shouldLetReadOvertakeAtomicOnlyWhenAttributesSaySo()
    {
        final SimFabricOptions weak = new SimFabricOptions().readAfterAtomicNeedsFence(true);
        assertThat(outcomes(weak, (scene, outcomes) ->
        {
            assertThat(scene.left.attributes().readAfterAtomicNeedsFence()).isTrue();
            outcomes.add(addThenRead(scene, 0));
        })).containsExactlyInAnyOrder("0", "3");
        assertThat(outcomes(weak, (scene, outcomes) -> outcomes.add(addThenRead(scene, SendFlags.FENCE))))
            .containsExactly("3");
        assertThat(outcomes(new SimFabricOptions(), (scene, outcomes) -> outcomes.add(addThenRead(scene, 0))))
            .containsExactly("3");
    }

    @Test
    void shouldReorderAcrossQueuePairs()
    {
        final Set<String> seen = outcomes(new SimFabricOptions(), (scene, outcomes) ->
        {
            final QueuePair second = scene.from.domain.createQueuePair(
                scene.from.completions, scene.from.completions, Endpoint.CAPABILITIES);
            final QueuePair secondTarget = scene.to.domain.createQueuePair(
                scene.to.completions, scene.to.completions, Endpoint.CAPABILITIES);
            SimConnections.connect(scene.fabric, scene.from, second, scene.to, secondTarget);
            scene.write(0, 5);
            second.begin();
            second.read(2, 0, scene.from.address(64), 8, scene.from.key(), scene.to.address(0), scene.to.key());
            second.complete();
            scene.drain();
            outcomes.add("" + scene.from.getLong(64));
        });
        assertThat(seen).containsExactlyInAnyOrder("0", "5");
    }

    @Test
    void shouldExecuteNothingPostedBehindSendThatFailed()
    {
        final Set<String> seen = outcomes(new SimFabricOptions().rnrTimeoutNs(10_000), (scene, outcomes) ->
        {
            scene.from.queuePair.begin();
            scene.from.queuePair.send(1, 0, scene.from.address(64), 8, scene.from.key());
            scene.from.queuePair.complete();
            final long postNs = scene.fabric.clock().nanoTime() + 8_000 + scene.fabric.seed() * 50;
            scene.fabric.advanceTo(postNs);
            scene.write(0, 5);
            assertThat(scene.drain()).containsExactly(
                WorkCompletionStatus.RNR_RETRY_EXC_ERR, WorkCompletionStatus.WR_FLUSH_ERR);
            assertThat(scene.to.getLong(0)).isZero();
            outcomes.add("done");
        });
        assertThat(seen).hasSize(1);
    }

    @Test
    void shouldNeverHaveMoreReadsOutstandingThanLimit()
    {
        outcomes(SimFabricOptions.calm(), (scene, outcomes) ->
        {
            scene.from.queuePair.begin();
            for (int i = 0; i < 12; i++)
            {
                scene.from.queuePair.read(
                    i, SendFlags.SIGNALED, scene.from.address(i * 8), 8, scene.from.key(), scene.to.address(0),
                    scene.to.key());
            }
            scene.from.queuePair.complete();
            // Calm: each way takes 1,000 ns, the limit is 4, so 12 READs take 3 round trips and not 1.
            final long startNs = scene.fabric.clock().nanoTime();
            assertThat(scene.drain()).hasSize(12);
            assertThat(scene.fabric.clock().nanoTime() - startNs).isBetween(6_000L, 8_000L);
        });
    }
}
