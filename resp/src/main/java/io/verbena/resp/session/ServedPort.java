package io.verbena.resp.session;

import java.util.List;

/** What commands about the server say of the port that serves them. Any thread. */
public interface ServedPort
{
    /**
     * A connected client.
     *
     * @param state     of it, which changes meanwhile.
     * @param addresses of the client, and of this side.
     * @param close     closes its connection; any thread.
     */
    record Client(SessionState state, String[] addresses, Runnable close)
    {
    }

    /** @return the clients that are connected now, by ascending id. */
    List<Client> clients();

    /** @return how many clients are connected now. */
    int connections();

    /** @return most clients at once. */
    int maxConnections();

    /** @return connections accepted so far. */
    long acceptances();

    /** @return connections refused so far, because there were too many. */
    long refusals();

    /** @return connections closed so far, because they held most when memory for buffers was scarce. */
    long evictions();

    /** @return commands so far. */
    long commandCount();

    /** @return bytes that the buffers of clients hold beyond their first ones. */
    long bufferBytes();

    /** @return most bytes for them. */
    long maxBufferBytes();

    /** @return port at which it listens. */
    int port();

    /** @return the slow operations of the node. */
    SlowLog slowLog();

    /** @return the pause of its clients. */
    ClientPause pause();

    /** @return when it was opened, by the clock of the workers. */
    long openedNs();
}
