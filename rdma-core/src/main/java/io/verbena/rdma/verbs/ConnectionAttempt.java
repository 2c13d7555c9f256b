package io.verbena.rdma.verbs;

/** The requesting side of a connection being made; polled by the owner of the queue pair. */
public interface ConnectionAttempt
{
    /** Where the attempt stands. */
    enum State
    {
        /** Not decided yet. */
        PENDING,
        /** The queue pair is RTS. */
        ESTABLISHED,
        /** The peer refused; {@link #privateData()} says why. */
        REJECTED,
        /** Nobody listens at the address. */
        UNREACHABLE,
        /** No answer within the timeout. */
        TIMED_OUT
    }

    /** @return the state now; once not PENDING it stays. */
    State poll();

    /** @return what the peer sent with its answer; empty before. */
    byte[] privateData();

    /** @return with which secret packets are sealed once it is ESTABLISHED; null: they go in clear. */
    default ConnectionRequest.PacketSeal packetSeal()
    {
        return null;
    }

    /** @return why it failed, in one line that says what to do; empty where the state says it all. */
    default String problem()
    {
        return "";
    }
}
