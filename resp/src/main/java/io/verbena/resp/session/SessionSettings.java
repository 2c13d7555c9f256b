package io.verbena.resp.session;

/**
 * What all sessions of a node have in common.
 *
 * @param table           of sessions that have not SELECTed another one: database 0.
 * @param password        that clients must give, as bytes; null: none.
 * @param timeoutNs       of an operation.
 * @param maxCommandBytes longest command that is kept.
 * @param maxOutputBytes  longest replies that may wait for one client.
 * @param tableCacheNs    how long the tables that names name are remembered.
 * @param isCluster       whether the node is one of several that clients see as a cluster.
 */
public record SessionSettings(
    String table, byte[] password, long timeoutNs, int maxCommandBytes, int maxOutputBytes, long tableCacheNs,
    boolean isCluster)
{
    /** Without the password. */
    @Override
    public String toString()
    {
        return "SessionSettings{table=" + table + ", hasPassword=" + (null != password) + ", timeoutNs=" + timeoutNs +
            ", maxCommandBytes=" + maxCommandBytes + ", maxOutputBytes=" + maxOutputBytes +
            ", isCluster=" + isCluster + '}';
    }
}
