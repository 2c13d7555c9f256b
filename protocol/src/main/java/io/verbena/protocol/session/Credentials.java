package io.verbena.protocol.session;

import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.List;

/**
 * With what one registration proves who it is: its secret towards the meta server, a token towards each memory node. A
 * memory node derives with its own secret what it shares with whom. Secrets belong to rounds: heartbeats bring those of
 * a new one, and what follows from the round before is taken as well. One thread.
 */
public final class Credentials
{
    private static final String TOKEN_PURPOSE = "compute node at a memory node";
    private static final String SENT_SECRET = "sent secret of a registration";
    private static final String SENT_TOKEN = "sent token for a memory node";

    private final PeerIdentity identity;
    private final IdentitySecret ofToken;
    private final Int2ObjectHashMap<AdmissionToken> tokens = new Int2ObjectHashMap<>();
    private RegistrationSecret secret;
    private int tokensRound;
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
        this.ofToken = ofToken;
        identity = registration.identity();
        secret = sentSecret(ofToken, identity, registration.secret());
        add(registration.tokens());
    }

    /**
     * Hides the secret of a registration on its way to the node, or shows it there: packets can be read, and what a
     * node proves to register is not in them. Who has stolen the secret of one round cannot read that of the next.
     *
     * @param ofToken  what nodes prove to register; null: nothing, and the secret is sent as it is.
     * @param identity registered.
     * @param secret   of it, as it is or as it is sent.
     * @return the other one.
     */
    public static RegistrationSecret sentSecret(
        final IdentitySecret ofToken, final PeerIdentity identity, final RegistrationSecret secret)
    {
        return null == ofToken ? secret : new RegistrationSecret(
            secret.round(),
            maskedSecret(ofToken, identity, secret.round(), secret.latest()),
            null == secret.before() ? null :
                maskedSecret(ofToken, identity, secret.round() - 1, secret.before()));
    }

    /** What hides it is never used for another secret: else who knows one had the other. */
    private static IdentitySecret maskedSecret(
        final IdentitySecret ofToken, final PeerIdentity identity, final int round, final IdentitySecret secret)
    {
        return ofToken.mask(inRound(SENT_SECRET, round), identity.nodeId(), identity.incarnation(), secret);
    }

    private static String inRound(final String purpose, final int round)
    {
        return purpose + " in round " + round;
    }

    /**
     * Hides a token on its way to its holder, or shows it there.
     *
     * @param holderSecret of the holder's registration, the latest.
     * @param token        as it is or as it is sent.
     * @return the other one.
     */
    public static AdmissionToken sentToken(final IdentitySecret holderSecret, final AdmissionToken token)
    {
        return new AdmissionToken(token.nodeId(), token.incarnation(), token.round(), holderSecret.mask(
            inRound(SENT_TOKEN, token.round()), token.nodeId(), token.incarnation(), token.secret()));
    }

    /** @param heartbeat brought what this node had not. */
    public void renew(final Heartbeat heartbeat)
    {
        if (null != heartbeat.renewed())
        {
            secret = sentSecret(ofToken, identity, heartbeat.renewed());
        }
        add(heartbeat.tokens());
    }

    /** As they are sent: hidden by the latest secret, by ascending incarnation of their memory nodes. */
    private void add(final List<AdmissionToken> newTokens)
    {
        for (final AdmissionToken sent : newTokens)
        {
            final AdmissionToken token = sentToken(secret.latest(), sent);
            tokens.put(token.nodeId(), token);
            // The first part of a round: the rest is still to come.
            newestToken = token.round() == tokensRound ? Math.max(newestToken, token.incarnation()) :
                token.incarnation();
            tokensRound = token.round();
        }
    }

    /** @return what is here. */
    public HeldSecrets held()
    {
        return new HeldSecrets(secret.round(), tokensRound, newestToken);
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
            return secret.latest();
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
        return ofCaller(caller, secret.latest());
    }

    /**
     * As above, of the round before: who connects may not have heard of this one.
     *
     * @param caller claims to be that.
     * @return null: nothing.
     */
    public IdentitySecret ofCallerBefore(final PeerIdentity caller)
    {
        return null == secret.before() ? null : ofCaller(caller, secret.before());
    }

    private static IdentitySecret ofCaller(final PeerIdentity caller, final IdentitySecret own)
    {
        if (PeerIdentity.META_SERVER.equals(caller))
        {
            return own;
        }
        return caller.nodeId() < 1 ? null : token(own, caller);
    }

    /**
     * Derives the token of a compute node for a memory node.
     *
     * @param memorySecret of the memory node's registration, of one round.
     * @param computeNode  registered.
     * @return the token's secret.
     */
    public static IdentitySecret token(final IdentitySecret memorySecret, final PeerIdentity computeNode)
    {
        return memorySecret.derive(TOKEN_PURPOSE, computeNode.nodeId(), computeNode.incarnation());
    }
}
