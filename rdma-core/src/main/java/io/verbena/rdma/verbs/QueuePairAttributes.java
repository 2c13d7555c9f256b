package io.verbena.rdma.verbs;

/**
 * Attributes of a queue pair with the mask that says which are meant ({@code struct ibv_qp_attr} and
 * {@code enum ibv_qp_attr_mask}). Mutable and reusable. Which attributes a transition needs and allows is the table of
 * the {@code ibv_modify_qp} manual page.
 */
public final class QueuePairAttributes
{
    public static final int STATE = 1;
    public static final int ACCESS_FLAGS = 1 << 3;
    public static final int PKEY_INDEX = 1 << 4;
    public static final int PORT = 1 << 5;
    public static final int QKEY = 1 << 6;
    public static final int ADDRESS_VECTOR = 1 << 7;
    public static final int PATH_MTU = 1 << 8;
    public static final int TIMEOUT = 1 << 9;
    public static final int RETRY_COUNT = 1 << 10;
    public static final int RNR_RETRY = 1 << 11;
    public static final int RQ_PSN = 1 << 12;
    public static final int MAX_READ_ATOMIC = 1 << 13;
    public static final int MIN_RNR_TIMER = 1 << 15;
    public static final int SQ_PSN = 1 << 16;
    public static final int MAX_DESTINATION_READ_ATOMIC = 1 << 17;
    public static final int DESTINATION_NUMBER = 1 << 20;

    private int mask;
    private QueuePairState state = QueuePairState.RESET;
    private int accessFlags;
    private int pkeyIndex;
    private int port;
    private int qkey;
    private DeviceAddress destination;
    private int pathMtuBytes;
    private int timeout;
    private int retryCount;
    private int rnrRetry;
    private int rqPsn;
    private int sqPsn;
    private int maxReadAtomic;
    private int maxDestinationReadAtomic;
    private int minRnrTimer;
    private int destinationNumber;

    /** @return the attributes that were set, as a set of the constants above. */
    public int mask()
    {
        return mask;
    }

    /**
     * @param attribute one of the constants above.
     * @return whether it was set.
     */
    public boolean has(final int attribute)
    {
        return (mask & attribute) != 0;
    }

    /** @return others with the same values, of which the same are set. */
    public QueuePairAttributes copy()
    {
        final QueuePairAttributes copy = new QueuePairAttributes();
        copy.mask = mask;
        copy.state = state;
        copy.accessFlags = accessFlags;
        copy.pkeyIndex = pkeyIndex;
        copy.port = port;
        copy.qkey = qkey;
        copy.destination = destination;
        copy.pathMtuBytes = pathMtuBytes;
        copy.timeout = timeout;
        copy.retryCount = retryCount;
        copy.rnrRetry = rnrRetry;
        copy.rqPsn = rqPsn;
        copy.sqPsn = sqPsn;
        copy.maxReadAtomic = maxReadAtomic;
        copy.maxDestinationReadAtomic = maxDestinationReadAtomic;
        copy.minRnrTimer = minRnrTimer;
        copy.destinationNumber = destinationNumber;
        return copy;
    }

    /** @return this, with nothing set. */
    public QueuePairAttributes clear()
    {
        mask = 0;
        return this;
    }

    /** @return target state. */
    public QueuePairState state()
    {
        return state;
    }

    /**
     * @param state target state.
     * @return this.
     */
    public QueuePairAttributes state(final QueuePairState state)
    {
        this.state = state;
        mask |= STATE;
        return this;
    }

    /** @return rights of the peer, see {@link AccessFlags}. */
    public int accessFlags()
    {
        return accessFlags;
    }

    /**
     * @param accessFlags rights of the peer, see {@link AccessFlags}.
     * @return this.
     */
    public QueuePairAttributes accessFlags(final int accessFlags)
    {
        this.accessFlags = accessFlags;
        mask |= ACCESS_FLAGS;
        return this;
    }

    /** @return index in the port's partition key table. */
    public int pkeyIndex()
    {
        return pkeyIndex;
    }

    /**
     * @param pkeyIndex index in the port's partition key table.
     * @return this.
     */
    public QueuePairAttributes pkeyIndex(final int pkeyIndex)
    {
        this.pkeyIndex = pkeyIndex;
        mask |= PKEY_INDEX;
        return this;
    }

    /** @return port number, 1 for the first. */
    public int port()
    {
        return port;
    }

    /**
     * @param port port number, 1 for the first.
     * @return this.
     */
    public QueuePairAttributes port(final int port)
    {
        this.port = port;
        mask |= PORT;
        return this;
    }

    /** @return UD: key that inbound datagrams must carry. */
    public int qkey()
    {
        return qkey;
    }

    /**
     * @param qkey UD: key that inbound datagrams must carry.
     * @return this.
     */
    public QueuePairAttributes qkey(final int qkey)
    {
        this.qkey = qkey;
        mask |= QKEY;
        return this;
    }

    /** @return the peer's device. */
    public DeviceAddress destination()
    {
        return destination;
    }

    /**
     * @param destination the peer's device.
     * @return this.
     */
    public QueuePairAttributes destination(final DeviceAddress destination)
    {
        this.destination = destination;
        mask |= ADDRESS_VECTOR;
        return this;
    }

    /** @return 256, 512, 1024, 2048 or 4096. */
    public int pathMtuBytes()
    {
        return pathMtuBytes;
    }

    /**
     * @param pathMtuBytes 256, 512, 1024, 2048 or 4096.
     * @return this.
     */
    public QueuePairAttributes pathMtuBytes(final int pathMtuBytes)
    {
        this.pathMtuBytes = pathMtuBytes;
        mask |= PATH_MTU;
        return this;
    }

    /** @return acknowledgement timeout: 4.096 µs × 2^timeout, 0 to 31; 0 waits for ever. */
    public int timeout()
    {
        return timeout;
    }

    /**
     * @param timeout acknowledgement timeout: 4.096 µs × 2^timeout, 0 to 31; 0 waits for ever.
     * @return this.
     */
    public QueuePairAttributes timeout(final int timeout)
    {
        this.timeout = timeout;
        mask |= TIMEOUT;
        return this;
    }

    /** @return retries of an unanswered request, 0 to 7. */
    public int retryCount()
    {
        return retryCount;
    }

    /**
     * @param retryCount retries of an unanswered request, 0 to 7.
     * @return this.
     */
    public QueuePairAttributes retryCount(final int retryCount)
    {
        this.retryCount = retryCount;
        mask |= RETRY_COUNT;
        return this;
    }

    /** @return retries after receiver-not-ready, 0 to 6; 7 retries for ever. */
    public int rnrRetry()
    {
        return rnrRetry;
    }

    /**
     * @param rnrRetry retries after receiver-not-ready, 0 to 6; 7 retries for ever.
     * @return this.
     */
    public QueuePairAttributes rnrRetry(final int rnrRetry)
    {
        this.rnrRetry = rnrRetry;
        mask |= RNR_RETRY;
        return this;
    }

    /** @return first packet sequence number expected, 24 bits. */
    public int rqPsn()
    {
        return rqPsn;
    }

    /**
     * @param rqPsn first packet sequence number expected, 24 bits.
     * @return this.
     */
    public QueuePairAttributes rqPsn(final int rqPsn)
    {
        this.rqPsn = rqPsn;
        mask |= RQ_PSN;
        return this;
    }

    /** @return first packet sequence number sent, 24 bits. */
    public int sqPsn()
    {
        return sqPsn;
    }

    /**
     * @param sqPsn first packet sequence number sent, 24 bits.
     * @return this.
     */
    public QueuePairAttributes sqPsn(final int sqPsn)
    {
        this.sqPsn = sqPsn;
        mask |= SQ_PSN;
        return this;
    }

    /** @return READs and atomics outstanding as requester. */
    public int maxReadAtomic()
    {
        return maxReadAtomic;
    }

    /**
     * @param maxReadAtomic READs and atomics outstanding as requester.
     * @return this.
     */
    public QueuePairAttributes maxReadAtomic(final int maxReadAtomic)
    {
        this.maxReadAtomic = maxReadAtomic;
        mask |= MAX_READ_ATOMIC;
        return this;
    }

    /** @return READs and atomics answered at once as responder. */
    public int maxDestinationReadAtomic()
    {
        return maxDestinationReadAtomic;
    }

    /**
     * @param maxDestinationReadAtomic READs and atomics answered at once as responder.
     * @return this.
     */
    public QueuePairAttributes maxDestinationReadAtomic(final int maxDestinationReadAtomic)
    {
        this.maxDestinationReadAtomic = maxDestinationReadAtomic;
        mask |= MAX_DESTINATION_READ_ATOMIC;
        return this;
    }

    /** @return code of the wait sent with receiver-not-ready, 0 to 31; 0 is the longest, 655.36 ms. */
    public int minRnrTimer()
    {
        return minRnrTimer;
    }

    /**
     * @param minRnrTimer code of the wait sent with receiver-not-ready, 0 to 31; 0 is the longest, 655.36 ms.
     * @return this.
     */
    public QueuePairAttributes minRnrTimer(final int minRnrTimer)
    {
        this.minRnrTimer = minRnrTimer;
        mask |= MIN_RNR_TIMER;
        return this;
    }

    /** @return queue pair number of the peer, 24 bits. */
    public int destinationNumber()
    {
        return destinationNumber;
    }

    /**
     * @param destinationNumber queue pair number of the peer, 24 bits.
     * @return this.
     */
    public QueuePairAttributes destinationNumber(final int destinationNumber)
    {
        this.destinationNumber = destinationNumber;
        mask |= DESTINATION_NUMBER;
        return this;
    }
}
