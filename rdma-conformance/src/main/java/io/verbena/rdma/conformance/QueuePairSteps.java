package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;

/** Attributes of the way from RESET to RTS, as the {@code ibv_modify_qp} manual page requires them for each type. */
final class QueuePairSteps
{
    static final int PATH_MTU_BYTES = 1024;
    static final int QKEY = 0x1111_1111;
    /** 4.096 µs × 2^14: 67 ms. */
    static final int TIMEOUT = 14;
    private static final int READ_ATOMIC = 4;

    private int accessFlags = AccessFlags.ALL_REMOTE;
    private int timeout = TIMEOUT;
    private int retryCount = 7;
    private int rnrRetry = 7;
    private int minRnrTimer = 1;
    private int maxReadAtomic = READ_ATOMIC;
    private int maxDestinationReadAtomic = READ_ATOMIC;
    private int qkey = QKEY;

    QueuePairSteps accessFlags(final int flags)
    {
        accessFlags = flags;
        return this;
    }

    /** As codes: how long an answer is waited for, and how often. */
    QueuePairSteps retries(final int timeoutCode, final int count)
    {
        timeout = timeoutCode;
        retryCount = count;
        return this;
    }

    /** As codes: how often receiver-not-ready is waited for, and how long this side makes others wait. */
    QueuePairSteps receiverNotReady(final int count, final int timerCode)
    {
        rnrRetry = count;
        minRnrTimer = timerCode;
        return this;
    }

    QueuePairSteps readAtomic(final int asRequester, final int asResponder)
    {
        maxReadAtomic = asRequester;
        maxDestinationReadAtomic = asResponder;
        return this;
    }

    QueuePairSteps qkey(final int key)
    {
        qkey = key;
        return this;
    }

    /** From RESET to INIT. */
    QueuePairAttributes init(final QueuePairType type)
    {
        final QueuePairAttributes attributes =
            new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1);
        return switch (type)
        {
            case RC, UC -> attributes.accessFlags(accessFlags);
            case UD -> attributes.qkey(qkey);
            case DC_INITIATOR -> attributes;
        };
    }

    /** From INIT to RTR. */
    QueuePairAttributes readyToReceive(
        final QueuePairType type, final DeviceAddress peer, final int peerNumber)
    {
        final QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.RTR);
        if (type == QueuePairType.UD)
        {
            return attributes;
        }
        attributes.pathMtuBytes(PATH_MTU_BYTES);
        if (type == QueuePairType.DC_INITIATOR)
        {
            return attributes;
        }
        attributes.destination(peer).destinationNumber(peerNumber).rqPsn(0);
        return type == QueuePairType.UC ? attributes :
            attributes.maxDestinationReadAtomic(maxDestinationReadAtomic).minRnrTimer(minRnrTimer);
    }

    /** From RTR to RTS. */
    QueuePairAttributes readyToSend(final QueuePairType type)
    {
        final QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0);
        return type == QueuePairType.UC || type == QueuePairType.UD ? attributes :
            attributes.timeout(timeout).retryCount(retryCount).rnrRetry(rnrRetry).maxReadAtomic(maxReadAtomic);
    }

    /** All the way to RTS. */
    void bringUp(final QueuePair queuePair, final DeviceAddress peer, final int peerNumber)
    {
        queuePair.modify(init(queuePair.type()));
        queuePair.modify(readyToReceive(queuePair.type(), peer, peerNumber));
        queuePair.modify(readyToSend(queuePair.type()));
    }

    /** A copy without one attribute. */
    static QueuePairAttributes without(final QueuePairAttributes from, final int omitted)
    {
        final QueuePairAttributes copy = new QueuePairAttributes();
        for (int bit = 0; bit < Integer.SIZE; bit++)
        {
            final int attribute = 1 << bit;
            if (from.has(attribute) && attribute != omitted)
            {
                copy(from, copy, attribute);
            }
        }
        return copy;
    }

    private static void copy(final QueuePairAttributes from, final QueuePairAttributes to, final int attribute)
    {
        switch (attribute)
        {
            case QueuePairAttributes.STATE -> to.state(from.state());
            case QueuePairAttributes.ACCESS_FLAGS -> to.accessFlags(from.accessFlags());
            case QueuePairAttributes.PKEY_INDEX -> to.pkeyIndex(from.pkeyIndex());
            case QueuePairAttributes.PORT -> to.port(from.port());
            case QueuePairAttributes.QKEY -> to.qkey(from.qkey());
            case QueuePairAttributes.ADDRESS_VECTOR -> to.destination(from.destination());
            case QueuePairAttributes.PATH_MTU -> to.pathMtuBytes(from.pathMtuBytes());
            case QueuePairAttributes.TIMEOUT -> to.timeout(from.timeout());
            case QueuePairAttributes.RETRY_COUNT -> to.retryCount(from.retryCount());
            case QueuePairAttributes.RNR_RETRY -> to.rnrRetry(from.rnrRetry());
            case QueuePairAttributes.RQ_PSN -> to.rqPsn(from.rqPsn());
            case QueuePairAttributes.MAX_READ_ATOMIC -> to.maxReadAtomic(from.maxReadAtomic());
            case QueuePairAttributes.MIN_RNR_TIMER -> to.minRnrTimer(from.minRnrTimer());
            case QueuePairAttributes.SQ_PSN -> to.sqPsn(from.sqPsn());
            case QueuePairAttributes.MAX_DESTINATION_READ_ATOMIC ->
                to.maxDestinationReadAtomic(from.maxDestinationReadAtomic());
            case QueuePairAttributes.DESTINATION_NUMBER -> to.destinationNumber(from.destinationNumber());
            default -> throw new IllegalArgumentException("no attribute of bit " + attribute);
        }
    }
}
