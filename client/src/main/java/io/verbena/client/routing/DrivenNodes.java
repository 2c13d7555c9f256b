package io.verbena.client.routing;

import io.verbena.protocol.remote.TransportTurn;

/** What a {@link RemoteNodesThread} drives; by the owner of the turn only, except what says otherwise. */
interface DrivenNodes extends TransportTurn.Transport
{
    /** @return who may drive this. Any thread. */
    TransportTurn turn();

    /** @return how long nothing is due, while not {@link #isBusy()}. */
    long idleNs();

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
