package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** An engine of a {@link LossyNetwork}, with a region and a completion queue. */
final class EngineNode implements PacketSink
{
    static final int REGION_BYTES = 1 << 18;
    static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(64, 64, 64, 4);

    /** A completion as it was polled. */
    record Completion(long wrId, int status, int opcode, int bytes, int immediate, int flags, int number, int source)
    {
    }

    final DeviceAddress address;
    final RoceEngine engine;
    final RoceProtectionDomain domain;
    final MemoryRegion region;
    final RoceCompletionQueue completions;
    final List<Completion> polled = new ArrayList<>();
    Consumer<Completion> onCompletion = polled::add;
    /** Whether nothing can be sent for now. */
    boolean isFull;
    private final LossyNetwork network;
    private final WorkCompletions batch = new WorkCompletions(16);
    private final RocePacket outbound = new RocePacket();

    EngineNode(
        final LossyNetwork network,
        final int index,
        final int windowPackets,
        final int ackInterval,
        final int dcContexts,
        final int datagramBytes,
        final int port)
    {
        this.network = network;
        address = new DeviceAddress(0xFD00_0000_0000_0001L, index + 1, port);
        engine = new RoceEngine(
            new EngineOptions(
                address, windowPackets, ackInterval, datagramBytes, dcContexts, 0, 1, network.isSealed()),
            this, network::nowNs, () -> network.nextInt(), EngineDriver.NONE);
        domain = engine.createProtectionDomain();
        region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE | AccessFlags.MW_BIND);
        completions = engine.createCompletionQueue(4096, null);
    }

    RoceQueuePair createQueuePair(final QueuePairType type, final SharedReceiveQueue shared)
    {
        return domain.createQueuePair(new QueuePairOptions().type(type).completions(completions, completions)
            .capabilities(CAPABILITIES).sharedReceiveQueue(shared));
    }

    /** Brings a queue pair of RC or UC to RTS; PSNs begin shortly before they wrap. */
    static void connect(
        final RoceQueuePair queuePair,
        final EngineNode peer,
        final RoceQueuePair peerQueuePair,
        final ConnectOptions options)
    {
        if (peer.network.isSealed())
        {
            peer.network.engineOf(queuePair).seal(
                queuePair, SealedPair.keys(queuePair.number(), peerQueuePair.number()));
        }
        bringUp(queuePair, peer, peerQueuePair, options);
    }

    /** As above, sealed or not as was decided before. */
    static void bringUp(
        final RoceQueuePair queuePair,
        final EngineNode peer,
        final RoceQueuePair peerQueuePair,
        final ConnectOptions options)
    {
        final boolean isReliable = queuePair.type() == QueuePairType.RC;
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
            .accessFlags(options.accessFlags()));
        final QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTR)
            .destination(peer.address).pathMtuBytes(options.mtu()).destinationNumber(peerQueuePair.number())
            .rqPsn(options.firstSequence());
        queuePair.modify(isReliable ?
            ready.maxDestinationReadAtomic(options.depth()).minRnrTimer(options.rnrTimer()) : ready);
        final QueuePairAttributes sending =
            new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(options.firstSequence());
        queuePair.modify(isReliable ? sending.timeout(options.timeout()).retryCount(options.retries())
            .rnrRetry(options.rnrRetries()).maxReadAtomic(options.depth()) : sending);
    }

    /** What a connection is made with. */
    record ConnectOptions(
        int mtu, int firstSequence, int depth, int timeout, int retries, int rnrRetries, int rnrTimer, int accessFlags)
    {
        /** 41 us to the first repetition at MTU 256, and 7 of them. */
        static final ConnectOptions DEFAULT =
            new ConnectOptions(256, 0xFF_FFF8, 4, 6, 7, 7, 1, AccessFlags.ALL_REMOTE);

        ConnectOptions retries(final int count)
        {
            return new ConnectOptions(mtu, firstSequence, depth, timeout, count, rnrRetries, rnrTimer, accessFlags);
        }

        ConnectOptions rnrRetries(final int count)
        {
            return new ConnectOptions(mtu, firstSequence, depth, timeout, retries, count, rnrTimer, accessFlags);
        }

        ConnectOptions accessFlags(final int flags)
        {
            return new ConnectOptions(mtu, firstSequence, depth, timeout, retries, rnrRetries, rnrTimer, flags);
        }

        ConnectOptions depth(final int count)
        {
            return new ConnectOptions(
                mtu, firstSequence, count, timeout, retries, rnrRetries, rnrTimer, accessFlags);
        }
    }

    /** Address of a byte of the region. */
    long at(final int offset)
    {
        return region.address() + offset;
    }

    int key()
    {
        return region.remoteKey();
    }

    MemorySegment memory()
    {
        return region.segment();
    }

    long word(final int offset)
    {
        return memory().get(ValueLayout.JAVA_LONG, offset);
    }

    void word(final int offset, final long value)
    {
        memory().set(ValueLayout.JAVA_LONG, offset, value);
    }

    boolean work()
    {
        boolean hasWorked = engine.doWork() > 0;
        int count = completions.poll(batch);
        while (count > 0)
        {
            hasWorked = true;
            for (int i = 0; i < count; i++)
            {
                onCompletion.accept(new Completion(batch.wrId(i), batch.status(i), batch.opcode(i),
                    batch.byteLength(i), batch.immediate(i), batch.flags(i), batch.queuePairNumber(i),
                    batch.sourceQueuePairNumber(i)));
            }
            count = completions.poll(batch);
        }
        return hasWorked;
    }

    @Override
    public RocePacket claim()
    {
        return isFull || network.hasNoRoom() ? null : outbound;
    }

    @Override
    public void send(final RocePacket packet)
    {
        network.transmit(packet);
    }
}
