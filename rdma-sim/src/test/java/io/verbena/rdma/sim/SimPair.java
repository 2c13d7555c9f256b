package io.verbena.rdma.sim;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Two devices of one fabric, with queue pairs of any type brought up by hand. */
public final class SimPair implements AutoCloseable
{
    static final int REGION_FLAGS = AccessFlags.ALL_REMOTE | AccessFlags.MW_BIND;
    public static final int QKEY = 0x1234;
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(32, 32, 64, 4);
    private static final int REGION_BYTES = 1 << 16;

    final SimFabric fabric;
    final Side a;
    final Side b;

    /** A completion in words: identifier and status, of a receive also length. */
    public record Done(long wrId, String status, int byteLength, int flags, int extra, int source, int queuePair)
    {
    }

    /** One device with everything that a queue pair needs. */
    public static final class Side
    {
        public final SimDevice device;
        public final ProtectionDomain domain;
        public final CompletionQueue completions;
        public final MemoryRegion region;

        public Side(final SimFabric fabric, final String name)
        {
            this(fabric.openDevice(name));
        }

        public Side(final SimDevice device)
        {
            this.device = device;
            domain = device.allocateProtectionDomain();
            completions = device.createCompletionQueue(256);
            region = domain.allocateRegistered(REGION_BYTES, REGION_FLAGS);
        }

        public QueuePair queuePair(final QueuePairType type, final SharedReceiveQueue shared)
        {
            return domain.createQueuePair(new QueuePairOptions().type(type).sharedReceiveQueue(shared)
                .completions(completions, completions).capabilities(CAPABILITIES));
        }

        public long at(final long offset)
        {
            return region.address() + offset;
        }

        public int key()
        {
            return region.localKey();
        }

        public long word(final long offset)
        {
            return region.segment().get(ValueLayout.JAVA_LONG, offset);
        }

        public void word(final long offset, final long value)
        {
            region.segment().set(ValueLayout.JAVA_LONG, offset, value);
        }

        public List<Done> poll()
        {
            final WorkCompletions batch = new WorkCompletions(64);
            final List<Done> done = new ArrayList<>();
            for (int count = completions.poll(batch); count > 0; count = completions.poll(batch))
            {
                for (int i = 0; i < count; i++)
                {
                    done.add(new Done(
                        batch.wrId(i), WorkCompletionStatus.text(batch.status(i)), batch.byteLength(i),
                        batch.flags(i), batch.immediate(i), batch.sourceQueuePairNumber(i),
                        batch.queuePairNumber(i)));
                }
            }
            return done;
        }

        public List<String> statuses()
        {
            return poll().stream().map(done -> done.wrId() + " " + done.status()).toList();
        }

        public List<AsyncEventType> events()
        {
            final List<AsyncEventType> types = new ArrayList<>();
            for (AsyncEvent event = device.pollAsyncEvent(); event != null; event = device.pollAsyncEvent())
            {
                types.add(event.type());
            }
            return types;
        }
    }

    public SimPair(final long seed, final SimFabricOptions options)
    {
        fabric = new SimFabric(seed, options);
        a = new Side(fabric, "a");
        b = new Side(fabric, "b");
    }

    /** Executes all steps there are. */
    public void drain()
    {
        final long limit = fabric.steps() + 200_000;
        while (fabric.step())
        {
            assertThat(fabric.steps()).isLessThan(limit);
        }
    }

    public static void post(final QueuePair queuePair, final Runnable... requests)
    {
        queuePair.begin();
        for (final Runnable request : requests)
        {
            request.run();
        }
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
    }

    public static QueuePairAttributes init(final QueuePairType type, final int rights)
    {
        final QueuePairAttributes attributes =
            new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1);
        return switch (type)
        {
            case RC, UC -> attributes.accessFlags(rights);
            case UD -> attributes.qkey(QKEY);
            case DC_INITIATOR -> attributes;
        };
    }

    public static QueuePairAttributes rtr(final QueuePairType type, final Side peer, final int peerNumber)
    {
        final QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.RTR);
        if (type == QueuePairType.RC || type == QueuePairType.UC)
        {
            attributes.destination(peer.device.address()).destinationNumber(peerNumber).rqPsn(0);
        }
        if (type == QueuePairType.RC)
        {
            attributes.maxDestinationReadAtomic(4).minRnrTimer(1);
        }
        return type == QueuePairType.UD ? attributes : attributes.pathMtuBytes(256);
    }

    public static QueuePairAttributes rts(final QueuePairType type)
    {
        final QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0);
        return type == QueuePairType.UC || type == QueuePairType.UD ?
            attributes : attributes.timeout(8).retryCount(3).rnrRetry(3).maxReadAtomic(4);
    }

    public static void raise(final QueuePair queuePair, final Side peer, final int peerNumber)
    {
        queuePair.modify(init(queuePair.type(), AccessFlags.ALL_REMOTE));
        queuePair.modify(rtr(queuePair.type(), peer, peerNumber));
        queuePair.modify(rts(queuePair.type()));
    }

    /** A queue pair on each side, connected to each other. */
    public QueuePair[] connected(final QueuePairType type)
    {
        return connected(type, a, b, null);
    }

    /** The second one may take its receives from a shared queue. */
    public static QueuePair[] connected(
        final QueuePairType type, final Side from, final Side to, final SharedReceiveQueue shared)
    {
        final QueuePair[] pair = { from.queuePair(type, null), to.queuePair(type, shared) };
        raise(pair[0], to, pair[1].number());
        raise(pair[1], from, pair[0].number());
        return pair;
    }

    @Override
    public void close()
    {
        fabric.close();
    }
}
