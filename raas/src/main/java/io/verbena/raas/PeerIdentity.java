package io.verbena.raas;

/**
 * Who a node says it is when it connects: what fencing goes by.
 *
 * @param nodeId      number of the node; 0 for a node that has not registered yet.
 * @param incarnation number of its life.
 */
public record PeerIdentity(int nodeId, int incarnation)
{
    /** A node that has not registered yet. */
    public static final PeerIdentity UNREGISTERED = new PeerIdentity(0, 0);

    @Override
    public String toString()
    {
        return "node " + nodeId + " incarnation " + incarnation;
    }
}
