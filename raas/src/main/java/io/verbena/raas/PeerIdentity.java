package io.verbena.raas;

/**
 * Who a node says it is when it connects: what fencing goes by.
 *
 * @param nodeId      number of the node; 0 for a node that has not registered yet, and for a client.
 * @param incarnation number of its life; of those without a number 0 for a node, 1 for a client.
 */
public record PeerIdentity(int nodeId, int incarnation)
{
    /** A node that has not registered yet. */
    public static final PeerIdentity UNREGISTERED = new PeerIdentity(0, 0);
    /** A client: it never registers, and has no room among the nodes. */
    public static final PeerIdentity CLIENT = new PeerIdentity(0, 1);

    @Override
    public String toString()
    {
        return equals(CLIENT) ? "client" : "node " + nodeId + " incarnation " + incarnation;
    }
}
