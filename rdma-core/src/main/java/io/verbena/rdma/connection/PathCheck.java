package io.verbena.rdma.connection;

/** Packets under way to a peer that has accepted, to see whether any comes back. Used by the service's thread. */
public interface PathCheck extends AutoCloseable
{
    /** Sends once more; called every {@link ConnectionService#LOOK_NS} or so until there is an answer. */
    void ask();

    /** @return what is wrong while there is no answer, in one line that says what to do; any thread. */
    String problem();

    @Override
    void close();
}
