package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;

import java.util.function.IntConsumer;
import java.util.function.LongConsumer;

/**
 * The attributes that a queue pair has now, except its state; changed by what
 * {@link QueuePairTransitions#check} has let through. Not thread-safe.
 */
public final class CurrentAttributes
{
    private final QueuePairAttributes values = new QueuePairAttributes();

    /**
     * Takes over what is set.
     *
     * @param change already checked.
     */
    public void apply(final QueuePairAttributes change)
    {
        copy(change, values);
    }

    /** Forgets everything, as in RESET. */
    public void clear()
    {
        values.clear();
        values.accessFlags(0).qkey(0).destination(null).pathMtuBytes(0).timeout(0).retryCount(0).rnrRetry(0)
            .maxReadAtomic(0).maxDestinationReadAtomic(0).minRnrTimer(0).destinationNumber(0).clear();
    }

    /**
     * Fills the answer to a query.
     *
     * @param target overwritten.
     * @param state  of the queue pair.
     */
    public void fill(final QueuePairAttributes target, final QueuePairState state)
    {
        target.clear();
        copy(values, target);
        target.state(state);
    }

    /** Whether an attribute was ever set since RESET. */
    public boolean has(final int attribute)
    {
        return values.has(attribute);
    }

    /** Rights of the peer. */
    public int accessFlags()
    {
        return values.accessFlags();
    }

    /** The peer's device; null when there is none. */
    public DeviceAddress destination()
    {
        return values.has(QueuePairAttributes.ADDRESS_VECTOR) ? values.destination() : null;
    }

    /** Number of the peer's queue pair. */
    public int destinationNumber()
    {
        return values.destinationNumber();
    }

    /** Longest payload of a packet. */
    public int pathMtuBytes()
    {
        return values.pathMtuBytes();
    }

    /** UD: key of inbound datagrams. */
    public int qkey()
    {
        return values.qkey();
    }

    /** READs and atomics outstanding as requester. */
    public int maxReadAtomic()
    {
        return values.maxReadAtomic();
    }

    /** READs and atomics answered at once as responder. */
    public int maxDestinationReadAtomic()
    {
        return values.maxDestinationReadAtomic();
    }

    /** Retries after receiver-not-ready. */
    public int rnrRetry()
    {
        return values.rnrRetry();
    }

    /** Wait sent with receiver-not-ready, as a code. */
    public int rnrCode()
    {
        return values.minRnrTimer();
    }

    /** Wait sent with receiver-not-ready, in nanoseconds. */
    public long rnrWaitNs()
    {
        return RetryTimers.rnrWaitNs(values.minRnrTimer());
    }

    /** Time until a request that nobody answers fails, in nanoseconds; {@link RetryTimers#NEVER_NS}. */
    public long retryTimeNs()
    {
        return RetryTimers.retryTimeNs(values.timeout(), values.retryCount());
    }

    /**
     * Tells them all, in a fixed order.
     *
     * @param words takes them.
     */
    public void describe(final LongConsumer words)
    {
        final DeviceAddress destination = destination();
        words.accept(values.mask());
        words.accept(destination == null ? 0 : destination.hashCode());
        words.accept((long)values.destinationNumber() << 32 | values.accessFlags());
        words.accept((long)values.qkey() << 32 | values.pathMtuBytes());
        words.accept((long)values.rqPsn() << 32 | values.sqPsn());
        words.accept((long)values.maxReadAtomic() << 32 | values.maxDestinationReadAtomic());
        words.accept((long)values.timeout() << 32 | values.retryCount());
        words.accept((long)values.rnrRetry() << 32 | values.minRnrTimer());
        words.accept((long)values.pkeyIndex() << 32 | values.port());
    }

    private static void copy(final QueuePairAttributes from, final QueuePairAttributes to)
    {
        if (from.has(QueuePairAttributes.ADDRESS_VECTOR))
        {
            to.destination(from.destination());
        }
        copy(from, QueuePairAttributes.ACCESS_FLAGS, from.accessFlags(), to::accessFlags);
        copy(from, QueuePairAttributes.PKEY_INDEX, from.pkeyIndex(), to::pkeyIndex);
        copy(from, QueuePairAttributes.PORT, from.port(), to::port);
        copy(from, QueuePairAttributes.QKEY, from.qkey(), to::qkey);
        copy(from, QueuePairAttributes.PATH_MTU, from.pathMtuBytes(), to::pathMtuBytes);
        copy(from, QueuePairAttributes.TIMEOUT, from.timeout(), to::timeout);
        copy(from, QueuePairAttributes.RETRY_COUNT, from.retryCount(), to::retryCount);
        copy(from, QueuePairAttributes.RNR_RETRY, from.rnrRetry(), to::rnrRetry);
        copy(from, QueuePairAttributes.RQ_PSN, from.rqPsn(), to::rqPsn);
        copy(from, QueuePairAttributes.SQ_PSN, from.sqPsn(), to::sqPsn);
        copy(from, QueuePairAttributes.MAX_READ_ATOMIC, from.maxReadAtomic(), to::maxReadAtomic);
        copy(from, QueuePairAttributes.MAX_DESTINATION_READ_ATOMIC, from.maxDestinationReadAtomic(),
            to::maxDestinationReadAtomic);
        copy(from, QueuePairAttributes.MIN_RNR_TIMER, from.minRnrTimer(), to::minRnrTimer);
        copy(from, QueuePairAttributes.DESTINATION_NUMBER, from.destinationNumber(), to::destinationNumber);
    }

    private static void copy(
        final QueuePairAttributes from, final int attribute, final int value, final IntConsumer setter)
    {
        if (from.has(attribute))
        {
            setter.accept(value);
        }
    }
}
