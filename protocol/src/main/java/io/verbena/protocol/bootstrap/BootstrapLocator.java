package io.verbena.protocol.bootstrap;

import io.verbena.raas.PeerAddress;

import org.agrona.concurrent.SystemNanoClock;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Finds the meta server by the handshake at the cluster's address, on a virtual thread: when somebody says that it
 * cannot be reached. Each address is asked until one answers, for 5 s at most: a single one may be that of a member of
 * a group which leads again only later. Of a group, those are asked, too, that it named in its last answer, and as long
 * as calls are made it is asked every 20 to 40 s who its members are. Thread-safe; needs no closing.
 */
public final class BootstrapLocator implements MetaServerLocator
{
    /**
     * A group that elects a leader has none for some seconds, and whoever asks again only when its next call has
     * failed, over the connection to a leader that stands still, asks too seldom for a lease of 5 s.
     */
    private static final int TIMEOUT_MS = 5_000;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    /** From one answer of a group to the next question: so long at least, and at most twice as long. */
    private static final long REFRESH_NS = TimeUnit.SECONDS.toNanos(20);

    private final ClusterAddress cluster;
    private final BootstrapSecret token;
    private final AccessTicket nodeTicket;
    private final AccessTicket clientTicket;
    private final long refreshNs;
    private final AtomicBoolean isAsking = new AtomicBoolean();
    private volatile BootstrapAnswer last;
    private volatile long refreshAtNs;
    private volatile AccessTicket joiningTicket;
    private volatile String failure = "";

    /**
     * @param cluster where to ask.
     * @param token   of the cluster, or the secret of a user.
     * @param first   what it answered first.
     */
    public BootstrapLocator(final ClusterAddress cluster, final BootstrapSecret token, final BootstrapAnswer first)
    {
        this(cluster, token, first, REFRESH_NS);
    }

    BootstrapLocator(
        final ClusterAddress cluster, final BootstrapSecret token, final BootstrapAnswer first, final long refreshNs)
    {
        this.refreshNs = refreshNs;
        this.cluster = cluster;
        this.token = token;
        nodeTicket = token.nodeTicket();
        joiningTicket = token.joiningTicket(first);
        clientTicket = token.clientTicket(first);
        onAnswer(first);
    }

    @Override
    public PeerAddress address()
    {
        return last.metaServer();
    }

    @Override
    public void onCall()
    {
        if (isGroup() && SystemNanoClock.INSTANCE.nanoTime() - refreshAtNs >= 0)
        {
            onUnreachable();
        }
    }

    @Override
    public void onUnreachable()
    {
        if (isAsking.compareAndSet(false, true))
        {
            Thread.ofVirtual().name("verbena-locator").start(this::ask);
        }
    }

    @Override
    public void onLate()
    {
        if (isGroup())
        {
            onUnreachable();
        }
    }

    @Override
    public int addresses()
    {
        return Math.toIntExact(Stream.concat(cluster.all().stream(), members().stream()).distinct().count());
    }

    /** Those that the group has named last. */
    List<ClusterAddress> members()
    {
        return last.members();
    }

    boolean isAsking()
    {
        return isAsking.get();
    }

    private boolean isGroup()
    {
        return !cluster.others().isEmpty() || last.members().size() > 1;
    }

    private void onAnswer(final BootstrapAnswer answer)
    {
        last = answer;
        refreshAtNs = SystemNanoClock.INSTANCE.nanoTime() + refreshNs + ThreadLocalRandom.current().nextLong(refreshNs);
    }

    @Override
    public AccessTicket nodeTicket()
    {
        return nodeTicket;
    }

    @Override
    public AccessTicket joiningTicket()
    {
        return joiningTicket;
    }

    @Override
    public AccessTicket clientTicket()
    {
        return clientTicket;
    }

    private void ask()
    {
        try
        {
            final BootstrapAnswer answer = BootstrapClient.find(cluster, last, token, TIMEOUT_MS);
            if (answer.fabric().equals(last.fabric()))
            {
                // It may have been started again with a certificate that names roles.
                joiningTicket = token.joiningTicket(answer);
                onAnswer(answer);
                failure = "";
            }
            else
            {
                failure = "the cluster at " + cluster + " has moved to fabric " + answer.fabric() + " from " +
                    last.fabric() +
                    ": start this process again";
            }
        }
        catch (final BootstrapException ex)
        {
            failure = ex.getMessage();
        }
        finally
        {
            LockSupport.parkNanos(PAUSE_NS);
            isAsking.set(false);
        }
    }

    @Override
    public String toString()
    {
        return "BootstrapLocator{cluster=" + cluster + ", members=" + members() + ", address=" + address() +
            ", failure=" + failure + '}';
    }
}
