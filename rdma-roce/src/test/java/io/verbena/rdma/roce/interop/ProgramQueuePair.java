package io.verbena.rdma.roce.interop;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/** A queue pair of our engine, connected to one of a {@link ForeignProgram}, and what is posted to it. */
final class ProgramQueuePair implements AutoCloseable
{
    /** What both families of programs use for UD. */
    static final int QKEY = 0x1111_1111;
    static final int GRH_BYTES = 40;
    /** Of the memory that programs reach, and receive into. */
    static final long SHARED = InteropSide.REGION_BYTES / 2;
    static final int RECEIVES = 512;
    private static final int SENDS = 128;
    private static final int FIRST_SEQUENCE = 0xFF_FFF0;
    /** 1.07 s. */
    private static final int TIMEOUT = 18;

    private final EngineSide ours;
    private final QueuePairType type;
    private final QueuePair queuePair;
    private AddressHandle handle;
    private QueuePairKeys peer;

    ProgramQueuePair(final EngineSide ours, final QueuePairType type)
    {
        this.ours = ours;
        this.type = type;
        queuePair = ours.domain().createQueuePair(new QueuePairOptions().type(type)
            .completions(ours.completions(), ours.completions())
            .capabilities(new QueuePairCapabilities(SENDS, RECEIVES, 0, QueuePairKeys.READ_ATOMIC)));
    }

    QueuePairKeys keys()
    {
        return new QueuePairKeys(ours.address(), queuePair.number(), FIRST_SEQUENCE, ours.key(), ours.at(SHARED));
    }

    QueuePairKeys peer()
    {
        return peer;
    }

    void connect(final QueuePairKeys to, final int mtuBytes)
    {
        peer = to;
        final QueuePairAttributes init =
            new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1);
        queuePair.modify(QueuePairType.UD == type ? init.qkey(QKEY) : init.accessFlags(AccessFlags.ALL_REMOTE));
        final QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTR);
        if (QueuePairType.UD != type)
        {
            ready.pathMtuBytes(mtuBytes).destination(to.device()).destinationNumber(to.number())
                .rqPsn(to.sequence());
        }
        queuePair.modify(QueuePairType.RC == type ?
            ready.maxDestinationReadAtomic(QueuePairKeys.READ_ATOMIC).minRnrTimer(12) : ready);
        final QueuePairAttributes sending =
            new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(FIRST_SEQUENCE);
        queuePair.modify(QueuePairType.RC == type ? sending.timeout(TIMEOUT).retryCount(7).rnrRetry(7)
            .maxReadAtomic(QueuePairKeys.READ_ATOMIC) : sending);
        handle = QueuePairType.UD == type ? ours.domain().createAddressHandle(to.device()) : null;
    }

    void receive(final long wrId, final int lengthBytes)
    {
        InteropPair.equal("receive", PostStatus.OK, queuePair.postReceive(wrId, ours.at(SHARED),
            lengthBytes + (QueuePairType.UD == type ? GRH_BYTES : 0), ours.localKey()));
    }

    /** Where a received message begins. */
    long receivedAt()
    {
        return SHARED + (QueuePairType.UD == type ? GRH_BYTES : 0);
    }

    void send(final long wrId, final long offset, final int lengthBytes)
    {
        queuePair.begin();
        queuePair.send(wrId, SendFlags.SIGNALED, ours.at(offset), lengthBytes, ours.localKey());
        if (null != handle)
        {
            queuePair.toQueuePair(handle, peer.number(), QKEY);
        }
        rung();
    }

    void write(final long wrId, final long offset, final int lengthBytes)
    {
        queuePair.begin();
        queuePair.write(wrId, SendFlags.SIGNALED, ours.at(offset), lengthBytes, ours.localKey(), peer.address(),
            peer.remoteKey());
        rung();
    }

    void read(final long wrId, final long offset, final int lengthBytes)
    {
        queuePair.begin();
        queuePair.read(wrId, SendFlags.SIGNALED, ours.at(offset), lengthBytes, ours.localKey(), peer.address(),
            peer.remoteKey());
        rung();
    }

    void fetchAdd(final long wrId, final long offset, final long operand)
    {
        queuePair.begin();
        queuePair.fetchAdd(wrId, SendFlags.SIGNALED, ours.at(offset), ours.localKey(), peer.address(),
            peer.remoteKey(), operand);
        rung();
    }

    void compareSwap(final long wrId, final long offset, final long expected, final long update)
    {
        queuePair.begin();
        queuePair.compareSwap(wrId, SendFlags.SIGNALED, ours.at(offset), ours.localKey(), peer.address(),
            peer.remoteKey(), expected, update);
        rung();
    }

    private void rung()
    {
        InteropPair.equal("post", PostStatus.OK, queuePair.complete());
    }

    /** The n-th completion of our side; a failed one ends the run. */
    static InteropSide.Completion polled(final EngineSide ours, final ForeignProgram program, final int index)
    {
        program.await("completion " + index, () -> ours.polled.size() > index);
        final InteropSide.Completion completion = ours.polled.get(index);
        InteropPair.equal("status of request " + completion.wrId(), WorkCompletionStatus.SUCCESS,
            completion.status());
        return completion;
    }

    @Override
    public void close()
    {
        queuePair.close();
        if (null != handle)
        {
            handle.close();
        }
    }
}
