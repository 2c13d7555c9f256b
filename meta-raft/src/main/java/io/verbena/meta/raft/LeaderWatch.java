package io.verbena.meta.raft;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Has a follower stand for election as soon as the process of its leader has ended. By itself the library lets a whole
 * election timeout pass in which it hears nothing, and up to twice as much, since it looks once in such a time. But the
 * host of a process that has ended refuses connections to its port, and does so at once: a follower that has missed a
 * heartbeat asks there. A leader that stands still, or whose host is gone, refuses nothing: the timeout decides.
 *
 * <p>A packet filter may refuse connections, too, and then a leader that lives is replaced. That is as safe as every
 * election, and rare: a follower stands so once in each term, and only when a majority with itself accepts connections,
 * because a candidate that nobody votes for goes on to raise its term. Of two followers that see it at the same time
 * one waits, as they would share the votes. A thread of its own, until it is closed.
 */
final class LeaderWatch implements AutoCloseable
{
    /** Heartbeats come in half of the shortest election timeout; after this time one is late. */
    static final long LATE_MS = RaftMember.ELECTION_MIN_MS / 2 + 50;
    /** Between the first follower that may stand, and the next one, where the first has not: it may have ended, too. */
    static final long TURN_MS = 150;

    private static final Logger LOGGER = LoggerFactory.getLogger(LeaderWatch.class);
    private static final long NAP_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int CONNECT_TIMEOUT_MS = 100;
    private static final long CLOSE_WAIT_MS = 1_000;

    /**
     * What a follower knows at one moment.
     *
     * @param leader    name of the member that it follows.
     * @param term      in which that leads.
     * @param silentMs  since it was heard of.
     * @param addresses of all present members, HOST:PORT, by name; a leader that was removed is not among them.
     */
    record Following(String leader, long term, long silentMs, SortedMap<String, String> addresses)
    {
    }

    /** The member that is to stand. */
    interface Follower
    {
        /** @return whom it follows; null: nobody. */
        Following following();

        /**
         * Stands for election.
         *
         * @param following what it has found; another leader may be known by now.
         * @return whether it does.
         */
        boolean stand(Following following) throws IOException;
    }

    private final String name;
    private final Follower follower;
    private final Thread thread;
    private volatile boolean isClosed;
    private volatile long elections;
    private long stoodInTerm = -1;

    /**
     * @param name     of the member.
     * @param follower the member; used by the thread of this.
     */
    LeaderWatch(final String name, final Follower follower)
    {
        this.name = name;
        this.follower = follower;
        thread = Thread.ofPlatform().daemon().name("verbena-leader-watch").unstarted(this::run);
    }

    /** Begins to watch; closed before the member. Returns this. */
    LeaderWatch start()
    {
        thread.start();
        return this;
    }

    /** Elections in which the member has stood because its leader's process had ended. */
    long elections()
    {
        return elections;
    }

    private void run()
    {
        while (!isClosed)
        {
            try
            {
                LockSupport.parkNanos(look());
            }
            catch (final IOException | RuntimeException ex)
            {
                LOGGER.debug("no look at the leader of member {}: the election timeout decides", name, ex);
                LockSupport.parkNanos(NAP_NS);
            }
        }
    }

    /** One look; returns after how many nanoseconds another one may find something. */
    long look() throws IOException
    {
        final Following following = follower.following();
        if (null != following && following.term != stoodInTerm && isTurn(following) &&
            refuses(following.addresses.get(following.leader)))
        {
            standWithMajority(following);
        }
        return null == following ? NAP_NS :
            Math.max(NAP_NS, TimeUnit.MILLISECONDS.toNanos(LATE_MS - following.silentMs));
    }

    private void standWithMajority(final Following following) throws IOException
    {
        final long reached = 1 + following.addresses.entrySet().stream()
            .filter((member) -> !member.getKey().equals(following.leader) && !member.getKey().equals(name))
            .filter((member) -> accepts(member.getValue())).count();
        if (!isClosed && reached > following.addresses.size() / 2)
        {
            stoodInTerm = following.term;
            if (follower.stand(following))
            {
                elections++;
                LOGGER.info("member {} stands for election: leader {} was heard of {} ms ago, and its port refuses " +
                    "connections", name, following.leader, following.silentMs);
            }
        }
    }

    /** By name: members whose leader has ended each know the same. */
    private boolean isTurn(final Following following)
    {
        final long before = following.addresses.headMap(name).keySet().stream()
            .filter((member) -> !member.equals(following.leader)).count();
        return following.silentMs >= LATE_MS + TURN_MS * before;
    }

    private static boolean refuses(final String address)
    {
        return null != address && !connects(address, true);
    }

    private static boolean accepts(final String address)
    {
        return connects(address, false);
    }

    /** Whether a connection is accepted; {@code otherwise} where it is neither accepted nor refused in time. */
    private static boolean connects(final String address, final boolean otherwise)
    {
        final int colon = address.lastIndexOf(':');
        try (Socket socket = new Socket())
        {
            socket.connect(new InetSocketAddress(
                address.substring(0, colon), Integer.parseInt(address.substring(colon + 1))), CONNECT_TIMEOUT_MS);
            return true;
        }
        catch (final ConnectException ex)
        {
            return false;
        }
        catch (final IOException ex)
        {
            return otherwise;
        }
    }

    /** Waits for a look that is under way, for a second at most: a name may take long to look up. */
    @Override
    public void close()
    {
        isClosed = true;
        LockSupport.unpark(thread);
        try
        {
            thread.join(CLOSE_WAIT_MS);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
