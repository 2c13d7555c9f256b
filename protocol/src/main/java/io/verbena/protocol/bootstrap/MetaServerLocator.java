package io.verbena.protocol.bootstrap;

import io.verbena.raas.PeerAddress;

/**
 * Where the meta server is. A meta server that was started again is the same one, on the same data, at another place of
 * the fabric; who cannot reach it says so here, and asks again a little later. Thread-safe; nothing here blocks.
 */
public interface MetaServerLocator
{
    /** @return where it was found last. */
    PeerAddress address();

    /** Says that it cannot be reached there; to be called at each failure, as often as that may be. */
    void onUnreachable();

    /** A call is about to be made: a moment to see, now and then, where else it may be next. */
    default void onCall()
    {
        // It is where it is.
    }

    /** @return at how many addresses it is looked for: those that were given, and those that were named since. */
    default int addresses()
    {
        return 1;
    }

    /** A call takes long, and may still be answered: where there are several, another one may be the leader by now. */
    default void onLate()
    {
        // There is one.
    }

    /** @return as whom those who have the token are known to all nodes; null: there is no token. */
    default AccessTicket nodeTicket()
    {
        return null;
    }

    /** @return as whom a node connects to the meta server before it has registered; null: without a proof. */
    default AccessTicket joiningTicket()
    {
        return nodeTicket();
    }

    /** @return as whom a client connects; null: without a proof. */
    default AccessTicket clientTicket()
    {
        return null;
    }

    /**
     * For a meta server that stays where it is.
     *
     * @param address of it.
     * @return the locator.
     */
    static MetaServerLocator at(final PeerAddress address)
    {
        return new MetaServerLocator()
        {
            @Override
            public PeerAddress address()
            {
                return address;
            }

            @Override
            public void onUnreachable()
            {
                // It is where it is, or nowhere.
            }

            @Override
            public String toString()
            {
                return address.toString();
            }
        };
    }
}
