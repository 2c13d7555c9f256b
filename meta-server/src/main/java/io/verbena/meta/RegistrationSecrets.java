package io.verbena.meta;

import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipTable;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.session.Credentials;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;

import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Supplier;

/**
 * The secrets of registrations, all derived from that of the cluster: none is kept, and after a restart all are the
 * same. The secret of a registration is known to its node and here; from that of a memory node come the tokens of
 * compute nodes for it. One thread.
 */
final class RegistrationSecrets
{
    private static final String PURPOSE = "registration";
    private static final String JOINING = "joining";
    /** More come with the next heartbeats. */
    private static final int MAX_TOKENS = 160;

    private final IdentitySecret cluster;
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
        final IdentitySecret cluster, final MembershipTable members, final Supplier<AccessRules> users,
        final IdentitySecret ofToken, final boolean bindsRoles, final IntPredicate revoked)
    {
        this.revoked = revoked;
        this.bindsRoles = bindsRoles;
        this.users = users;
        this.ofToken = ofToken;
        this.cluster = cluster;
        this.members = members;
    }

    /** What proves an identity here; null for one that no registration can have. */
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
        return identity.nodeId() < 1 || identity.incarnation() < 1 ? null :
            cluster.derive(PURPOSE, identity.nodeId(), identity.incarnation());
    }

    /** The secret of a registration as it is sent to the node. */
    IdentitySecret sent(final PeerIdentity identity)
    {
        return Credentials.sentSecret(ofToken, identity, of(identity));
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
            cluster.derive(JOINING, 0, incarnation);
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

    /** What proves to a memory node that this is the meta server. */
    IdentitySecret towards(final PeerAddress memoryNode)
    {
        return of(new PeerIdentity(memoryNode.nodeId(), memoryNode.incarnation()));
    }

    /**
     * Tokens of a compute node for memory nodes that may let it in, as they are sent.
     *
     * @param holder            the compute node, registered; another node gets none.
     * @param afterIncarnation only for memory nodes with later registrations.
     * @return by ascending incarnation; the first of them.
     */
    List<AdmissionToken> tokens(final PeerIdentity holder, final int afterIncarnation)
    {
        final Member member = members.member(holder.nodeId());

        if (null == member || !member.isCompute() || members.newestMemoryIncarnation() <= afterIncarnation)
        {
            return List.of();
        }

        return members.members().stream()
            .filter((node) -> !node.isCompute() && node.incarnation() > afterIncarnation)
            .sorted(Comparator.comparingInt(Member::incarnation))
            .limit(MAX_TOKENS)
            .map((node) -> token(holder, new PeerIdentity(node.nodeId(), node.incarnation())))
            .toList();
    }

    private AdmissionToken token(final PeerIdentity holder, final PeerIdentity memoryNode)
    {
        return Credentials.sentToken(of(holder), new AdmissionToken(
            memoryNode.nodeId(), memoryNode.incarnation(), Credentials.token(of(memoryNode), holder)));
    }
}
