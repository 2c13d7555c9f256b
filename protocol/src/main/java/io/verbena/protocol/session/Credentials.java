package io.verbena.protocol.session;

import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.Registration;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.List;

/**
 * With what one registration proves who it is: its secret towards the meta server, a token towards each memory node. A
 * memory node derives with its own secret what it shares with whom. One thread.
 */
public final class Credentials
{
    private static final String TOKEN_PURPOSE = "compute node at a memory node";

    private final PeerIdentity identity;
    private final IdentitySecret secret;
    private final Int2ObjectHashMap<AdmissionToken> tokens = new Int2ObjectHashMap<>();
    private int newestToken;

    /** @param registration gave them. */
    public Credentials(final Registration registration)
    {
        identity = registration.identity();
        secret = registration.secret();
        add(registration.tokens());
    }

    /** @param newTokens by ascending incarnation of their memory nodes. */
    public void add(final List<AdmissionToken> newTokens)
    {
        for (final AdmissionToken token : newTokens)
        {
            tokens.put(token.nodeId(), token);
            newestToken = Math.max(newestToken, token.incarnation());
        }
    }

    /** @return highest incarnation of a memory node of which a token is here; 0 when there is none. */
    public int newestToken()
    {
        return newestToken;
    }

    /** @return whose they are. */
    public PeerIdentity identity()
    {
        return identity;
    }

    /**
     * @param peer to be connected to.
     * @return what proves the identity there; null for a memory node of which no token has come yet.
     */
    public IdentitySecret towards(final PeerAddress peer)
    {
        if (0 == peer.nodeId())
        {
            return secret;
        }
        final AdmissionToken token = tokens.get(peer.nodeId());
        return null == token || token.incarnation() != peer.incarnation() ? null : token.secret();
    }

    /**
     * What a memory node shares with who connects to it.
     *
     * @param caller claims to be that.
     * @return what proves it; null for who cannot prove anything.
     */
    public IdentitySecret ofCaller(final PeerIdentity caller)
    {
        if (PeerIdentity.META_SERVER.equals(caller))
        {
            return secret;
        }
        return caller.nodeId() < 1 ? null : token(secret, caller);
    }

    /**
     * Derives the token of a compute node for a memory node.
     *
     * @param memorySecret of the memory node's registration.
     * @param computeNode  registered.
     * @return the token's secret.
     */
    public static IdentitySecret token(final IdentitySecret memorySecret, final PeerIdentity computeNode)
    {
        return memorySecret.derive(TOKEN_PURPOSE, computeNode.nodeId(), computeNode.incarnation());
    }
}
