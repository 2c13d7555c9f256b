package io.verbena.raas;

import io.verbena.raas.completion.Replays;
import io.verbena.raas.completion.RequestId;
import io.verbena.raas.completion.VirtualQpOwner;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.IdentityVerifier;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.raas.limit.RaasLimitException;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.region.RetiredRegions;
import io.verbena.raas.usage.ContextUsage;
import io.verbena.raas.usage.TenantUsage;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.VerbCounters;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * One node's share of the service: a protection domain, completion queues, a pool with one physical queue pair per
 * peer, and the virtual queue pairs and calls that go over them.
 *
 * <p>One owner thread makes every call here and on everything made from here. Closed by its opener, who closes the
 * regions made from {@link #protectionDomain()} before.
 */
public final class RaasContext implements AutoCloseable
{
    /**
     * How messages travel: {@link io.verbena.rdma.verbs.QueuePair#transport()} of physical queue pairs.
     *
     * @param counts how many queue pairs have each transport.
     * @param byNode transport by the number of the node at the other end, in ascending order; 0 for a server that was
     *               connected to before its number was known. Clients are left out, and nodes that connected before
     *               they had registered.
     */
    public record Transports(Map<String, Integer> counts, Map<Integer, String> byNode)
    {
        /** Of what has no connections. */
        public static final Transports NONE = new Transports(Map.of(), Map.of());
    }

    private final ContextResources resources;
    private final VirtualQpTable virtualQps;
    private final ChannelPool pool;
    private final RpcClient rpcClient;
    private final RetiredRegions retiredRegions = new RetiredRegions();
    private final List<RpcServer> servers = new ArrayList<>();
    private final Tenants.Callback listeners = this::callBack;
    private final VirtualQpOwner virtualQpOwner = new EndedVirtualQps();
    private boolean isPolling;
    private boolean isClosed;

    private RaasContext(final Device device, final RaasConfiguration configuration)
    {
        resources = new ContextResources(device, configuration);
        try
        {
            virtualQps = new VirtualQpTable(configuration.maxVirtualQps(), resources.tenants());
            rpcClient = resources.closeFirst(new RpcClient(resources, configuration.maxCalls()));
            pool = new ChannelPool(resources, virtualQps, rpcClient.sentCalls());
        }
        catch (final RuntimeException ex)
        {
            // What is there already would keep the device from being closed.
            resources.close();
            throw ex;
        }
    }

    /**
     * @param device        to work on; the caller closes it after this context.
     * @param configuration read once.
     * @return the context.
     */
    public static RaasContext open(final Device device, final RaasConfiguration configuration)
    {
        final RaasConfiguration copy = new RaasConfiguration(configuration);
        copy.validate(device.attributes());
        return new RaasContext(device, copy);
    }

    /** @return the device. */
    public Device device()
    {
        return resources.device();
    }

    /**
     * Where the memory of this node is registered. Virtual queue pairs take only regions made here: that is how a
     * region of somebody else, or a closed one, is recognised before it breaks the shared queue pair.
     *
     * @return the protection domain; closed by {@link #close()}.
     */
    public ProtectionDomain protectionDomain()
    {
        return resources.tenants().first().protectionDomain();
    }

    /** @return the clock of the device. */
    public NanoClock clock()
    {
        return resources.clock();
    }

    /**
     * Changes who this node is, for peers connected from now on. A queue pair made before keeps what it said; when that
     * was another registered identity, the pool gives it to nobody any more.
     *
     * @param identity given by the meta server.
     */
    public void identity(final PeerIdentity identity)
    {
        identity(identity, 1, (_) -> null);
    }

    /**
     * As {@link #identity(PeerIdentity)}, with what proves it.
     *
     * @param identity   given by the meta server.
     * @param firstNonce number of the next request to connect, 1 or more and above all that were made with these
     *                   secrets before; later ones count on from it.
     * @param secrets    shared with a peer, asked for each connection; null for a peer to which nothing can be proved,
     *                   and which refuses it if it wants a proof.
     */
    public void identity(
        final PeerIdentity identity, final long firstNonce, final Function<PeerAddress, IdentitySecret> secrets)
    {
        pool.identity(identity, firstNonce, secrets);
    }

    /**
     * Connects; returns at once. Where the pool has a queue pair to that peer the result is READY and nothing is sent;
     * otherwise it is CONNECTING, then READY or FAILED, while {@link #poll()} is called.
     *
     * @param peer      whom to reach.
     * @param listener  hears of completed batches.
     * @param timeoutNs after which it is FAILED when still CONNECTING.
     * @return the virtual queue pair, closed by the caller.
     */
    public VirtualQp connect(final PeerAddress peer, final BatchListener listener, final long timeoutNs)
    {
        return connect(peer, ReadTargetAddress.NONE, RemoteRegion.NONE, listener, timeoutNs);
    }

    /**
     * Connects as {@link #connect(PeerAddress, BatchListener, long)} does. Where the device has DC, and an initiator is
     * free, the result is READY at once, with nothing sent: its READs go over DC until the queue pair is connected and
     * they are done, in order; everything else waits ({@link VirtualQp#carriesWrites()}).
     *
     * @param peer       whom to reach.
     * @param readTarget of the peer; {@link ReadTargetAddress#NONE} for none.
     * @param region     of the peer, which may be read through it, and which the result reaches as a port. Once
     *                   connected it does so under a key granted then: where that is another one, the port reaches the
     *                   first region of this length that was granted.
     * @param listener   hears of completed batches.
     * @param timeoutNs  after which it is FAILED when the queue pair is not connected.
     * @return the virtual queue pair, closed by the caller.
     * @throws RaasLimitException when {@link RaasConfiguration#maxVirtualQps()} are open; nothing was begun.
     */
    public VirtualQp connect(
        final PeerAddress peer, final ReadTargetAddress readTarget, final RemoteRegion region,
        final BatchListener listener, final long timeoutNs)
    {
        return connect(resources.tenants().first(), peer, readTarget, region, listener, timeoutNs);
    }

    /**
     * Connects as {@link #connect(PeerAddress, ReadTargetAddress, RemoteRegion, BatchListener, long)} does, for a
     * tenant. It shares the queue pair to the peer with other tenants: their requests are posted by weight, as far as
     * the queue pair can execute them soon, and wait otherwise.
     *
     * @param tenant made by this context.
     * @return the virtual queue pair, closed by the caller.
     */
    public VirtualQp connect(
        final Tenant tenant, final PeerAddress peer, final ReadTargetAddress readTarget, final RemoteRegion region,
        final BatchListener listener, final long timeoutNs)
    {
        if (!resources.tenants().all().contains(tenant))
        {
            throw new RaasMisuseException("connect() for a tenant of another context: " + tenant);
        }
        final int number = virtualQps.allocate();
        if (number == RequestId.CALLS)
        {
            throw new RaasLimitException(virtualQps.limit());
        }
        final VirtualQp vqp = new VirtualQp(
            resources, tenant, virtualQpOwner, number, peer, readTarget, region, listener);
        tenant.onVirtualQp(1);
        virtualQps.add(vqp);
        pool.bind(vqp, clock().nanoTime(), timeoutNs);
        return vqp;
    }

    private void callBack(final long wrId, final int status)
    {
        virtualQps.callBack(RequestId.number(wrId), RequestId.cookie(wrId), status);
    }

    /**
     * Adds a tenant.
     *
     * @param name    1 to 64 characters, of no other tenant of this context.
     * @param options weight and quotas.
     * @return the tenant; it ends with the context.
     */
    public Tenant tenant(final String name, final TenantOptions options)
    {
        if (name.isBlank() || name.length() > 64)
        {
            throw new RaasMisuseException("tenant '" + name + "': a name has 1 to 64 characters");
        }
        final TenantOptions copy = new TenantOptions(options);
        copy.validate(name);
        final Tenant tenant = resources.newTenant(name, copy);
        resources.tenants().add(tenant);
        return tenant;
    }

    /** @return whose virtual queue pairs are that name no tenant. */
    public Tenant defaultTenant()
    {
        return resources.tenants().first();
    }

    /** @return what is open, and was done; a new object. */
    public ContextUsage usage()
    {
        return pool.usage();
    }

    /** @return what each tenant has done and uses now, the default one first; a new list. */
    public List<TenantUsage> tenants()
    {
        return resources.tenants().usages();
    }

    /**
     * Lets others READ the regions of {@link #protectionDomain()} over DC.
     *
     * @param accessKey given to those who may.
     * @return the target, closed by the caller before this context; null where the device has no DC.
     */
    public ReadTarget openReadTarget(final long accessKey)
    {
        return ReadTarget.open(resources, accessKey);
    }

    /** @return the calling side of request/reply messages on this context. */
    public RpcClient rpcClient()
    {
        return rpcClient;
    }

    /**
     * Serves at a port: accepts queue pairs and answers calls while {@link #poll()} is called.
     *
     * @param servicePort 1 to 65,535, free on this device.
     * @param acceptor    decides who may connect and with which rights.
     * @param handler     answers calls.
     * @return the server, closed by the caller or with this context.
     */
    public RpcServer serve(final int servicePort, final ConnectionAcceptor acceptor, final RpcHandler handler)
    {
        return serve(servicePort, acceptor, null, handler);
    }

    /**
     * Serves at a port as {@link #serve(int, ConnectionAcceptor, RpcHandler)} does, and takes nobody's word for who it
     * is: a peer that claims another identity than {@link PeerIdentity#UNREGISTERED} or {@link PeerIdentity#CLIENT} has
     * to prove it, for this queue pair, this device and this request; these two if the verifier has a secret.
     *
     * @param servicePort 1 to 65,535, free on this device.
     * @param acceptor    decides who may connect and with which rights, once the identity is proved.
     * @param verifier    what the holder of an identity shares with this node; null when there is nothing, so that it
     *                    is refused unless it is one of these two. Itself null: identities are what peers say.
     * @param handler     answers calls.
     * @return the server, closed by the caller or with this context.
     */
    public RpcServer serve(
        final int servicePort, final ConnectionAcceptor acceptor, final IdentityVerifier verifier,
        final RpcHandler handler)
    {
        final RpcServer server = RpcServer.open(
            resources, pool, servers::remove, servicePort, acceptor, verifier, handler);
        servers.add(server);
        return server;
    }

    /**
     * Closes a virtual queue pair now, and a region that its requests may be using as soon as none is in flight: a
     * region closed under a READ would break the shared queue pair.
     *
     * @param vqp    to close.
     * @param region to close later, at the latest by {@link #close()}.
     */
    public void retire(final VirtualQp vqp, final MemoryRegion region)
    {
        vqp.close();
        retiredRegions.add(vqp::outstandingBatches, region);
    }

    /**
     * Closes the queue pair to a peer as soon as no request of it is in flight, where no virtual queue pair uses it any
     * more; otherwise it is kept for who connects next, and the peer cannot tell that it is not needed.
     *
     * @param peer that is to be reached no more.
     */
    public void forget(final PeerAddress peer)
    {
        pool.forget(peer);
    }

    /**
     * The duty cycle: polls completions and calls listeners, drives connecting and deadlines, accepts connections and
     * answers calls. Allocates nothing while only batches complete, and reads the clock only when somebody waits.
     *
     * @return how much was done; 0 when there was nothing to do.
     */
    public int poll()
    {
        return poll(0, false);
    }

    /** As {@link #poll()}, at a time by {@link #clock()}. */
    public int poll(final long nowNs)
    {
        return poll(nowNs, true);
    }

    private int poll(final long nowNs, final boolean isTimeKnown)
    {
        if (isPolling)
        {
            throw new RaasMisuseException("poll() called from a callback of poll()");
        }
        isPolling = true;
        if (isTimeKnown)
        {
            resources.polledAtNs(nowNs);
        }
        try
        {
            resources.doorbells().ring();
            resources.receives().poll();
            int work = resources.completions().poll() + callBack();
            // Asked behind the callbacks, which may begin something that has a deadline.
            if (isWaiting() || !servers.isEmpty() || !resources.messages().isEmpty())
            {
                work += pollTimed(isTimeKnown ? nowNs : clock().nanoTime());
            }
            if (!retiredRegions.isEmpty())
            {
                retiredRegions.poll();
            }
            resources.reportErrors();
            return work;
        }
        finally
        {
            isPolling = false;
        }
    }

    /** Where there are several tenants, their listeners have their turns now; what they post shares doorbells. */
    private int callBack()
    {
        if (!resources.tenants().isShared())
        {
            return 0;
        }
        resources.doorbells().gather();
        final int called = resources.tenants().callBack(listeners);
        resources.doorbells().ring();
        return called;
    }

    /** What has deadlines, or peers that come: a clock is read for nothing else. */
    private int pollTimed(final long nowNs)
    {
        int work = pool.checkStates(nowNs);
        if (pool.needsPoll())
        {
            work += pool.poll(nowNs);
        }
        if (!rpcClient.isIdle())
        {
            work += rpcClient.poll(nowNs);
        }
        work += resources.messages().poll(nowNs);
        // What callbacks and looks at states have closed makes room for peers that come.
        resources.receives().poll();
        for (int i = 0; i < servers.size(); i++)
        {
            work += servers.get(i).poll(nowNs);
        }
        return work;
    }

    /** @return changes when batches are found to be complete, before their listeners are called. */
    public long completionRounds()
    {
        return resources.completions().rounds();
    }

    /**
     * Polls completions, calls listeners and sends calls that waited for room at their peer, and nothing else of what
     * {@link #poll()} does: for who waits for one of them, and calls {@link #poll()} soon again. Only {@link #poll()}
     * arms the completion channel, so that who looks often does not arm it each time.
     *
     * @return how much was done.
     */
    public int pollCompletions()
    {
        if (isPolling)
        {
            throw new RaasMisuseException("pollCompletions() called from a callback of poll()");
        }
        isPolling = true;
        try
        {
            resources.doorbells().ring();
            final int work = resources.completions().pollInBetween() + callBack();
            return rpcClient.hasQueued() ? work + rpcClient.sendQueued() : work;
        }
        finally
        {
            isPolling = false;
        }
    }

    /**
     * From here on what virtual queue pairs complete is posted by {@link #ring}, with one doorbell for each queue pair:
     * for who goes through many of them. In callbacks of a poll that is so by itself. A poll rings too, first of all.
     */
    public void gather()
    {
        resources.doorbells().gather();
    }

    /** Posts what was completed since {@link #gather}, and ends it. */
    public void ring()
    {
        if (isPolling)
        {
            throw new RaasMisuseException("ring() called from a callback of poll(): it rings behind the callbacks");
        }
        isPolling = true;
        try
        {
            resources.doorbells().ring();
        }
        finally
        {
            isPolling = false;
        }
    }

    /**
     * Waits for completions, in the place of many empty polls; they are taken by the next poll, or have been by the one
     * that this makes first. Time limits of calls and connections are looked at by {@link #poll()} only.
     *
     * @param channel   of the {@linkplain RaasConfiguration#completionChannel() configuration}.
     * @param timeoutNs longest wait.
     */
    public void await(final CompletionChannel channel, final long timeoutNs)
    {
        resources.completions().arm();
        // What came before the arming raises nothing.
        if (0 == pollCompletions())
        {
            channel.await(timeoutNs);
        }
    }

    /** @return whether a call, or the other end of a connection being made, is waited for: deadlines run. */
    public boolean isWaiting()
    {
        return !rpcClient.isIdle() || pool.needsPoll() || resources.messages().isWaiting();
    }

    /** @return how messages of the physical queue pairs travel now; new maps. */
    public Transports transports()
    {
        return pool.transports();
    }

    /**
     * Changes for how long a queue pair is replaced, for those that break from now on: a lease that this follows is
     * known when the context has long been open.
     *
     * @param timeoutNs 1 or more, in a context that was opened with {@link RaasConfiguration#replayTimeoutNs(long)}.
     */
    public void replayTimeoutNs(final long timeoutNs)
    {
        if (timeoutNs < 1 || !resources.isReplaying())
        {
            throw new RaasMisuseException("replayTimeoutNs(" + timeoutNs + ") of a context that was opened with " +
                resources.configuration().replayTimeoutNs() + ": both must be 1 or more");
        }
        resources.replayTimeoutNs(timeoutNs);
    }

    /** @return what became of queue pairs that broke, see {@link RaasConfiguration#replayTimeoutNs(long)}. */
    public Replays replays()
    {
        return resources.replays().replays();
    }

    /** @return what was posted on all physical queue pairs, living and closed; a new object. */
    public VerbCounters counters()
    {
        return pool.counters();
    }

    /** @return each limit with what is used of it now; a new list, of the same limits in the same order each time. */
    public List<RaasLimit> limits()
    {
        final List<RaasLimit> limits = new ArrayList<>();
        limits.add(virtualQps.limit());
        limits.add(pool.limit());
        limits.add(resources.completions().limit());
        limits.add(resources.batches().limit());
        limits.add(rpcClient.limit());
        resources.receives().addLimit(limits);
        return limits;
    }

    /** @return batches begun and neither completed nor aborted; at most {@link RaasConfiguration#maxOpenBatches()}. */
    public int openBatches()
    {
        return resources.batches().lentCount();
    }

    /** @return receive buffers made, each for one message, see {@link RaasConfiguration#maxReceives()}. */
    public int receiveBuffers()
    {
        return resources.receives().buffers();
    }

    /** @return completions that came for virtual queue pairs already closed, and were dropped. */
    public long swallowedCompletions()
    {
        return virtualQps.swallowedCompletions();
    }

    /** Closes servers, virtual queue pairs without callbacks, queue pairs, and what they stand on. */
    @Override
    public void close()
    {
        if (isPolling)
        {
            throw new RaasMisuseException("close() of a context called from a callback of its poll()");
        }
        if (isClosed)
        {
            return;
        }
        isClosed = true;
        while (!servers.isEmpty())
        {
            servers.getLast().close();
        }
        pool.close();
        retiredRegions.close();
        resources.close();
    }

    /** What ends with a virtual queue pair. */
    private final class EndedVirtualQps implements VirtualQpOwner
    {
        @Override
        public void onEnded()
        {
            rpcClient.onVirtualQpEnded();
        }

        @Override
        public void onClosed(final int number)
        {
            pool.onVirtualQpClosed(virtualQps.find(number));
        }

        @Override
        public void onReleased(final int number)
        {
            virtualQps.release(virtualQps.find(number));
        }
    }
}
