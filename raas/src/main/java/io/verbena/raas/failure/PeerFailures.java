package io.verbena.raas.failure;

import io.verbena.rdma.verbs.RdmaException;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.NanoClock;

import java.util.function.BiConsumer;

/**
 * The error handler of a node that serves peers: a request that a handler fails on, and a connection that fails while
 * it is accepted, concern one peer, which learns of it. Requests are counted; both are logged, one line a second each.
 * One thread reports; any thread reads the count.
 */
public final class PeerFailures implements ErrorHandler
{
    private final FailureLog requests;
    private final FailureLog connections;

    /**
     * @param log    takes a line and the exception that it is about.
     * @param clock  of the device.
     */
    public PeerFailures(final BiConsumer<String, Throwable> log, final NanoClock clock)
    {
        requests = new FailureLog(log, clock, "a request failed unexpectedly");
        connections = new FailureLog(log, clock, "a peer's connection failed");
    }

    /** @return requests so far that met an error of this node's code; any thread. */
    public long requestCount()
    {
        return requests.count();
    }

    @Override
    public void onError(final Throwable error)
    {
        (error instanceof RdmaException ? connections : requests).add(error.getMessage(), error);
    }
}
