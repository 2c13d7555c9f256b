package io.verbena.meta.store;

import io.verbena.raas.identity.IdentitySecret;

import java.util.random.RandomGenerator;

/**
 * From what the secrets of a cluster's nodes are derived. Those of registrations belong to a round: each has a secret
 * that does not follow from another one's, and the one of the round before is taken as well.
 *
 * @param joining   those of certificates; the same in all rounds.
 * @param round     1 or more.
 * @param startedMs when the round began, in milliseconds of the epoch, by the clock of who led then; 0: not known.
 * @param latest    those of registrations, in this round.
 * @param before    in the round before; null in the first one.
 */
public record StoredSecrets(
    IdentitySecret joining, int round, long startedMs, IdentitySecret latest, IdentitySecret before)
{
    /** The first round of a cluster. */
    public static final int FIRST_ROUND = 1;

    /**
     * @param joining   of a cluster.
     * @param startedMs as above.
     * @return its first round.
     */
    public static StoredSecrets first(final IdentitySecret joining, final long startedMs)
    {
        return new StoredSecrets(joining, FIRST_ROUND, startedMs, joining, null);
    }

    /**
     * @param random that nobody can guess.
     * @param nowMs  time now, in milliseconds of the epoch.
     * @return the next round.
     */
    public StoredSecrets next(final RandomGenerator random, final long nowMs)
    {
        return new StoredSecrets(joining, round + 1, nowMs, IdentitySecret.random(random), latest);
    }
}
