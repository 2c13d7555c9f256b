package io.verbena.client.routing;

import io.verbena.protocol.request.DutyLock;

/** What a {@link RemoteNodesThread} drives; by the holder of the lock only, except what says otherwise. */
interface DrivenNodes extends DutyLock.Duty
{
    /**
     * One duty cycle of the background thread; may take long, where it makes, connects or closes something.
     *
     * @return work done.
     */
    int doWork();

    /** @return whether no request is under way, so that it may be closed; connections and listings may be. */
    default boolean mayEnd()
    {
        return !isBusy();
    }

    /** @return lock over the duty cycle. Any thread. */
    DutyLock dutyLock();

    /** @return how long nothing is due, while not {@link #isBusy()}. */
    long idleNs();

    /** @return whether {@link #await} waits, and is better than many empty polls; always the same. */
    default boolean canWait()
    {
        return false;
    }

    /** @return whether a connection or a listing is on its way, so that duty cycles must not be far apart. */
    boolean isSettling();

    /**
     * Called before {@link #onClose()} when a duty cycle failed.
     *
     * @param failure of it.
     */
    void onFailure(Throwable failure);

    /** Ends it. */
    void onClose();
}
