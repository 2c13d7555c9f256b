package io.verbena.meta.catalog;

import io.verbena.meta.membership.MetaLedger;
import io.verbena.meta.store.MetaBatch;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.User;
import io.verbena.raas.identity.IdentitySecret;

import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;

/**
 * The users by name; what it says is on disk. Each change has a version of the cluster, so that every node hears of it
 * with its next heartbeat. One thread, but for {@link #rules()}.
 */
public final class UserCatalog
{
    private final MetaLedger ledger;
    private final TreeMap<String, User> users = new TreeMap<>();
    private volatile AccessRules rules;

    /**
     * @param ledger        makes changes durable.
     * @param restored      what the store held at start.
     * @param clusterSecret from which the secrets of users are derived; null: none.
     */
    public UserCatalog(final MetaLedger ledger, final List<User> restored, final IdentitySecret clusterSecret)
    {
        this.ledger = ledger;
        restored.forEach((user) -> users.put(user.name(), user));
        // No older than the last change, and equal to what a node knows of it if nothing else has changed since.
        rules = AccessRules.of(clusterSecret, ledger.counters().membershipVersion(), users.values());
    }

    /** @return the users as they are now. Any thread. */
    public AccessRules rules()
    {
        return rules;
    }

    /** @return all users by name. */
    public Collection<User> users()
    {
        return rules.users();
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
     * @param number of a user.
     * @return the user, or null.
     */
    public User user(final int number)
    {
        for (final User user : users.values())
        {
            if (user.number() == number)
            {
                return user;
            }
        }
        return null;
    }

    /**
     * Adds a user, or changes the one of that name.
     *
     * @param user without a {@link User#problem()}; with its verifier, unless the one that is there stays. Number and
     *             generation are not regarded.
     * @return the user as it is then; null when it is new and there are {@link User#MAX_USERS} already.
     */
    public User put(final User user)
    {
        final User present = users.get(user.name());
        final int number = null == present ? freeNumber() : present.number();
        if (0 == number)
        {
            return null;
        }
        final long version = ledger.counters().withNextMembershipVersion().membershipVersion();
        final boolean isSecretNew = null == present || null != user.verifier();
        final User changed = new User(user.name(), number,
            isSecretNew ? (int)(version & Integer.MAX_VALUE) : present.generation(), version,
            isSecretNew ? user.verifier() : present.verifier(), user.grants(), user.quota());
        ledger.commit(ledger.counters().withNextMembershipVersion(), new MetaBatch().user(changed));
        users.put(changed.name(), changed);
        rules = rules.with(version, users.values());
        return changed;
    }

    /**
     * Removes a user.
     *
     * @param name of it.
     * @return whether it was there.
     */
    public boolean remove(final String name)
    {
        if (!users.containsKey(name))
        {
            return false;
        }
        ledger.commit(ledger.counters().withNextMembershipVersion(), new MetaBatch().removeUser(name));
        users.remove(name);
        rules = rules.with(ledger.counters().membershipVersion(), users.values());
        return true;
    }

    /**
     * Who has logged in with one of these certificates is nobody from now on.
     *
     * @param numbers of all certificates that are revoked, on disk by now.
     */
    public void revoked(final Collection<Integer> numbers)
    {
        rules = rules.revoking(ledger.counters().membershipVersion(), numbers);
    }

    private int freeNumber()
    {
        if (users.size() >= User.MAX_USERS)
        {
            return 0;
        }
        // That of a user that is gone may be given again: no other user ever has its generation.
        final BitSet taken = new BitSet();
        users.values().forEach((user) -> taken.set(user.number()));
        return taken.nextClearBit(1);
    }
}
