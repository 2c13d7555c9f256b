package io.verbena.rdma.roce.engine;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SharedReceiveQueue;

/** DC initiators and targets of {@link EngineNode}s. */
final class DcRig
{
    static final long KEY = 0x0102_0304_0506_0708L;

    private DcRig()
    {
    }

    static DcTarget target(
        final EngineNode node, final SharedReceiveQueue shared, final int accessFlags, final int depth)
    {
        return node.domain.createDcTarget(new DcTargetOptions(node.completions, shared, KEY, accessFlags, depth));
    }

    /** An initiator in RTS; the PSN of its first request wraps soon. */
    static RoceQueuePair initiator(final EngineNode node, final int mtu, final int timeout, final int retries)
    {
        final RoceQueuePair queuePair = node.createQueuePair(QueuePairType.DC_INITIATOR, null);
        bringUp(queuePair, mtu, timeout, retries);
        return queuePair;
    }

    static void bringUp(final RoceQueuePair queuePair, final int mtu, final int timeout, final int retries)
    {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR).pathMtuBytes(mtu));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0xFF_FFF8).timeout(timeout)
            .retryCount(retries).rnrRetry(7).maxReadAtomic(4));
    }

    static AddressHandle to(final EngineNode from, final EngineNode target)
    {
        return from.domain.createAddressHandle(target.address);
    }
}
