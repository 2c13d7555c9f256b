package io.verbena.protocol.request;

import io.verbena.protocol.access.AccessRules;
import io.verbena.raas.identity.PeerIdentity;

/** A compute node as submitting threads see it, in this process or elsewhere. Thread-safe. */
public interface ComputeEndpoint
{
    /** The node has the request and will answer it. */
    int ACCEPTED = 0;
    /** The node's queue has no room now; the request is still the caller's. */
    int FULL = 1;
    /** The node takes no requests any more, and has not begun this one. */
    int CLOSED = 2;
    /** The calling thread is the one that would have to answer; the request is still the caller's. */
    int NESTED = 3;

    /** @return stays the same for the life of the endpoint, unique in the cluster for ever; keys are routed by it. */
    int id();

    /**
     * Hands a request over; never blocks. The answer may come before this returns.
     *
     * @param request IDLE or DONE. Unless ACCEPTED it stays with the caller, who may submit it elsewhere if its state
     *                is not ABANDONED.
     * @return {@link #ACCEPTED}, {@link #FULL} or {@link #CLOSED}.
     */
    int submit(NodeRequest request);

    /**
     * As {@link #submit}, for a thread that will wait for the answer: unless another thread works on the node, or on
     * the connections to it, now, the calling thread does, for a bounded time, so that the answer is often there on
     * return.
     *
     * @param request as for {@link #submit}.
     * @return as {@link #submit}; {@link #NESTED} where the calling thread is at that work already, as who depends on
     *         an answer may be, and would wait for itself.
     */
    default int submitAndWork(final NodeRequest request)
    {
        return submit(request);
    }

    /** @return who may do what at the node, as it knows now; each call may give other rules. */
    default AccessRules access()
    {
        return AccessRules.NONE;
    }

    /**
     * Something was refused before it was a request: for the audit log of the cluster. By the node's thread.
     *
     * @param who  it came from, as its connection proved.
     * @param what was refused; one object for each kind.
     */
    default void onRefused(final PeerIdentity who, final String what)
    {
        // Kept by nobody.
    }

    /**
     * Connections were refused whose peers proved nothing: for the audit log of the cluster. By the node's thread.
     *
     * @param what  was refused; one object for each kind.
     * @param times how often since the last call, 1 or more.
     * @param last  address of the last peer.
     */
    default void onUnproved(final String what, final long times, final String last)
    {
        // Kept by nobody.
    }

    /** @return whether answers come over a network: a thread that waits for one then sleeps rather than gives way. */
    default boolean isFar()
    {
        return false;
    }
}
