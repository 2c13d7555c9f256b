package io.verbena.raas;

/**
 * Who a node is when it connects: what fencing goes by. It proves that by a secret where the server has a verifier, see
 * {@link RaasContext#serve(int, ConnectionAcceptor, java.util.function.Function, RpcHandler)}.
 *
 * @param nodeId      number of the node; 0 for a node that has not registered yet, and for a client.
 * @param incarnation number of its life; of those without a number 0 for a node, 1 for a client, 2 for the meta server.
 */
public record PeerIdentity(int nodeId, int incarnation)
{
    /** A node that has not registered yet. */
    public static final PeerIdentity UNREGISTERED = new PeerIdentity(0, 0);
    /** The meta server, towards memory nodes: it has no number, and proves who it is as a node does. */
    public static final PeerIdentity META_SERVER = new PeerIdentity(0, 2);
    /** A client: it never registers, and has no room among the nodes. */
    public static final PeerIdentity CLIENT = new PeerIdentity(0, 1);

    /** @return whether it says nothing that could be proved: of a client, or of a node that has not registered. */
    boolean isAnonymous()
    {
        return equals(CLIENT) || equals(UNREGISTERED);
    }

    @Override
    public String toString()
    {
        if (equals(META_SERVER))
        {
            return "meta server";
        }
        return equals(CLIENT) ? "client" : "node " + nodeId + " incarnation " + incarnation;
    }
}
