package io.verbena.meta;

import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipTable;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.protocol.session.Credentials;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;

import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Supplier;

/**
 * The secrets of registrations, all derived from those of the {@link SecretRounds}: none is kept, and after a restart
 * all are the same. The secret of a registration is known to its node and here; from that of a memory node come the
 * tokens of compute nodes for it. One thread.
 */
final class RegistrationSecrets
{
    private static final String PURPOSE = "registration";
    private static final String JOINING = "joining";
    /** More come with the next heartbeats. */
    private static final int MAX_TOKENS = 160;

    private final SecretRounds rounds;
    private final MembershipTable members;
    private final Supplier<AccessRules> users;
    private final IdentitySecret ofToken;
    private final boolean bindsRoles;
    private final IntPredicate revoked;

    /**
     * @param users   from whom the secrets of clients come.
     * @param ofToken what nodes prove before they have registered, and operators; null: nothing.
     * @param bindsRoles whether that is not enough without {@link #joining}.
     * @param revoked    says of a certificate's number whether nobody joins by it any more. Any thread.
     */
    RegistrationSecrets(
        final SecretRounds rounds, final MembershipTable members, final Supplier<AccessRules> users,
        final IdentitySecret ofToken, final boolean bindsRoles, final IntPredicate revoked)
    {
        this.revoked = revoked;
        this.bindsRoles = bindsRoles;
        this.users = users;
        this.ofToken = ofToken;
        this.rounds = rounds;
        this.members = members;
    }

    /** What proves an identity here, in this round; null for one that no registration can have. */
    IdentitySecret of(final PeerIdentity identity)
    {
        if (PeerIdentity.UNREGISTERED.equals(identity))
        {
            return ofToken;
        }
        if (identity.certificate() > 0)
        {
            return 0 == identity.joiningRoles() ? null : joining(identity.incarnation());
        }
        if (identity.isClient())
        {
            return users.get().secretOf(identity);
        }
        return derived(rounds.stored().latest(), identity);
    }

    /** As above, of a registration in the round before; null in the first one, and for who has not registered. */
    IdentitySecret before(final PeerIdentity identity)
    {
        return null == rounds.stored().before() ? null : derived(rounds.stored().before(), identity);
    }

    private static IdentitySecret derived(final IdentitySecret ofRound, final PeerIdentity identity)
    {
        return identity.isClient() || identity.nodeId() < 1 || identity.incarnation() < 1 ? null :
            ofRound.derive(PURPOSE, identity.nodeId(), identity.incarnation());
    }

    /** The secret of a registration as it is sent to the node. */
    RegistrationSecret sent(final PeerIdentity identity)
    {
        return Credentials.sentSecret(
            ofToken, identity, new RegistrationSecret(rounds.round(), of(identity), before(identity)));
    }

    /**
     * What a node with a lease has not of this round, and that it has all.
     *
     * @param member that asks.
     * @param held   what it has.
     * @param tokens that it gets with the answer.
     * @return what proves its registration, as it is sent; null: it has the latest.
     */
    RegistrationSecret renewed(final Member member, final HeldSecrets held, final List<AdmissionToken> tokens)
    {
        if (held.round() != rounds.round())
        {
            return sent(new PeerIdentity(member.nodeId(), member.incarnation()));
        }
        if (!member.isCompute() || tokens.isEmpty() && roundOfTokens(held) == rounds.round())
        {
            member.secretRound(rounds.round());
        }
        return null;
    }

    /**
     * What proves that somebody joins by a certificate; a restart changes it as little as the others. Any thread.
     *
     * @param incarnation of the identity with which it does.
     * @return null: the certificate is revoked.
     */
    IdentitySecret joining(final int incarnation)
    {
        return revoked.test(new PeerIdentity(0, incarnation).certificate()) ? null :
            rounds.stored().joining().derive(JOINING, 0, incarnation);
    }

    /** @return whether a certificate of this number is revoked. */
    boolean isRevoked(final int certificate)
    {
        return revoked.test(certificate);
    }

    /** @return whether there is something that nodes and operators prove. */
    boolean isGuarded()
    {
        return null != ofToken;
    }

    /** @return whether certificates say which node may be what. */
    boolean bindsRoles()
    {
        return bindsRoles;
    }

    /** What proves to a memory node that this is the meta server: one that it is known to have. */
    IdentitySecret towards(final PeerAddress memoryNode)
    {
        final Member member = members.member(memoryNode.nodeId());
        return ofRound(new PeerIdentity(memoryNode.nodeId(), memoryNode.incarnation()),
            null != member && rounds.has(member) ? rounds.round() : rounds.round() - 1);
    }

    /** In this round or the one before; of a round before the first in the first. */
    private IdentitySecret ofRound(final PeerIdentity identity, final int round)
    {
        return round < rounds.round() && null != rounds.stored().before() ? before(identity) : of(identity);
    }

    /**
     * Tokens of a compute node for memory nodes that may let it in, as they are sent.
     *
     * @param holder            the compute node, registered; another node gets none.
     * @param held             what it has of them.
     * @return by ascending incarnation; the first of them that it has not.
     */
    List<AdmissionToken> tokens(final PeerIdentity holder, final HeldSecrets held)
    {
        final Member member = members.member(holder.nodeId());
        final int round = roundOfTokens(held);
        final int afterIncarnation = round == held.tokensRound() ? held.newestToken() : 0;

        if (null == member || !member.isCompute() || members.newestMemoryIncarnation() <= afterIncarnation)
        {
            return List.of();
        }

        return members.members().stream()
            .filter((node) -> !node.isCompute() && node.incarnation() > afterIncarnation)
            .sorted(Comparator.comparingInt(Member::incarnation))
            .limit(MAX_TOKENS)
            .map((node) -> token(holder, new PeerIdentity(node.nodeId(), node.incarnation()), round))
            .toList();
    }

    /** That of the round before until all memory nodes have heard of this one; no holder goes back. */
    private int roundOfTokens(final HeldSecrets held)
    {
        return held.tokensRound() == rounds.round() ? rounds.round() : rounds.roundOfMemory();
    }

    private AdmissionToken token(final PeerIdentity holder, final PeerIdentity memoryNode, final int round)
    {
        return Credentials.sentToken(of(holder), new AdmissionToken(memoryNode.nodeId(), memoryNode.incarnation(),
            round, Credentials.token(ofRound(memoryNode, round), holder)));
    }
}
