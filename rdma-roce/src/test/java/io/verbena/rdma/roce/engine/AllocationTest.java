package io.verbena.rdma.roce.engine;

import com.sun.management.ThreadMXBean;
import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/** Packets cost no garbage, in either role. */
class AllocationTest
{
    private static final int RING = 256;
    private static final int ROUNDS = 2_000;
    private static final long SEALED_BYTES = 2_500;

    private static final class Side implements PacketSink
    {
        final RocePacket[] ring = new RocePacket[RING];
        final RoceEngine engine;
        final RoceProtectionDomain domain;
        final MemoryRegion region;
        final RoceCompletionQueue completions;
        final RoceQueuePair queuePair;
        final WorkCompletions batch = new WorkCompletions(16);
        long head;
        long tail;

        Side(final int index, final DeviceAddress address)
        {
            this(index, address, false);
        }

        Side(final int index, final DeviceAddress address, final boolean isSealed)
        {
            for (int i = 0; i < RING; i++)
            {
                ring[i] = new RocePacket();
            }
            final SplittableRandom random = new SplittableRandom(index);
            engine = new RoceEngine(new EngineOptions(address, EngineOptions.WINDOW_PACKETS,
                EngineOptions.ACK_INTERVAL, 4096, EngineOptions.DC_CONTEXTS, 0, 1, isSealed), this,
                System::nanoTime, random::nextInt, EngineDriver.NONE);
            domain = engine.createProtectionDomain();
            region = domain.allocateRegistered(1 << 16, AccessFlags.ALL_REMOTE);
            completions = engine.createCompletionQueue(256, null);
            queuePair = domain.createQueuePair(new QueuePairOptions().completions(completions, completions)
                .capabilities(new QueuePairCapabilities(64, 64, 64, 4, 2)));
        }

        void connect(final Side peer, final DeviceAddress address)
        {
            final ConnectOptions options = ConnectOptions.DEFAULT;
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
                .accessFlags(AccessFlags.ALL_REMOTE));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR).destination(address)
                .pathMtuBytes(1024).destinationNumber(peer.queuePair.number()).rqPsn(options.firstSequence())
                .maxDestinationReadAtomic(4).minRnrTimer(1));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(options.firstSequence())
                .timeout(20).retryCount(7).rnrRetry(7).maxReadAtomic(4));
        }

        @Override
        public RocePacket claim()
        {
            return tail - head < RING ? ring[(int)(tail % RING)] : null;
        }

        @Override
        public void send(final RocePacket packet)
        {
            tail++;
        }

        void deliverTo(final Side peer)
        {
            while (head < tail)
            {
                peer.engine.onPacket(ring[(int)(head % RING)]);
                head++;
            }
        }
    }

    private final DeviceAddress addressA = new DeviceAddress(1, 1);
    private final DeviceAddress addressB = new DeviceAddress(1, 2);
    private Side a = new Side(1, addressA);
    private Side b = new Side(2, addressB);
    private int completed;

    @Test
    void shouldAllocateNothingForPackets()
    {
        a.connect(b, addressB);
        b.connect(a, addressA);
        assertThat(allocatedBytes(this::exchange) / (ROUNDS * 8)).isZero();
        assertThat(completed).isEqualTo(10 * ROUNDS * 8);
    }

    /** What the JDK's cipher allocates for each packet, at its sender and at its receiver together; nothing is ours. */
    @Test
    void shouldAllocateNoMoreThanTheCipherForSealedPackets()
    {
        a = new Side(1, addressA, true);
        b = new Side(2, addressB, true);
        a.engine.seal(a.queuePair, SealedPair.keys(a.queuePair.number(), b.queuePair.number()));
        b.engine.seal(b.queuePair, SealedPair.keys(b.queuePair.number(), a.queuePair.number()));
        a.connect(b, addressB);
        b.connect(a, addressA);
        final long before = a.engine.counters().sent + b.engine.counters().sent;
        final long allocatedBytes = allocatedBytes(this::exchange);
        final long packets = (a.engine.counters().sent + b.engine.counters().sent - before) / 10;
        assertThat(a.engine.counters().received + b.engine.counters().received).isGreaterThan(ROUNDS * 10);
        assertThat(a.engine.counters().notOpened + b.engine.counters().notOpened).isZero();
        assertThat(allocatedBytes / packets).as("bytes a packet, sealed and opened").isBetween(1L, SEALED_BYTES);
    }

    /** Each request goes to another target than the one before, so that each one connects. */
    @Test
    void shouldAllocateNothingForConnectingOverDc()
    {
        final RoceQueuePair initiator = a.domain.createQueuePair(new QueuePairOptions()
            .type(QueuePairType.DC_INITIATOR).completions(a.completions, a.completions)
            .capabilities(EngineNode.CAPABILITIES));
        DcRig.bringUp(initiator, 1024, 20, 7);
        final SharedReceiveQueue shared = b.domain.createSharedReceiveQueue(1);
        final DcTarget[] targets = new DcTarget[2];
        for (int i = 0; i < targets.length; i++)
        {
            targets[i] = b.domain.createDcTarget(
                new DcTargetOptions(b.completions, shared, DcRig.KEY, AccessFlags.ALL_REMOTE, 4));
        }
        final AddressHandle handle = a.domain.createAddressHandle(addressB);
        assertThat(allocatedBytes(() -> exchange(initiator, targets, handle)) / (ROUNDS * 8)).isZero();
        assertThat(completed).isEqualTo(10 * ROUNDS * 2);
        assertThat(b.engine.counters().received).isGreaterThan(10 * ROUNDS * 6);
    }

    private void exchange(final RoceQueuePair initiator, final DcTarget[] targets, final AddressHandle handle)
    {
        initiator.begin();
        for (final DcTarget target : targets)
        {
            initiator.write(1, SendFlags.SIGNALED, a.region.address(), 3_000, a.region.localKey(),
                b.region.address(), b.region.remoteKey());
            initiator.toDcTarget(handle, target.number(), DcRig.KEY);
        }
        initiator.complete();
        finish(2);
    }

    private static long allocatedBytes(final Runnable exchange)
    {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long allocatedBytes = Long.MAX_VALUE;
        // The first rounds load classes and compile.
        for (int i = 0; i < 10; i++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int round = 0; round < ROUNDS; round++)
            {
                exchange.run();
            }
            allocatedBytes = Math.min(allocatedBytes, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return allocatedBytes;
    }

    private void exchange()
    {
        final long local = a.region.address();
        final long remote = b.region.address();
        final int key = a.region.localKey();
        final int remoteKey = b.region.remoteKey();
        b.queuePair.postReceive(1, remote + 30_000, 4_000, remoteKey);
        a.queuePair.begin();
        a.queuePair.write(1, SendFlags.SIGNALED, local, 3_000, key, remote, remoteKey);
        a.queuePair.read(2, SendFlags.SIGNALED, local, 3_000, key, remote, remoteKey);
        a.queuePair.write(6, SendFlags.SIGNALED, local, 3_000, key, remote, remoteKey);
        a.queuePair.addSegment(local + 4_000, 100, key);
        a.queuePair.read(7, SendFlags.SIGNALED, local, 3_000, key, remote, remoteKey);
        a.queuePair.addSegment(local + 4_000, 100, key);
        a.queuePair.fetchAdd(3, SendFlags.SIGNALED, local, key, remote, remoteKey, 1);
        a.queuePair.compareSwap(4, SendFlags.SIGNALED, local, key, remote, remoteKey, 1, 2);
        a.queuePair.send(5, SendFlags.SIGNALED, local, 3_000, key);
        a.queuePair.complete();
        finish(8);
    }

    private void finish(final int count)
    {
        final int wanted = completed + count;
        while (completed < wanted)
        {
            a.engine.doWork();
            a.deliverTo(b);
            b.engine.doWork();
            b.deliverTo(a);
            completed += a.completions.poll(a.batch) + b.completions.poll(b.batch);
        }
    }
}
