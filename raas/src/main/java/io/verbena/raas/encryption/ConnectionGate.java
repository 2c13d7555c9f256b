package io.verbena.raas.encryption;

import io.verbena.raas.identity.ConnectionClaim;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.IdentityVerifier;
import io.verbena.raas.identity.NonceWindows;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.RecentNonces;
import io.verbena.raas.usage.EncryptionUse;

import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * What a server checks of a request to connect before anybody is asked whether it may: that the peer has the secret of
 * the identity that it claims, and that messages are encrypted where they have to be. One owner thread.
 */
public final class ConnectionGate
{
    /** What is refused: a connection. */
    public static final String IN_CLEAR = "connection in clear";
    /** What is refused: a message. */
    public static final String MESSAGE = "message that its end of an encrypted connection has not sealed next";

    private final IdentityVerifier verifier;
    private final NonceWindows nonces = new NonceWindows();
    private final RecentNonces sharedNonces = new RecentNonces();
    private Predicate<PeerIdentity> encrypted = (_) -> false;
    private BiConsumer<PeerIdentity, String> refusals = (_, _) -> { };
    private IdentitySecret proved;
    private long refusedProofs;
    private String lastRefusedProof = "";
    private long refusedInClear;
    private long refusedMessages;

    /** @param verifier gives the secrets of an identity, or null where there is none; null: identities are claims. */
    public ConnectionGate(final IdentityVerifier verifier)
    {
        this.verifier = verifier;
    }

    /**
     * @param ofWhom    whose connections are to be encrypted; of nobody at first.
     * @param onRefused hears who was refused because of encryption, and what, one text for each kind.
     */
    public void encryption(final Predicate<PeerIdentity> ofWhom, final BiConsumer<PeerIdentity, String> onRefused)
    {
        encrypted = ofWhom;
        refusals = onRefused;
    }

    /**
     * @param claim      what the peer claims.
     * @param proof      of it, as it came.
     * @param encryption that is asked for, 0: none.
     * @param source     of the request, for people.
     * @return why the peer is not connected, for people; null where it may be.
     */
    public String refusal(
        final ConnectionClaim claim, final byte[] proof, final int encryption, final Object source)
    {
        final PeerIdentity identity = new PeerIdentity(claim.nodeId(), claim.incarnation(), claim.login());
        if (!isProved(identity, claim, proof))
        {
            refusedProofs++;
            lastRefusedProof = "connection from " + source + " does not prove to be " + identity;
            return identity + " did not prove that it is that: its registration is over, not known here yet, or " +
                "somebody else's";
        }
        if (encryption == 0 && encrypted.test(identity))
        {
            refusedInClear++;
            refusals.accept(identity, IN_CLEAR);
            return "only encrypted connections are taken here: give --encrypt, or VERBENA_ENCRYPT=true";
        }
        if (encryption != 0 && encryption != SealedMessageDescriptor.AES_128_GCM &&
            encryption != SealedMessageDescriptor.IN_SEALED_PACKETS)
        {
            return "encryption " + encryption + " is not known here: update the older of the two nodes";
        }
        return encryption != 0 && proved == null ?
            "encryption takes keys, and " + identity + " proves nothing: give the cluster's token or a user" : null;
    }

    /** Whether the peer has the secret of the identity that it claims, and this request was not here before. */
    private boolean isProved(final PeerIdentity identity, final ConnectionClaim claim, final byte[] proof)
    {
        if (claim.login() != 0 && !identity.isUser())
        {
            return false;
        }
        proved = verifier == null ? null : verifier.secret(identity);
        if (proved == null)
        {
            return verifier == null || identity.isAnonymous();
        }
        if (!claim.isProvedBy(proved, proof))
        {
            proved = verifier.secretBefore(identity);
        }
        // The number last: who has not proved it uses none up.
        return proved != null && claim.isProvedBy(proved, proof) && (identity.isShared() ?
            sharedNonces.use(claim.nonce()) :
            nonces.use(identity.nodeId(), identity.incarnation(), claim.nonce()));
    }

    /** @return what proved the request that was not refused last, and what its keys follow from; null: nothing. */
    public IdentitySecret proved()
    {
        return proved;
    }

    /** A message of an encrypted connection of this identity did not open. */
    public void onRefusedMessage(final PeerIdentity identity)
    {
        refusedMessages++;
        refusals.accept(identity, MESSAGE);
    }

    /** @return connections refused so far because of their proof. */
    public long refusedProofs()
    {
        return refusedProofs;
    }

    /** @return who was refused last so, one line; empty when nobody was. */
    public String lastRefusedProof()
    {
        return lastRefusedProof;
    }

    /** @return with so many encrypted connections now, how they are used. */
    public EncryptionUse encryption(final int connections)
    {
        return new EncryptionUse(connections, refusedInClear, refusedMessages);
    }
}
