package io.verbena.meta;

import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipTable;
import io.verbena.meta.membership.MetaLedger;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.StoredSecrets;
import org.agrona.concurrent.EpochClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Begins the rounds of secrets: a secret is taken in the round that it was made for and in the next one, so that it is
 * of no use two rounds later. A round lasts half of that time, and begins once all nodes with a lease have the secrets
 * of the present one: whatever the clocks of servers say that took turns, no node is left behind. Clocks only bound how
 * long a round is. One thread.
 */
final class SecretRounds
{
    private static final Logger LOGGER = LoggerFactory.getLogger(SecretRounds.class);
    /** Who has had a lease for so many of its lengths was sent the secret often enough. */
    private static final int PATIENCE_LEASES = 4;

    private final MetaLedger ledger;
    private final MembershipTable members;
    private final RandomGenerator random;
    private final EpochClock wallClock;
    private final long roundNs;
    private StoredSecrets secrets;
    private long dueNs;

    /**
     * @param stored     as it is on disk.
     * @param lifetimeNs of a secret: of two rounds.
     * @param wallClock  to know how long a round has lasted under earlier servers.
     * @param nowNs      time now; a round lasts no longer than a whole one from here.
     */
    SecretRounds(
        final MetaLedger ledger, final MembershipTable members, final StoredSecrets stored, final long lifetimeNs,
        final RandomGenerator random, final EpochClock wallClock, final long nowNs)
    {
        this.ledger = ledger;
        this.members = members;
        this.random = random;
        this.wallClock = wallClock;
        secrets = stored;
        roundNs = lifetimeNs / 2;
        final long elapsedMs = wallClock.time() - stored.startedMs();
        dueNs = nowNs + roundNs - Math.clamp(TimeUnit.MILLISECONDS.toNanos(elapsedMs), 0, roundNs);
    }

    /** @return those of the present round; on disk. */
    StoredSecrets stored()
    {
        return secrets;
    }

    /** @return the present round. */
    int round()
    {
        return secrets.round();
    }

    /**
     * Begins the next round when it is due.
     *
     * @param nowNs time now.
     * @return work done.
     */
    int poll(final long nowNs)
    {
        if (nowNs - dueNs < 0 || !allHave() && nowNs - dueNs < PATIENCE_LEASES * members.leaseNs())
        {
            return 0;
        }
        final StoredSecrets next = secrets.next(random, wallClock.time());
        ledger.commit(new MetaBatch().secret(next));
        secrets = next;
        dueNs = nowNs + roundNs;
        LOGGER.info("secrets of nodes are renewed: round={}", next.round());
        return 1;
    }

    private boolean allHave()
    {
        return members.members().stream().allMatch((member) -> !member.isLive() || has(member));
    }

    /** @return the round whose secrets every memory node with a lease is known to have: this one or the one before. */
    int roundOfMemory()
    {
        return StoredSecrets.FIRST_ROUND == secrets.round() || members.members().stream()
            .allMatch((member) -> member.isCompute() || !member.isLive() || has(member)) ?
            secrets.round() : secrets.round() - 1;
    }

    /** @return whether it has said that it has all secrets of this round. */
    boolean has(final Member member)
    {
        return member.secretRound() == secrets.round();
    }
}
