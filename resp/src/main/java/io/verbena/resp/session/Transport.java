package io.verbena.resp.session;

import java.util.concurrent.Future;

/** What carries a session. By the thread of the session. */
public interface Transport
{
    /**
     * Sends bytes, copied before it returns.
     *
     * @param bytes       to send.
     * @param lengthBytes of them, from the first one.
     */
    void send(byte[] bytes, int lengthBytes);

    /** @return whether the client has read nearly all that was sent, so that more may be made for it. */
    boolean isWritable();

    /** @param isWanted whether more bytes may come from the client. */
    void read(boolean isWanted);

    /** Closes the connection when what was sent has gone out. */
    void closeAfterSending();

    /** Closes the connection at once. */
    void close();

    /**
     * Does something later, by the thread of the session.
     *
     * @param delayNs how much later.
     * @param task    to do.
     * @return cancels it.
     */
    Future<?> schedule(long delayNs, Runnable task);

    /** @return address of the client, and that of this side. */
    String[] addresses();
}
