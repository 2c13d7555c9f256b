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
    private static final String SENT_SECRET = "sent secret of a registration";
    private static final String SENT_TOKEN = "sent token for a memory node";

    private final PeerIdentity identity;
    private final IdentitySecret secret;
    private final Int2ObjectHashMap<AdmissionToken> tokens = new Int2ObjectHashMap<>();
    private int newestToken;

    /** Of a cluster without a token. */
    public Credentials(final Registration registration)
    {
        this(registration, null);
    }

    /**
     * @param registration gave them.
     * @param ofToken      what the node had proved to register; null: nothing.
     */
    public Credentials(final Registration registration, final IdentitySecret ofToken)
    {
        identity = registration.identity();
        secret = sentSecret(ofToken, identity, registration.secret());
        add(registration.tokens());
    }

    /**
     * Hides the secret of a registration on its way to the node, or shows it there: packets can be read, and what a
     * node proves to register is not in them.
     *
     * @param ofToken  what nodes prove to register; null: nothing, and the secret is sent as it is.
     * @param identity registered.
     * @param secret   of it, as it is or as it is sent.
     * @return the other one.
     */
    public static IdentitySecret sentSecret(
        final IdentitySecret ofToken, final PeerIdentity identity, final IdentitySecret secret)
    {
        return null == ofToken ? secret :
            ofToken.mask(SENT_SECRET, identity.nodeId(), identity.incarnation(), secret);
    }

    /**
     * Hides a token on its way to its holder, or shows it there.
     *
     * @param holderSecret of the holder's registration.
     * @param token        as it is or as it is sent.
     * @return the other one.
     */
    public static AdmissionToken sentToken(final IdentitySecret holderSecret, final AdmissionToken token)
    {
        return new AdmissionToken(token.nodeId(), token.incarnation(),
            holderSecret.mask(SENT_TOKEN, token.nodeId(), token.incarnation(), token.secret()));
    }

    /** @param newTokens as they are sent, by ascending incarnation of their memory nodes. */
    public void add(final List<AdmissionToken> newTokens)
    {
        for (final AdmissionToken sent : newTokens)
        {
            final AdmissionToken token = sentToken(secret, sent);
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
