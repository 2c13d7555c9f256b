package io.verbena.rdma.sim.explore;

import org.agrona.concurrent.Agent;

/**
 * Production code under {@link SimExplorer}: an agent with an end. Its {@code doWork()} is called until it returns 0
 * and must depend on nothing but what its device has shown it: completions, its own memory, its device's clock.
 */
public interface SimActor extends Agent
{
    /** @return whether it will post nothing any more and waits for nothing. */
    boolean isDone();

    /**
     * Its state, when a few words can tell it: everything that its further behaviour and the verdict depend on,
     * including the contents of its own memory as far as it, or a peer, will look at them again. What it has not
     * looked at yet is added. Equal hashes count as equal states.
     *
     * @return a 64-bit hash; {@link #HISTORY} (the default) to use the history of all that the device has shown it,
     *     which is always right and merges fewer states.
     */
    default long stateHash()
    {
        return HISTORY;
    }

    /**
     * Whether its work depends on nothing but what its device has shown it, so that what it does commutes with what
     * others do elsewhere: then of orders that differ in nothing else only one is run. An actor that asks objects of
     * others, such as whether they have ended, must not say so. Asked in each state.
     *
     * @return false, which is always right.
     */
    default boolean isOnItsOwn()
    {
        return false;
    }

    /** Not a hash: the history identifies the state. */
    long HISTORY = 0;
}
