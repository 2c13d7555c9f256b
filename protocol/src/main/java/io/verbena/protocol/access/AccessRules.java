package io.verbena.protocol.access;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Who may do what, as of one version of the list of users. As long as there is no user everybody may do everything.
 * Immutable but for what {@link UserRights} remember, which one thread uses.
 */
public final class AccessRules
{
    /** Where nobody has to prove anything. */
    public static final AccessRules NONE = new AccessRules(null, 0, List.of(), Set.of(), null);
    private static final String PURPOSE = "user";
    private static final String LOGIN = "login";

    private final IdentitySecret clusterSecret;
    private final long version;
    private final String suspension;
    private final TreeMap<String, User> users = new TreeMap<>();
    private final Int2ObjectHashMap<User> byNumber = new Int2ObjectHashMap<>();
    private final Int2ObjectHashMap<UserRights> rights = new Int2ObjectHashMap<>();
    private final UserRights ofStrangers;
    private final UserRights ofSuspended;
    private final UserRights ofRevoked;
    private final IntHashSet revoked = new IntHashSet();

    private AccessRules(
        final IdentitySecret clusterSecret, final long version, final Collection<User> users,
        final Collection<Integer> revoked, final String suspension)
    {
        this.clusterSecret = clusterSecret;
        this.version = version;
        this.suspension = suspension;
        ofStrangers = new UserRights("", UserRights.NONE,
            "this cluster has users: connect as one of them, or with the cluster's token");
        ofSuspended = new UserRights("", UserRights.NONE, suspension);
        ofRevoked = new UserRights("", UserRights.NONE,
            "the certificate with which this user has logged in was revoked: log in with another one");
        this.revoked.addAll(revoked);
        for (final User user : users)
        {
            this.users.put(user.name(), user);
            final int number = user.identity().nodeId();
            byNumber.put(number, user);
            rights.put(number, new UserRights("user " + user.name(), user.grants(), null));
        }
    }

    /**
     * @param clusterSecret from which the secrets of operators and users are derived; null: there are none.
     * @param version       of the list.
     * @param users         all of them.
     * @return the rules.
     */
    public static AccessRules of(final IdentitySecret clusterSecret, final long version, final Collection<User> users)
    {
        return new AccessRules(clusterSecret, version, users, Set.of(), null);
    }

    /**
     * @param newVersion of the lists.
     * @param newUsers   all of them.
     * @return the rules of these users, in the same cluster, with the same certificates revoked.
     */
    public AccessRules with(final long newVersion, final Collection<User> newUsers)
    {
        return new AccessRules(clusterSecret, newVersion, newUsers, revoked, null);
    }

    /**
     * @param newVersion of the lists.
     * @param numbers    of all certificates that are revoked: whoever has logged in with one is nobody.
     * @return the rules of the same users.
     */
    public AccessRules revoking(final long newVersion, final Collection<Integer> numbers)
    {
        return new AccessRules(clusterSecret, newVersion, users.values(), numbers, null);
    }

    /**
     * @param why one line.
     * @return the same users, none of whom may do anything.
     */
    public AccessRules suspended(final String why)
    {
        return new AccessRules(clusterSecret, version, users.values(), revoked, why);
    }

    /** @return whether {@link #suspended}. */
    public boolean isSuspended()
    {
        return null != suspension;
    }

    /** @return version of the list of users. */
    public long version()
    {
        return version;
    }

    /** @return whether rights count: there is a user. */
    public boolean isEnforced()
    {
        return !users.isEmpty();
    }

    /** @return all users by name; read-only. */
    public Collection<User> users()
    {
        return Collections.unmodifiableCollection(users.values());
    }

    /**
     * @param name of a user.
     * @return the user, or null.
     */
    public User user(final String name)
    {
        return users.get(name);
    }

    /**
     * What a caller may do.
     *
     * @param caller as its connection proved; null: a part of this process.
     * @return null: everything.
     */
    public UserRights rights(final PeerIdentity caller)
    {
        if (null == caller || users.isEmpty() || provesToken(caller))
        {
            return null;
        }
        if (null != suspension)
        {
            return ofSuspended;
        }
        if (isRevoked(caller))
        {
            return ofRevoked;
        }
        final User user = byNumber.get(caller.nodeId());
        return null != user && user.generation() == caller.incarnation() ? rights.get(caller.nodeId()) : ofStrangers;
    }

    /**
     * Names a caller, for people.
     *
     * @param caller as its connection proved.
     * @return such as {@code user ann}.
     */
    public String nameOf(final PeerIdentity caller)
    {
        final User user = null == caller ? null : byNumber.get(caller.nodeId());
        return null == user ? String.valueOf(caller) :
            "user " + user.name() + (user.generation() == caller.incarnation() ? "" : ", with a secret of before");
    }

    private boolean isRevoked(final PeerIdentity identity)
    {
        return 0 != identity.login() && revoked.contains(identity.login());
    }

    /** A node that has not registered has the token as an operator has, where there is a secret to prove. */
    private boolean provesToken(final PeerIdentity identity)
    {
        return PeerIdentity.OPERATOR.equals(identity) ||
            null != clusterSecret && PeerIdentity.UNREGISTERED.equals(identity);
    }

    /**
     * What somebody who connects shares with all nodes of the cluster.
     *
     * @param identity of who connects.
     * @return null: nothing.
     */
    public IdentitySecret secretOf(final PeerIdentity identity)
    {
        if (null == clusterSecret || !identity.isUser() && !provesToken(identity))
        {
            return null;
        }
        if (!identity.isUser() || isRevoked(identity))
        {
            return identity.isUser() ? null : clusterSecret;
        }
        final IdentitySecret ofUser = clusterSecret.derive(PURPOSE, identity.nodeId(), identity.incarnation());
        return 0 == identity.login() ? ofUser : ofUser.derive(LOGIN, identity.nodeId(), identity.login());
    }

    @Override
    public String toString()
    {
        return "AccessRules{version=" + version + ", users=" + users.keySet() + ", suspension=" + suspension + '}';
    }
}
