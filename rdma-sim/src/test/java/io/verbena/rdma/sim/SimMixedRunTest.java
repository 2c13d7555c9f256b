package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random work on every queue pair type at once, with losses, breaks, pauses, resets and a kill: runs replay exactly,
 * everything posted completes once, and each queue pair that failed works again after a reset.
 */
class SimMixedRunTest
{
    private static final int SEEDS = 120;
    private static final int ROUNDS = 40;
    private static final long ACCESS_KEY = 99;

    private final Set<String> statuses = new HashSet<>();

    /** One run. */
    private final class Run
    {
        private final SimPair pair;
        private final SplittableRandom random;
        private final List<QueuePair> from = new ArrayList<>();
        private final List<QueuePair> to = new ArrayList<>();
        private final Set<Long> open = new HashSet<>();
        private final List<SimPair.Done> done = new ArrayList<>();
        private final SharedReceiveQueue shared;
        private final AddressHandle handle;
        private final DcTarget[] targets = new DcTarget[2];
        private final MemoryWindow window;
        private long wrId = 1;

        private Run(final long seed)
        {
            pair = new SimPair(seed, new SimFabricOptions().loss(0.1).maxDcContexts(1));
            random = new SplittableRandom(seed);
            shared = pair.b.domain.createSharedReceiveQueue(64);
            handle = pair.a.domain.createAddressHandle(pair.b.device.address());
            window = pair.b.domain.allocateMemoryWindow();
            for (final QueuePairType type : QueuePairType.values())
            {
                from.add(pair.a.queuePair(type, null));
                final boolean isShared = type == QueuePairType.RC || type == QueuePairType.UD;
                to.add(pair.b.queuePair(type, isShared ? shared : null));
                raise(from.size() - 1);
            }
            for (int i = 0; i < targets.length; i++)
            {
                targets[i] = pair.b.domain.createDcTarget(
                    new DcTargetOptions(pair.b.completions, shared, ACCESS_KEY, AccessFlags.ALL_REMOTE, 4));
            }
        }

        private void raise(final int index)
        {
            SimPair.raise(from.get(index), pair.b, to.get(index).number());
            SimPair.raise(to.get(index), pair.a, from.get(index).number());
        }

        private void reset(final int index)
        {
            // What was posted is gone without completions, those not polled included.
            collect();
            open.removeIf(id -> id >> 32 == from.get(index).number());
            from.get(index).modify(new QueuePairAttributes().state(QueuePairState.RESET));
            to.get(index).modify(new QueuePairAttributes().state(QueuePairState.RESET));
            raise(index);
        }

        private void collect()
        {
            for (final SimPair.Done one : pair.a.poll())
            {
                assertThat(open.remove(one.wrId())).as("completed once: " + one).isTrue();
                done.add(one);
                statuses.add(one.status());
            }
            done.addAll(pair.b.poll());
        }

        private void post(final int index)
        {
            final QueuePair queuePair = from.get(index);
            if (queuePair.sendQueueSpace() < 4)
            {
                return;
            }
            queuePair.begin();
            for (int i = random.nextInt(3); i >= 0; i--)
            {
                final long id = (long)queuePair.number() << 32 | wrId++;
                open.add(id);
                stage(queuePair, id);
                if (queuePair.type() == QueuePairType.UD)
                {
                    queuePair.toQueuePair(handle, to.get(index).number(), SimPair.QKEY + random.nextInt(20) / 19);
                }
                else if (queuePair.type() == QueuePairType.DC_INITIATOR)
                {
                    queuePair.toDcTarget(
                        handle, targets[random.nextInt(2)].number(), ACCESS_KEY + random.nextInt(30) / 29);
                }
            }
            assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
        }

        private void stage(final QueuePair queuePair, final long id)
        {
            final int kinds = switch (queuePair.type())
            {
                case UD -> 1;
                case UC -> 3;
                default -> 6;
            };
            final int length = 8 + random.nextInt(40) * 8;
            final long remote = pair.b.at(random.nextInt(200) * 8L - random.nextInt(40) / 39 * 4096L);
            final int remoteKey = random.nextInt(8) == 0 ? window.remoteKey() : pair.b.key();
            final long local = pair.a.at(random.nextInt(200) * 8L);
            final int key = pair.a.key() + random.nextInt(60) / 59;
            final int flags = SendFlags.SIGNALED;
            switch (random.nextInt(kinds))
            {
                case 0 -> queuePair.send(id, flags, local, length, key);
                case 1 -> queuePair.write(id, flags, local, length, key, remote, remoteKey);
                case 2 -> queuePair.writeWithImmediate(id, flags, local, length, key, remote, pair.b.key(), 7);
                case 3 -> queuePair.read(id, flags, local, length, key, remote, pair.b.key());
                case 4 -> queuePair.fetchAdd(id, flags | SendFlags.FENCE, local, key, remote, pair.b.key(), 1);
                default -> queuePair.compareSwap(id, flags, local, key, remote, pair.b.key(), 0, 1);
            }
        }

        private void serve()
        {
            shared.postReceive(1, pair.b.at(4096), 512, pair.b.key());
            to.get(QueuePairType.UC.ordinal()).postReceive(2, pair.b.at(8192), 512, pair.b.key());
            final QueuePair owner = to.get(QueuePairType.RC.ordinal());
            if (random.nextInt(4) == 0 && owner.state() == QueuePairState.RTS && owner.sendQueueSpace() > 2)
            {
                final int key = window.nextRemoteKey();
                SimPair.post(owner,
                    () -> owner.bindMemoryWindow(
                        3, SendFlags.SIGNALED, window, key, pair.b.region, pair.b.at(0), 4096,
                        AccessFlags.REMOTE_WRITE),
                    () -> owner.localInvalidate(4, SendFlags.SIGNALED, key));
            }
        }

        private void disturb()
        {
            switch (random.nextInt(12))
            {
                case 0 -> pair.a.device.breakConnections(pair.b.device);
                case 1 -> pair.a.device.pause();
                case 2, 3 -> pair.a.device.resume();
                case 4 -> reset(random.nextInt(from.size()));
                default ->
                {
                }
            }
        }

        private String execute()
        {
            for (int round = 0; round < ROUNDS; round++)
            {
                serve();
                post(random.nextInt(from.size()));
                disturb();
                for (int steps = random.nextInt(30); steps > 0; steps--)
                {
                    pair.fabric.step();
                }
                collect();
            }
            pair.a.device.resume();
            pair.drain();
            collect();
            assertThat(open).as("every request has completed").isEmpty();
            for (int i = 0; i < from.size(); i++)
            {
                reset(i);
                final QueuePair queuePair = from.get(i);
                assertThat(queuePair.sendQueueSpace()).isEqualTo(32);
                assertThat(queuePair.state()).isEqualTo(QueuePairState.RTS);
            }
            final QueuePair dynamic = from.get(QueuePairType.DC_INITIATOR.ordinal());
            SimPair.post(dynamic, () ->
            {
                dynamic.write(5, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), pair.b.at(0), pair.b.key());
                dynamic.toDcTarget(handle, targets[0].number(), ACCESS_KEY);
            });
            pair.drain();
            assertThat(pair.a.statuses()).as("no context has leaked").containsExactly("5 success");
            pair.b.device.kill();
            pair.drain();
            return pair.fabric.traceHash() + " " + pair.fabric.steps() + " " + done;
        }
    }

    private String execute(final long seed)
    {
        final Run run = new Run(seed);
        try
        {
            return run.execute();
        }
        catch (final AssertionError | RuntimeException ex)
        {
            throw new AssertionError("seed=" + seed + ": " + ex.getMessage(), ex);
        }
        finally
        {
            run.pair.close();
        }
    }

    @Test
    void shouldReplayExactlyAndCompleteEverythingOnce()
    {
        final Set<String> runs = new HashSet<>();
        for (int seed = 0; seed < SEEDS; seed++)
        {
            final String first = execute(seed);
            assertThat(execute(seed)).as("seed " + seed).isEqualTo(first);
            runs.add(first);
        }
        assertThat(runs).hasSize(SEEDS);
        assertThat(statuses).contains(
            "success", "local protection error", "remote access error", "work request flushed",
            "transport retry counter exceeded", "RNR retry counter exceeded");
    }
}
