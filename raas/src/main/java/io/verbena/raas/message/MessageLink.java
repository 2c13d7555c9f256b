package io.verbena.raas.message;

/** The queue pair under an endpoint, as far as a {@link MessageExchange} uses it. */
public interface MessageLink
{
    /** Goes on with opening; called by each poll until the endpoint is paired or has ended. */
    void open(long nowNs);

    /** Whether the other end may come to be known still. */
    boolean isAsking();

    /** Where messages arrive. */
    Receives receives();

    /** Posts an empty message; false when there is no room now. */
    boolean sendControl(int immediate);

    /** Requests posted and not reported. */
    int outstanding();

    /** A request has completed that no batch stands for: the oldest. */
    void onSendComplete();

    /** The queue pair is closed. */
    void onQueuePairClosed(String reason);

    /** Reports what was under way on a queue pair that is closed, as far as nobody else does. */
    void reportLost();

    /** Whether whoever is at the other end is refused by now. */
    boolean isRefused();

    /** Sees to it that it is noticed if the peer is gone, although nothing is sent. */
    void probe();

    /** The peer breaks the rules of messages: closes the queue pair. */
    void breakProtocol(String reason);

    /** Nothing comes or goes any more. */
    void close();
}
