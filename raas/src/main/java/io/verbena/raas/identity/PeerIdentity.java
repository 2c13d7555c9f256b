package io.verbena.raas.identity;

/**
 * Who a node is when it connects: what fencing goes by. It proves that by a secret where the server has a verifier, see
 * {@link io.verbena.raas.RaasContext#serve(int, ConnectionAcceptor, IdentityVerifier, RpcHandler)}.
 *
 * @param nodeId      number of the node; 0 for a node that has not registered yet, and for a client that names no user;
 *                    of a user its number and 65,536.
 * @param incarnation number of its life, or generation of a user's secret; of those without a number 0 for a node, 1
 *                    for a client, 2 for the meta server, 3 for an operator; 32 times the number of its certificate,
 *                    and the set of roles that this names, for who joins with one.
 * @param login       of a user: number of the certificate with which it has logged in; 0 for none, and for all others.
 */
public record PeerIdentity(int nodeId, int incarnation, int login)
{
    /** A node that has not registered yet. */
    public static final PeerIdentity UNREGISTERED = new PeerIdentity(0, 0);
    /** The meta server, towards memory nodes: it has no number, and proves who it is as a node does. */
    public static final PeerIdentity META_SERVER = new PeerIdentity(0, 2);
    /** A client: it never registers, and has no room among the nodes. */
    public static final PeerIdentity CLIENT = new PeerIdentity(0, 1);
    /** Who has the cluster's token, and proves that: may do whatever a client or an administrator may. */
    public static final PeerIdentity OPERATOR = new PeerIdentity(0, 3);
    /** Numbers of users begin here; those of nodes end before. */
    private static final int FIRST_USER = 0x10000;
    private static final int ROLES_BITS = 5;
    private static final int MAX_ROLES = (1 << ROLES_BITS) - 1;
    /** Number of a certificate, at most. */
    public static final int MAX_CERTIFICATE = (1 << 26) - 1;

    /** Of who has not logged in with a certificate. */
    public PeerIdentity(final int nodeId, final int incarnation)
    {
        this(nodeId, incarnation, 0);
    }

    /**
     * @param certificate number of the one with which this user logs in; 0: with none.
     * @return the user as it is known then: when the certificate is revoked, it is nobody any more.
     */
    public PeerIdentity withLogin(final int certificate)
    {
        return new PeerIdentity(nodeId, incarnation, certificate);
    }

    /**
     * A client that proves which user it is.
     *
     * @param number     of the user, 1 to 65,535.
     * @param generation of its secret, 1 or more: a user with another secret is another identity.
     * @return the identity.
     */
    public static PeerIdentity user(final int number, final int generation)
    {
        return new PeerIdentity(FIRST_USER + number, generation);
    }

    /**
     * A node that has not registered yet, or an operator, with a certificate that says what it may be.
     *
     * @param certificate number of it, 1 to {@link #MAX_CERTIFICATE}.
     * @param roles       set of them, 1 to 31.
     * @return the identity.
     */
    public static PeerIdentity joining(final int certificate, final int roles)
    {
        return new PeerIdentity(0, certificate << ROLES_BITS | roles);
    }

    /** @return the set of roles of {@link #joining}; 0: it is another identity, or no identity. */
    public int joiningRoles()
    {
        return certificate() == 0 ? 0 : incarnation & MAX_ROLES;
    }

    /** @return the number of the certificate of {@link #joining}; 0: it is another identity. */
    public int certificate()
    {
        return nodeId == 0 && incarnation > MAX_ROLES ? incarnation >>> ROLES_BITS : 0;
    }

    /** @return whether it is that of a user. */
    public boolean isUser()
    {
        return nodeId > FIRST_USER && nodeId < 2 * FIRST_USER;
    }

    /** @return number of the user; 0: it is another identity. */
    public int userNumber()
    {
        return isUser() ? nodeId - FIRST_USER : 0;
    }

    /** @return whether it is that of a client, of whatever kind. */
    public boolean isClient()
    {
        return isUser() || equals(CLIENT) || equals(OPERATOR);
    }

    /** @return whether there may be nothing to prove: of a client, or of a node that has not registered. */
    public boolean isAnonymous()
    {
        return equals(CLIENT) || equals(UNREGISTERED);
    }

    /** @return whether many processes may have it at once, none of which knows the numbers that others have used. */
    public boolean isShared()
    {
        return isUser() || nodeId == 0 && !equals(META_SERVER);
    }

    @Override
    public String toString()
    {
        if (equals(META_SERVER))
        {
            return "meta server";
        }
        if (isUser())
        {
            return "user " + userNumber() + " generation " + incarnation +
                (login == 0 ? "" : " with certificate " + login);
        }
        if (joiningRoles() > 0)
        {
            return "the holder of certificate " + certificate();
        }
        return equals(OPERATOR) ? "operator" : equals(UNREGISTERED) ? "unregistered node or operator" :
            equals(CLIENT) ? "client" : "node " + nodeId + " incarnation " + incarnation;
    }
}
