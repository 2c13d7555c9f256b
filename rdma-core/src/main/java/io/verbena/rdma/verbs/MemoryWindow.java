package io.verbena.rdma.verbs;

/**
 * A type 2 memory window ({@code struct ibv_mw}): remote rights on a part of a region, given by a BIND_MW posted on a
 * queue pair and valid through that queue pair only, taken back by LOCAL_INV there or by the peer's SEND_WITH_INV.
 * Rebound under another key each time. A region with a bound window cannot be closed. Closed by its creator; closing
 * takes the rights back.
 */
public interface MemoryWindow extends AutoCloseable
{
    /**
     * @return key of the present binding, to hand to the peer; while there is none, a key that gives no rights.
     */
    int remoteKey();

    /**
     * The key to bind with next ({@code ibv_inc_rkey}): the upper 24 bits are the window's, the lower 8 are the user's
     * and change with each binding, so that an old key is refused.
     *
     * @return a key other than {@link #remoteKey()}.
     */
    int nextRemoteKey();

    @Override
    void close();
}
