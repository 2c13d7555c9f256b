package io.verbena.rdma.verbs;

/** A peer that wants to connect; answered exactly once. */
public interface ConnectionRequest
{
    /** Longest private data in either direction. */
    int MAX_PRIVATE_DATA_BYTES = 196;

    /**
     * With which secret packets are sealed: those of two connections with the same one are sealed with the same secret.
     *
     * @param high first half of what was derived from the secret, and says nothing about it.
     * @param low  second half.
     */
    record PacketSeal(long high, long low)
    {
    }

    /** @return what the peer sent along. */
    byte[] privateData();

    /** @return the peer's device. */
    DeviceAddress source();

    /** @return number of the peer's queue pair, see {@link QueuePair#number()}. */
    int queuePairNumber();

    /** @return with which secret packets of the connection will be sealed, as proved; null: they go in clear. */
    default PacketSeal packetSeal()
    {
        return null;
    }

    /**
     * Connects: moves the queue pair through INIT and RTR to RTS. Post receives before. When the peer has given up
     * meanwhile, the queue pair goes to ERR instead, now or a little later.
     *
     * @param queuePair   in state RESET, or INIT after {@link #prepare}.
     * @param accessFlags rights the peer has through this queue pair.
     * @param privateData shown to the peer.
     */
    void accept(QueuePair queuePair, int accessFlags, byte[] privateData);

    /**
     * Moves the queue pair to INIT so that receives can be posted before {@link #accept}.
     *
     * @param queuePair in state RESET.
     */
    void prepare(QueuePair queuePair);

    /** @param privateData the reason, shown to the peer. */
    void reject(byte[] privateData);
}
