package io.verbena.rdma.verbs;

/** Hands out connection requests to the one thread that polls it. */
public interface ConnectionListener extends AutoCloseable
{
    /** @return the oldest request not handed out yet, or null; never blocks. */
    ConnectionRequest poll();

    /** Stops listening; requests not answered are rejected. */
    @Override
    void close();
}
