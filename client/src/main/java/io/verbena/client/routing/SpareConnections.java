package io.verbena.client.routing;

import io.verbena.protocol.remote.RemoteEndpoint;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.failure.Backoff;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Connections of a client to spares: a spare that is activated can be asked at once, without the milliseconds that a
 * new connection takes. Nothing is sent over them; the status word of the node is READ now and then, as of any node. A
 * spare that cannot be connected to, ends or is lost costs the connection only: nobody waits for it, and no caller
 * hears of it. Used by the thread that has the duty lock.
 */
final class SpareConnections
{
    /** Spares that are connected to: the oldest ones, which autoscalers activate first. */
    static final int MAX_SPARES = 2;
    /** Longest first pause before a spare is connected to again: 1 s. */
    private static final long RECONNECT_PAUSE_NS = 1_000_000_000;
    /** Longest pause after several failures, as when it has no room for this client: 30 s. */
    private static final long MAX_RECONNECT_PAUSE_NS = 30_000_000_000L;

    private final Function<PeerRecord, RemoteEndpoint> connector;
    private final RandomGenerator random;
    private final Int2ObjectHashMap<RemoteEndpoint> endpoints = new Int2ObjectHashMap<>();
    private final Map<Integer, Retry> retries = new HashMap<>();

    /** When a spare whose connection ended is connected to again. */
    private final class Retry
    {
        private final Backoff backoff = new Backoff(RECONNECT_PAUSE_NS, MAX_RECONNECT_PAUSE_NS, random);
        private long nextAtNs;
        private boolean isLeaving;
    }

    /**
     * @param connector begins to connect to a spare, at {@link PeerRecord#spareAddress()}, or throws
     *                  {@link RdmaException}.
     * @param random    of the device.
     */
    SpareConnections(final Function<PeerRecord, RemoteEndpoint> connector, final RandomGenerator random)
    {
        this.connector = connector;
        this.random = random;
    }

    /**
     * Hands over the connection to a spare that is none any more.
     *
     * @param incarnation of the node.
     * @param nowNs       time now.
     * @return the connection, from now on the caller's, READY once the node was looked at anew; null when there
     *     is none that could be used.
     */
    RemoteEndpoint take(final int incarnation, final long nowNs)
    {
        final RemoteEndpoint endpoint = endpoints.remove(incarnation);
        if (null != endpoint && endpoint.isEnding())
        {
            endpoint.close();
            return null;
        }
        if (null != endpoint)
        {
            endpoint.lookAnew(nowNs);
        }
        return endpoint;
    }

    /**
     * Closes connections to those that are no spares any more, and connects to some that are.
     *
     * @param compute    the compute nodes that there are.
     * @param mayConnect whether new connections may be made now.
     * @param nowNs      time now.
     */
    void follow(final List<PeerRecord> compute, final boolean mayConnect, final long nowNs)
    {
        final List<PeerRecord> spares = compute.stream().filter((node) -> 0 != node.sparePort())
            .sorted(Comparator.comparingInt(PeerRecord::incarnation)).limit(MAX_SPARES).toList();
        final List<Integer> incarnations = spares.stream().map(PeerRecord::incarnation).toList();
        retries.keySet().retainAll(incarnations);
        final Iterator<RemoteEndpoint> all = endpoints.values().iterator();
        while (all.hasNext())
        {
            final RemoteEndpoint endpoint = all.next();
            if (!incarnations.contains(endpoint.id()))
            {
                endpoint.close();
                all.remove();
            }
        }
        for (final PeerRecord spare : spares)
        {
            if (mayConnect && !endpoints.containsKey(spare.incarnation()) && mayTry(spare.incarnation(), nowNs))
            {
                connect(spare, nowNs);
            }
        }
    }

    private boolean mayTry(final int incarnation, final long nowNs)
    {
        final Retry retry = retries.get(incarnation);
        return null == retry || !retry.isLeaving && nowNs - retry.nextAtNs >= 0;
    }

    private void connect(final PeerRecord spare, final long nowNs)
    {
        try
        {
            endpoints.put(spare.incarnation(), connector.apply(spare));
        }
        catch (final RdmaException ex)
        {
            onEnded(spare.incarnation(), nowNs); // said when it is to be asked, and still cannot be reached
        }
    }

    private Retry onEnded(final int incarnation, final long nowNs)
    {
        final Retry retry = retries.computeIfAbsent(incarnation, (id) -> new Retry());
        retry.nextAtNs = nowNs + retry.backoff.nextPauseNs();
        return retry;
    }

    /**
     * Looks after the connections; between two polls of the context.
     *
     * @param nowNs time now.
     * @return work done.
     */
    int poll(final long nowNs)
    {
        int work = 0;
        final Iterator<RemoteEndpoint> all = endpoints.values().iterator();
        while (all.hasNext())
        {
            final RemoteEndpoint endpoint = all.next();
            work += endpoint.poll(nowNs);
            if (endpoint.isEnding())
            {
                // One that leaves waits until its clients have closed their connections.
                onEnded(endpoint.id(), nowNs).isLeaving = RemoteEndpoint.State.DRAINING == endpoint.state();
                endpoint.close();
                all.remove();
                work++;
            }
        }
        return work;
    }

    /** @return spares that are connected to, or being connected to. */
    int count()
    {
        return endpoints.size();
    }

    void close()
    {
        endpoints.values().forEach(RemoteEndpoint::close);
        endpoints.clear();
    }

    @Override
    public String toString()
    {
        return "SpareConnections" + endpoints.keySet();
    }
}
