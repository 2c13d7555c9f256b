package io.verbena.client.routing;

import io.verbena.protocol.bootstrap.AccessTicket;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.remote.RemoteEndpoint;
import io.verbena.protocol.request.DutyLock;
import io.verbena.protocol.request.Waker;
import io.verbena.protocol.session.MetaLink;
import io.verbena.protocol.session.NodeListing;
import io.verbena.raas.RaasContext;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.failure.Backoff;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.ErrorHandler;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Keeps a {@link ComputeNodeSet} filled with the compute nodes of a cluster elsewhere: asks the meta server which they
 * are, connects to those that serve clients, and to {@linkplain SpareConnections some} that will, and takes away those
 * that leave or are lost. While the meta server is unreachable it goes on with the nodes it knows. One thread at a
 * time, the holder of the {@link #dutyLock()}, drives {@link #doWork()} and owns everything here, except what says
 * otherwise.
 */
public final class RemoteNodes implements Agent, DrivenNodes
{
    private static final System.Logger LOGGER = System.getLogger(RemoteNodes.class.getName());
    /** Compute nodes that a client connects to at once; more are left to other clients. */
    public static final int MAX_NODES = 32;
    private static final long REFRESH_NS = 1_000_000_000;
    /** Least time between two lists, however often nodes come and go: 5 ms. */
    private static final long NEWS_REFRESH_NS = 5_000_000;
    /** How long the meta server may have no news; then it is asked again. */
    private static final long NEWS_TIMEOUT_NS = 60_000_000_000L;
    /** When one that reports none, because it is full or too old, is asked again. */
    private static final long NO_NEWS_NS = 10_000_000_000L;
    /** Longest first pause before a client without a node asks again: 20 ms. */
    private static final long HASTY_REFRESH_NS = 20_000_000;
    /** Longest pause of one that has asked in vain many times: 200 ms. */
    private static final long MAX_HASTY_REFRESH_NS = 200_000_000;
    /** Longest first pause before a new connection: 50 ms. */
    private static final long RECONNECT_PAUSE_NS = 50_000_000;
    /** Longest pause after several failures: 2 s. */
    private static final long MAX_RECONNECT_PAUSE_NS = 2_000_000_000;
    private static final int SILENT_ATTEMPTS = 2;
    private static final String NO_NODE = "there is no compute node";
    private static final PacedWarnings WARNINGS = new PacedWarnings(LOGGER);

    private final CompletionChannel channel;
    private final RaasContext raas;
    private final NanoClock clock;
    private final MetaServerLocator metaServer;
    private final ComputeNodeSet nodes;
    private final DutyLock dutyLock;
    private final long callTimeoutNs;
    private final Int2ObjectHashMap<RemoteEndpoint> endpoints = new Int2ObjectHashMap<>();
    private final List<RemoteEndpoint> serving = new ArrayList<>();
    private final SpareConnections spares;
    private final Map<Integer, Attempts> attempts = new HashMap<>();
    private final Backoff hasty;
    private final Backoff metaBackoff;
    private final Set<Integer> drained = new HashSet<>();
    private final MetaLink metaLink;
    private final NodeListing listing;
    private ControlCall<Void> news;
    private long nextNewsNs;
    private long nextRefreshNs;
    private long cycleNs;
    private volatile long listings;
    private volatile int silentAttempts;
    private long refreshedNs;
    private volatile String failure = "";
    private boolean isMetaServerAway;
    private long awaySinceNs;

    /**
     * @param device        to work on; the caller closes it after {@link #onClose()}.
     * @param metaServer    whom to ask.
     * @param nodes         filled here, and by nobody else.
     * @param waker         of the thread that drives this while no caller does.
     * @param callTimeoutNs deadline of connecting, and of one question to the meta server.
     * @param errorHandler  hears of failures that end nothing.
     */
    public RemoteNodes(
        final Device device, final MetaServerLocator metaServer, final ComputeNodeSet nodes, final Waker waker,
        final long callTimeoutNs, final ErrorHandler errorHandler)
    {
        this(device, metaServer, nodes, waker, callTimeoutNs, errorHandler, false);
    }

    /**
     * As above.
     *
     * @param isEncrypted whether requests are encrypted, also those to the meta server; takes a ticket.
     */
    public RemoteNodes(
        final Device device, final MetaServerLocator metaServer, final ComputeNodeSet nodes, final Waker waker,
        final long callTimeoutNs, final ErrorHandler errorHandler, final boolean isEncrypted)
    {
        this.metaServer = metaServer;
        this.nodes = nodes;
        this.callTimeoutNs = callTimeoutNs;
        channel = device.pollsBySystemCall() ? device.createCompletionChannel() : null;
        raas = open(device, errorHandler, isEncrypted);
        clock = raas.clock();
        dutyLock = new DutyLock(this, waker::wake, clock, null == channel ?
            DutyLock.Patience.ANOTHER_PROCESS_ANSWERS : DutyLock.Patience.ANOTHER_HOST_ANSWERS);
        nextRefreshNs = clock.nanoTime();
        nextNewsNs = nextRefreshNs;
        hasty = new Backoff(HASTY_REFRESH_NS, MAX_HASTY_REFRESH_NS, device.random());
        metaBackoff = new Backoff(RECONNECT_PAUSE_NS, MAX_RECONNECT_PAUSE_NS, device.random());
        metaLink = new MetaLink(raas, metaServer, callTimeoutNs);
        metaLink.client();
        listing = new NodeListing(metaLink, callTimeoutNs);
        spares = new SpareConnections((node) -> new RemoteEndpoint(
            raas, node.spareAddress(), node.incarnation(), dutyLock, callTimeoutNs), device.random());
    }

    private RaasContext open(final Device device, final ErrorHandler errorHandler, final boolean isEncrypted)
    {
        RaasContext opened = null;
        try
        {
            opened = RaasContext.open(device, RemoteEndpoint.configure(
                MAX_NODES + SpareConnections.MAX_SPARES + 1).errorHandler(errorHandler)
                .completionChannel(channel).encrypted(isEncrypted));
            final AccessTicket ticket = metaServer.clientTicket();
            if (null != ticket)
            {
                ticket.use(opened);
            }
            return opened;
        }
        finally
        {
            if (null == opened)
            {
                closeChannel();
            }
        }
    }

    private void closeChannel()
    {
        if (null != channel)
        {
            channel.close();
        }
    }

    /** When a node that could not be connected to is tried again. */
    private final class Attempts
    {
        private final Backoff backoff =
            new Backoff(RECONNECT_PAUSE_NS, MAX_RECONNECT_PAUSE_NS, raas.device().random());
        private long nextAtNs;
        private String failure = "";
    }

    /** While it is not shared, whoever does drives this without asking. */
    @Override
    public DutyLock dutyLock()
    {
        return dutyLock;
    }

    /** @return how often the meta server has listed the nodes. Any thread. */
    public long listings()
    {
        return listings;
    }

    /** @return why the meta server could not be asked last, or a node not be reached; empty when all is well. Any
     * thread. */
    public String failure()
    {
        return failure;
    }

    /**
     * @return whether connections to the meta server have come to nothing twice in a row because nothing answered in
     *     their whole time, as behind a firewall; once may be a pause of its process. Any thread.
     */
    public boolean isMetaServerSilent()
    {
        return silentAttempts >= SILENT_ATTEMPTS;
    }

    @Override
    public String roleName()
    {
        return "verbena-client";
    }

    @Override
    public int doWork()
    {
        final long nowNs = clock.nanoTime();
        cycleNs = nowNs;
        // First, so that a caller's request goes out before anything else is looked at.
        int work = pollEndpoints(nowNs) + spares.poll(nowNs);
        work += raas.poll(nowNs);
        if (listing.isAnswered())
        {
            onListed(nowNs);
            work++;
        }
        work += pollNews(nowNs);
        if (!listing.isUnderWay() && nextRefreshNs - nowNs <= 0)
        {
            refresh(nowNs);
            work++;
        }
        return work;
    }

    @Override
    public int serve()
    {
        final long nowNs = clock.nanoTime();
        cycleNs = nowNs;
        int work = 0;
        for (int i = 0; i < serving.size(); i++)
        {
            if (RemoteEndpoint.State.READY == serving.get(i).state())
            {
                work += serving.get(i).poll(nowNs);
            }
        }
        return work + raas.pollCompletions();
    }

    @Override
    public int poll()
    {
        return raas.pollCompletions();
    }

    @Override
    public boolean canWait()
    {
        return null != channel;
    }

    @Override
    public void await(final long timeoutNs)
    {
        raas.await(channel, timeoutNs);
    }

    @Override
    public void endWait()
    {
        if (null != channel)
        {
            channel.wake();
        }
    }

    /** @return true if an answer is awaited. */
    @Override
    public boolean isBusy()
    {
        if (listing.isUnderWay())
        {
            return true;
        }
        for (int i = 0; i < serving.size(); i++)
        {
            if (serving.get(i).isBusy())
            {
                return true;
            }
        }
        return serving.size() != endpoints.size() && endpoints.values().stream().anyMatch(RemoteEndpoint::isBusy);
    }

    @Override
    public boolean mayEnd()
    {
        return endpoints.values().stream().noneMatch(
            (endpoint) -> RemoteEndpoint.State.CONNECTING != endpoint.state() && endpoint.isBusy());
    }

    @Override
    public boolean isDutyDue()
    {
        if (listing.isUnderWay() ? listing.isAnswered() :
            nextRefreshNs - cycleNs <= 0 || null != news && news.isDone())
        {
            return true;
        }
        // A caller learns of a lost connection first, and is refused by it at once: without a word from there the node
        // stayed in the set, and another one was not looked for, until the background thread's next look by itself.
        for (int i = 0; i < serving.size(); i++)
        {
            if (serving.get(i).isEnding())
            {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean isSettling()
    {
        return listing.isUnderWay() || endpoints.size() != serving.size() || !metaLink.isConnected();
    }

    @Override
    public void onFailure(final Throwable ended)
    {
        nodes.absence("the client has ended: " + ended);
    }

    /** Nodes are looked after in between. */
    @Override
    public long idleNs()
    {
        return Math.clamp(nextRefreshNs - clock.nanoTime(), 0, 100_000_000L);
    }

    private int pollEndpoints(final long nowNs)
    {
        int work = 0;
        final Iterator<RemoteEndpoint> all = endpoints.values().iterator();
        while (all.hasNext())
        {
            final RemoteEndpoint endpoint = all.next();
            work += endpoint.poll(nowNs);
            switch (endpoint.state())
            {
                case READY -> add(endpoint);
                case DRAINING ->
                {
                    remove(endpoint, nowNs);
                    drained.add(endpoint.id());
                    if (!endpoint.isBusy())
                    {
                        endpoint.close(); // the node waits for that before it ends
                        all.remove();
                        work++;
                    }
                }
                case FAILED ->
                {
                    onFailed(endpoint, nowNs);
                    remove(endpoint, nowNs);
                    endpoint.close();
                    all.remove();
                    work++;
                }
                case CONNECTING ->
                {
                    // Requests are given to it when it is READY.
                }
            }
        }
        return work;
    }

    private void add(final RemoteEndpoint endpoint)
    {
        if (!serving.contains(endpoint))
        {
            serving.add(endpoint);
            nodes.add(endpoint);
            attempts.remove(endpoint.id());
            hasty.reset();
        }
    }

    private void onFailed(final RemoteEndpoint endpoint, final long nowNs)
    {
        failure = endpoint.failure();
        final Attempts failed = attempts.computeIfAbsent(endpoint.id(), (id) -> new Attempts());
        failed.failure = failure;
        failed.nextAtNs = nowNs + failed.backoff.nextPauseNs();
        sayWhyThereIsNone();
    }

    /** What a caller hears that finds no node: the reason of one that could not be connected to. */
    private void sayWhyThereIsNone()
    {
        nodes.absence(attempts.values().stream().map((failed) -> failed.failure).filter((text) -> !text.isEmpty())
            .findFirst().map((text) -> "no compute node takes this client: " + text).orElse(NO_NODE));
    }

    private void remove(final RemoteEndpoint endpoint, final long nowNs)
    {
        if (serving.remove(endpoint))
        {
            nodes.remove(endpoint);
            nextRefreshNs = nowNs; // another one may have come
        }
    }

    private void refresh(final long nowNs)
    {
        refreshedNs = nowNs;
        try
        {
            metaLink.freshClient();
        }
        catch (final RdmaException ex)
        {
            onUnlisted("meta server: " + ex.getMessage(), nowNs);
            return;
        }
        if (null == news && nextNewsNs - nowNs <= 0)
        {
            // Before the list, over the same connection: each change shows in the one or the other.
            news = metaLink.client().awaitNodes(NEWS_TIMEOUT_NS);
        }
        listing.start();
        nextRefreshNs = nowNs + REFRESH_NS;
    }

    /** Operations are sent to a node that was activated within milliseconds, and not with the next list. */
    private int pollNews(final long nowNs)
    {
        // A list under way may be older than the news.
        if (null == news || !news.isDone() || listing.isUnderWay())
        {
            return 0;
        }
        final boolean hasNews = ControlStatus.OK == news.status();
        final boolean isOver = ControlStatus.TIMED_OUT == news.status();
        nextNewsNs = nowNs + (hasNews || isOver || !metaLink.isUsable() ? 0 : NO_NEWS_NS);
        news = null;
        // Asked again with the list: until then a node that is activated would not be heard of.
        if ((hasNews || isOver) && nextRefreshNs - nowNs > 0)
        {
            nextRefreshNs = Math.max(nowNs, refreshedNs + NEWS_REFRESH_NS);
        }
        return 1;
    }

    private void onUnlisted(final String why, final long nowNs)
    {
        failure = why;
        final boolean isSilent = !metaLink.isUsable() && nowNs - refreshedNs >= callTimeoutNs / 2;
        silentAttempts = isSilent ? silentAttempts + 1 : 0;
        nextRefreshNs = nowNs + metaBackoff.nextPauseNs();
        metaLink.onUnanswered();
        onAway(nowNs);
    }

    private void onListed(final long nowNs)
    {
        final NodeListing.Outcome outcome = listing.poll();
        if (NodeListing.Outcome.FAILED == outcome)
        {
            onUnlisted(listing.failure(), nowNs);
            return;
        }
        nextRefreshNs = nowNs + REFRESH_NS;
        if (NodeListing.Outcome.LISTED != outcome)
        {
            return;
        }
        final List<PeerRecord> page =
            listing.nodes().stream().filter((node) -> NodeRole.COMPUTE_NODE == node.role()).toList();
        onBack(nowNs);
        metaBackoff.reset();
        follow(page, nowNs);
        listings++;
        nextRefreshNs = nowNs + (serving.isEmpty() ? hasty.nextPauseNs() : REFRESH_NS);
    }

    private void onAway(final long nowNs)
    {
        if (!isMetaServerAway)
        {
            isMetaServerAway = true;
            awaySinceNs = nowNs;
            WARNINGS.warn("the meta server cannot be reached: going on with the " +
                serving.size() + " compute nodes that are known: " + failure, nowNs);
        }
    }

    private void onBack(final long nowNs)
    {
        failure = "";
        silentAttempts = 0;
        if (isMetaServerAway)
        {
            isMetaServerAway = false;
            LOGGER.log(System.Logger.Level.INFO, "the meta server is reached again, after " +
                (nowNs - awaySinceNs) / 1_000_000 + " ms");
        }
    }

    private void follow(final List<PeerRecord> page, final long nowNs)
    {
        final Set<Integer> present = new HashSet<>();
        for (final PeerRecord node : page)
        {
            present.add(node.incarnation());
            if (0 != node.servicePort() && !endpoints.containsKey(node.incarnation()) &&
                !drained.contains(node.incarnation()) &&
                endpoints.size() < MAX_NODES && mayTry(node.incarnation(), nowNs))
            {
                connect(node, nowNs);
            }
        }
        attempts.keySet().retainAll(present);
        sayWhyThereIsNone();
        drained.retainAll(present);
        final Iterator<RemoteEndpoint> all = endpoints.values().iterator();
        while (all.hasNext())
        {
            final RemoteEndpoint endpoint = all.next();
            if (!present.contains(endpoint.id()))
            {
                remove(endpoint, nowNs);
                if (!endpoint.isBusy())
                {
                    endpoint.close();
                    all.remove();
                }
            }
        }
        // What serves, or is to serve from now on, goes first.
        spares.follow(page, endpoints.size() == serving.size(), nowNs);
    }

    /** A node that cannot be connected to costs the others nothing, and is tried again. */
    private void connect(final PeerRecord node, final long nowNs)
    {
        try
        {
            final RemoteEndpoint early = spares.take(node.incarnation(), nowNs);
            endpoints.put(node.incarnation(), null != early ? early : new RemoteEndpoint(
                raas, node.address(), node.incarnation(), dutyLock, callTimeoutNs));
        }
        catch (final RdmaException ex)
        {
            failure = "compute node " + node.nodeId() + ": " + ex.getMessage();
            final Attempts failed = attempts.computeIfAbsent(node.incarnation(), (id) -> new Attempts());
            failed.failure = failure;
            failed.nextAtNs = nowNs + failed.backoff.nextPauseNs();
            WARNINGS.warn("cannot connect to a compute node: " + failure, nowNs);
        }
    }

    private boolean mayTry(final int incarnation, final long nowNs)
    {
        final Attempts failed = attempts.get(incarnation);
        return null == failed || nowNs - failed.nextAtNs >= 0;
    }

    /** Takes all nodes away, and ends what is under way: what was sent has an unknown outcome. */
    @Override
    public void onClose()
    {
        final long nowNs = clock.nanoTime();
        for (final RemoteEndpoint endpoint : endpoints.values())
        {
            remove(endpoint, nowNs);
            endpoint.close();
        }
        endpoints.clear();
        spares.close();
        metaLink.close();
        raas.poll(); // calls under way end here, with a failure for their callers
        raas.close();
        closeChannel();
    }

    @Override
    public String toString()
    {
        return "RemoteNodes{metaServer=" + metaServer + ", serving=" + serving + ", failure=" + failure + '}';
    }
}
