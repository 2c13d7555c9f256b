package io.verbena.protocol.access;

import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

/**
 * A user as the meta server keeps it.
 *
 * @param name       see {@link #problem}.
 * @param number     1 to 65,535, of no other user that there is.
 * @param generation when it got its secret: a version of the cluster, so that it was never that of another secret.
 * @param revision   when it was changed last: a version of the cluster; 0 for one that is new.
 * @param verifier   of its secret; null where that is not to be known, or stays.
 * @param grants     its rights, {@link #MAX_GRANTS} at most.
 * @param quota      how much it may ask for.
 */
public record User(
    String name, int number, int generation, long revision, SecretVerifier verifier, List<Grant> grants,
    UserQuota quota)
{
    /** Users of a cluster. */
    public static final int MAX_USERS = 1_000;
    /** Grants of a user. */
    public static final int MAX_GRANTS = 16;
    /** Longest name, in characters, all of them ASCII. */
    public static final int MAX_NAME_LENGTH = 64;
    /** Longest prefix of a grant. */
    public static final int MAX_PREFIX_BYTES = 64;
    private static final int MAX_TABLE_LENGTH = 128;

    /** A user without a quota. */
    public User(
        final String name, final int number, final int generation, final long revision, final SecretVerifier verifier,
        final List<Grant> grants)
    {
        this(name, number, generation, revision, verifier, grants, UserQuota.NONE);
    }

    /**
     * Says what is wrong with a name: letters, digits, '_', '-' and '.' are good, not one of the last two at first. So
     * is not {@code default}, as clients of Redis call who has named no user.
     *
     * @param name to be checked; may be null.
     * @return one line, or null when it is good.
     */
    public static String problem(final String name)
    {
        boolean isGood = null != name && !name.isEmpty() && name.length() <= MAX_NAME_LENGTH &&
            !"default".equalsIgnoreCase(name);
        for (int i = 0; isGood && i < name.length(); i++)
        {
            final char letter = name.charAt(i);
            isGood = letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' ||
                letter >= '0' && letter <= '9' || '_' == letter || i > 0 && ('-' == letter || '.' == letter);
        }
        return isGood ? null : "user name '" + shown(name) + "' is not allowed: use 1 to " + MAX_NAME_LENGTH +
            " letters, digits, '_', '-' or '.', not beginning with '-' or '.', and not 'default'";
    }

    /** @return what is wrong with it, one line; null when nothing is. */
    public String problem()
    {
        if (null != problem(name))
        {
            return problem(name);
        }
        if (grants.size() > MAX_GRANTS)
        {
            return "user '" + name + "' would have " + grants.size() + " grants: " + MAX_GRANTS + " are possible; " +
                "give a right on all tables, or on fewer";
        }
        for (final Grant grant : grants)
        {
            final int length = grant.table().length();
            if (grant.rights() < 1 || grant.rights() > TableRight.ALL || length < 1 || length > MAX_TABLE_LENGTH ||
                !grant.table().chars().allMatch((letter) -> letter > ' ' && letter < 0x7F))
            {
                return "grant of rights " + grant.rights() + " on table '" + shown(grant.table()) + "' is not possible";
            }
            if (grant.prefix().length > MAX_PREFIX_BYTES)
            {
                return "prefix of a key has " + grant.prefix().length + " bytes: at most " + MAX_PREFIX_BYTES;
            }
        }
        return quota.problem();
    }

    private static String shown(final String name)
    {
        final String text = String.valueOf(name);
        return text.substring(0, Math.min(text.length(), MAX_TABLE_LENGTH)).replaceAll("[^ -~]", "?");
    }

    /** @return the identity that its connections prove. */
    public PeerIdentity identity()
    {
        return PeerIdentity.user(number, generation);
    }

    /**
     * @param table its name, there or not.
     * @return whether the user may make and drop it.
     */
    public boolean administers(final String table)
    {
        return grants.stream().anyMatch((grant) -> 0 != (grant.rights() & TableRight.ADMIN.bit()) && grant.isOf(table));
    }

    /** @return the same without what its secret could be guessed with. */
    public User withoutVerifier()
    {
        return new User(name, number, generation, revision, null, grants, quota);
    }

    /** @return the same with other rights. */
    public User withGrants(final List<Grant> newGrants)
    {
        return new User(name, number, generation, revision, verifier, List.copyOf(newGrants), quota);
    }

    /** @return the same with another quota. */
    public User withQuota(final UserQuota newQuota)
    {
        return new User(name, number, generation, revision, verifier, grants, newQuota);
    }

    /** @return the same with another secret; null: the one that the meta server has stays. */
    public User withVerifier(final SecretVerifier newVerifier)
    {
        return new User(name, number, generation, revision, newVerifier, grants, quota);
    }
}
