package io.verbena.protocol.bootstrap;

import io.verbena.raas.PeerAddress;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Finds the meta server by the handshake at the cluster's address, on a virtual thread: when somebody says that it
 * cannot be reached. Each address is asked until one answers, for 5 s at most: a single one may be that of a member of
 * a group which leads again only later. Thread-safe; needs no closing.
 */
public final class BootstrapLocator implements MetaServerLocator
{
    /**
     * A group that elects a leader has none for some seconds, and whoever asks again only when its next call has
     * failed, over the connection to a leader that stands still, asks too seldom for a lease of 5 s.
     */
    private static final int TIMEOUT_MS = 5_000;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ClusterAddress cluster;
    private final BootstrapSecret token;
    private final AccessTicket nodeTicket;
    private final AccessTicket clientTicket;
    private final String fabric;
    private final AtomicBoolean isAsking = new AtomicBoolean();
    private volatile AccessTicket joiningTicket;
    private volatile PeerAddress address;
    private volatile String failure = "";

    /**
     * @param cluster where to ask.
     * @param token   of the cluster, or the secret of a user.
     * @param first   what it answered first.
     */
    public BootstrapLocator(final ClusterAddress cluster, final BootstrapSecret token, final BootstrapAnswer first)
    {
        this.cluster = cluster;
        this.token = token;
        nodeTicket = token.nodeTicket();
        joiningTicket = token.joiningTicket(first);
        clientTicket = token.clientTicket(first);
        fabric = first.fabric();
        address = first.metaServer();
    }

    @Override
    public PeerAddress address()
    {
        return address;
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
        if (!cluster.others().isEmpty())
        {
            onUnreachable();
        }
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
            final BootstrapAnswer answer = BootstrapClient.find(cluster, token, TIMEOUT_MS);
            if (answer.fabric().equals(fabric))
            {
                // It may have been started again with a certificate that names roles.
                joiningTicket = token.joiningTicket(answer);
                address = answer.metaServer();
                failure = "";
            }
            else
            {
                failure = "the cluster at " + cluster + " has moved to fabric " + answer.fabric() + " from " + fabric +
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
        return "BootstrapLocator{cluster=" + cluster + ", address=" + address + ", failure=" + failure + '}';
    }
}
