package io.verbena.meta.raft;

import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.ReplicatedState;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.CompletableFuture;

/**
 * When this member leads the group, and until when it may act on that. Leading begins with an entry of the log, which
 * gives it a number; with the next such entry it is over, whoever has heard of it.
 *
 * <p>A leader holds a lease: for a time from before it asked the group, and was answered that its leadership is the
 * latest one. Whoever leads next waits that time, and a quarter more for clocks that do not run alike, from when its
 * own entry was applied: the question was asked before that entry, so the lease is over. Only who led itself just
 * before need not wait; to have taken the leadership is not enough, since the one before that may still have a lease. A
 * lease that has run out is renewed by the next answer, since nobody has led meanwhile.
 *
 * <p>One thread; time comes in, but where a pause between the clock and what was seen would matter.
 */
public final class Leadership
{
    /** Renewals in the time of a lease. */
    private static final int RENEWALS_PER_LEASE = 4;
    /** The wait is longer than a lease by this part of it: clocks may drift apart by 10 %, and some more. */
    private static final int MARGIN_FRACTION = 4;
    private static final Logger LOGGER = LoggerFactory.getLogger(Leadership.class);

    /** Where it stands. */
    public enum State
    {
        /** Another member leads, or none. */
        FOLLOWING,
        /** Its entry is under way. */
        TAKING,
        /** It leads, and waits until the lease of the one before is over. */
        WAITING,
        /** It leads. */
        LEADING
    }

    private final GroupLog log;
    private final String member;
    private final NanoClock clock;
    private final long leaseNs;
    private State state = State.FOLLOWING;
    private long number;
    private String predecessor;
    /** The latest leadership under which this process was LEADING; 0: none. */
    private long lastLed;
    private CompletableFuture<Boolean> taking;
    private CompletableFuture<Long> renewal;
    private long askedNs;
    private long retryAtNs;
    private long readyAtNs;
    private boolean hasLease;
    private long leaseEndsNs;

    /**
     * @param log     of the group.
     * @param member  name of this one.
     * @param clock   of this one.
     * @param leaseNs of a leader; the same at all members.
     */
    public Leadership(final GroupLog log, final String member, final NanoClock clock, final long leaseNs)
    {
        this.log = log;
        this.member = member;
        this.clock = clock;
        this.leaseNs = leaseNs;
        retryAtNs = clock.nanoTime();
    }

    /**
     * One step.
     *
     * @param nowNs time now.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        return switch (state)
        {
            case FOLLOWING -> pollFollowing(nowNs);
            case TAKING -> pollTaking(nowNs);
            case WAITING, LEADING -> pollLeading(nowNs);
        };
    }

    private int pollFollowing(final long nowNs)
    {
        if (nowNs - retryAtNs < 0 || !log.mayLead())
        {
            return 0;
        }

        final ReplicatedState.Leadership present = log.state().leadership();
        number = present.number() + 1;
        predecessor = present.leader();
        askedNs = nowNs;
        taking = log.append(MetaCommand.takeLeadership(present.number(), member));
        state = State.TAKING;
        return 1;
    }

    private int pollTaking(final long nowNs)
    {
        if (!taking.isDone())
        {
            if (nowNs - askedNs > leaseNs * RENEWALS_PER_LEASE)
            {
                follow(nowNs, "the group does not answer");
            }

            return 0;
        }

        if (taking.isCompletedExceptionally() || !taking.join())
        {
            follow(nowNs, "another one was first, or the group cannot be reached");
            return 1;
        }

        // By a clock that is read after the entry was seen to be applied: this thread may have paused since nowNs.
        readyAtNs = clock.nanoTime() + (number - 1 == lastLed ? 0 : leaseNs + leaseNs / MARGIN_FRACTION);
        LOGGER.info("leadership {} taken by member {} after member '{}'", number, member, predecessor);
        state = State.WAITING;
        return 1 + pollLeading(nowNs);
    }

    private int pollLeading(final long nowNs)
    {
        int workCount = 0;

        if (!log.mayLead())
        {
            follow(nowNs, "the group follows it no longer");
            return 1;
        }

        if (null != renewal && renewal.isDone())
        {
            workCount++;
            final CompletableFuture<Long> answer = renewal;
            renewal = null;

            if (!answer.isCompletedExceptionally())
            {
                if (answer.join() != number)
                {
                    follow(nowNs, "leadership " + answer.join() + " has begun");
                    return workCount;
                }

                onConfirmed(askedNs);
            }
        }

        if (null != renewal && nowNs - askedNs > leaseNs)
        {
            renewal = null;
        }

        if (null == renewal && (!hasLease || nowNs - askedNs >= leaseNs / RENEWALS_PER_LEASE))
        {
            workCount++;
            askedNs = nowNs;
            renewal = log.latestLeadership();
        }

        if (State.WAITING == state && hasLease && nowNs - readyAtNs >= 0)
        {
            workCount++;
            state = State.LEADING;
            lastLed = number;
        }

        return workCount;
    }

    /**
     * The group has answered that this leadership is the latest one.
     *
     * @param sinceNs before it was asked.
     */
    void onConfirmed(final long sinceNs)
    {
        final long endsNs = sinceNs + leaseNs;

        if (!hasLease || endsNs - leaseEndsNs > 0)
        {
            hasLease = true;
            leaseEndsNs = endsNs;
        }
    }

    /**
     * Ends the leadership of this member, as far as it is concerned: it may take the next one.
     *
     * @param why one line.
     */
    public void resign(final String why)
    {
        if (State.FOLLOWING != state)
        {
            follow(clock.nanoTime(), why);
        }
    }

    private void follow(final long nowNs, final String why)
    {
        LOGGER.info("leadership {} of member {} is over: {}", number, member, why);
        state = State.FOLLOWING;
        hasLease = false;
        renewal = null;
        taking = null;
        retryAtNs = nowNs + leaseNs / RENEWALS_PER_LEASE;
    }

    /** @return whether it leads and may act on it at this moment. */
    public boolean isHeld()
    {
        return State.LEADING == state && leaseEndsNs - clock.nanoTime() > 0;
    }

    /** @return for how long it may act on it, if nobody answers meanwhile; 0 when it may not. */
    public long leaseLeftNs()
    {
        return State.LEADING == state ? Math.max(0, leaseEndsNs - clock.nanoTime()) : 0;
    }

    /** @return where it stands. */
    public State state()
    {
        return state;
    }

    /** @return of the leadership that it has, or had last. */
    public long number()
    {
        return number;
    }

    /** @return how long nothing is due by the clock. */
    public long idleNs()
    {
        final long pollNs = leaseNs / RENEWALS_PER_LEASE / 2;
        return State.WAITING == state ? Math.clamp(readyAtNs - clock.nanoTime(), 0, pollNs) : pollNs;
    }

    @Override
    public String toString()
    {
        return "Leadership{member=" + member + " state=" + state + " number=" + number + '}';
    }
}
