package io.verbena.meta;

import io.verbena.protocol.control.MetaService;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.rdma.verbs.CompletionChannel;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.SystemEpochClock;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** How a {@link MetaServer} runs. Read once at start; not thread-safe. */
public final class MetaServerConfiguration
{
    /** Most {@link #spareIdentities(int)}: memory nodes hear of all of them in one message. */
    public static final int MAX_SPARE_IDENTITIES = MetaService.MAX_SPARES;
    /** Where it listens on its device. */
    static final int SERVICE_PORT = 1;

    private int maxNodes = 128;
    private int maxClients = 1024;
    private int maxWaitingRegistrations = 1024;
    private int spareIdentities = 4;
    private long leaseNs = TimeUnit.SECONDS.toNanos(5);
    private long leaseMarginNs = TimeUnit.MILLISECONDS.toNanos(500);
    private long epochIntervalNs = TimeUnit.MILLISECONDS.toNanos(5);
    private long idleEpochIntervalNs = TimeUnit.SECONDS.toNanos(2);
    private CompletionChannel completionChannel;
    private long fenceTimeoutNs = TimeUnit.MILLISECONDS.toNanos(500);
    private long fenceRetryNs = TimeUnit.MILLISECONDS.toNanos(100);
    private long fillAfterNs;
    private boolean previousNodesAreGone;
    private int viewTableBytes = 1 << 20;
    private IdentitySecret clusterSecret;
    private boolean bindsRoles;
    private MetaAudit audit = MetaAudit.NONE;
    private BooleanSupplier leads = () -> true;
    private boolean isWarmUp;
    private long secretLifetimeNs = TimeUnit.HOURS.toNanos(24);
    private EpochClock wallClock = SystemEpochClock.INSTANCE;

    /** @return whether the server may answer now. */
    public BooleanSupplier leads()
    {
        return leads;
    }

    /**
     * @param isLeading asked for each request after it was received, and before leases are ended; false: the request is
     *                  refused as UNAVAILABLE, and nothing is fenced. Default: always, for a meta server that is alone.
     * @return this.
     */
    public MetaServerConfiguration leads(final BooleanSupplier isLeading)
    {
        leads = isLeading;
        return this;
    }

    /** @return how long a group lacks a member before a memory node comes in by itself; 0: none does. */
    public long fillAfterNs()
    {
        return fillAfterNs;
    }

    /**
     * @param delayNs how long a group of memory nodes has fewer members than its tables have copies before another
     *                memory node comes in by itself; while it is copied nobody reads or writes these tables. 0, the
     *                default: never.
     * @return this.
     */
    public MetaServerConfiguration fillAfterNs(final long delayNs)
    {
        if (delayNs < 0)
        {
            throw new IllegalArgumentException("fillAfterNs=" + delayNs + " must be 0 or more");
        }
        fillAfterNs = delayNs;
        return this;
    }

    /** @return whether it serves nobody but the process that it is in. */
    public boolean isWarmUp()
    {
        return isWarmUp;
    }

    /**
     * @param isForNobody whether the server only has its code run before another one needs it: then it logs neither
     *                    that it is ready nor who joins. Default false.
     * @return this.
     */
    public MetaServerConfiguration warmUp(final boolean isForNobody)
    {
        isWarmUp = isForNobody;
        return this;
    }

    /** @return what nodes and operators prove; null: nothing. */
    public IdentitySecret clusterSecret()
    {
        return clusterSecret;
    }

    /**
     * @param secret that nodes prove to have before they register, and operators; those of users are derived from it.
     *               Default null: who reaches the fabric may register and act as an operator, and there are no users.
     * @return this.
     */
    public MetaServerConfiguration clusterSecret(final IdentitySecret secret)
    {
        clusterSecret = secret;
        return this;
    }

    /** @return whether certificates say which node may be what. */
    public boolean bindsRoles()
    {
        return bindsRoles;
    }

    /**
     * @param isBound whether a node registers, and an operator changes things, only with what
     *                {@link MetaServer#joiningSecret} has for its roles. Default false: the token is enough.
     * @return this.
     */
    public MetaServerConfiguration bindsRoles(final boolean isBound)
    {
        bindsRoles = isBound;
        return this;
    }

    /** @return takes what is to be known later. */
    public MetaAudit audit()
    {
        return audit;
    }

    /**
     * @param taker of what is to be known later; closed by the caller. Default: nothing is kept.
     * @return this.
     */
    public MetaServerConfiguration audit(final MetaAudit taker)
    {
        audit = taker;
        return this;
    }

    /** @return how long the secret of a registration is taken. */
    public long secretLifetimeNs()
    {
        return secretLifetimeNs;
    }

    /**
     * @param lifetimeNs of the secrets of registrations, and of the tokens of compute nodes for memory nodes: after
     *                   half of it they are renewed, and the former ones are accepted for as long again. Default 24 h.
     * @return this.
     */
    public MetaServerConfiguration secretLifetimeNs(final long lifetimeNs)
    {
        secretLifetimeNs = lifetimeNs;
        return this;
    }

    /** @return by what servers that take turns know how old a secret is. */
    public EpochClock wallClock()
    {
        return wallClock;
    }

    /**
     * @param clock by which servers that take turns know how old a secret is. Default: that of the system.
     * @return this.
     */
    public MetaServerConfiguration wallClock(final EpochClock clock)
    {
        wallClock = clock;
        return this;
    }

    /** @return most nodes at a time. */
    public int maxNodes()
    {
        return maxNodes;
    }

    /**
     * @param nodes most nodes at a time, 1 to 65,535; memory nodes that are lost, left or forgotten take no place.
     *              Default 128.
     * @return this.
     */
    public MetaServerConfiguration maxNodes(final int nodes)
    {
        this.maxNodes = nodes;
        return this;
    }

    /** @return most clients connected at a time. */
    public int maxClients()
    {
        return maxClients;
    }

    /**
     * @param clients most that are connected at a time, 1 or more; one more is refused, with the name of the option to
     *                raise. Nodes, and fencing, have room of their own. Default 1,024.
     * @return this.
     */
    public MetaServerConfiguration maxClients(final int clients)
    {
        this.maxClients = clients;
        return this;
    }

    /** @return most registrations that wait to be durable. */
    public int maxWaitingRegistrations()
    {
        return maxWaitingRegistrations;
    }

    /**
     * @param registrations most that wait to be durable, 1 or more; a node beyond is refused with the time after
     *                      which to ask again. Default 1,024.
     * @return this.
     */
    public MetaServerConfiguration maxWaitingRegistrations(final int registrations)
    {
        this.maxWaitingRegistrations = registrations;
        return this;
    }

    /** @return identities that are kept on disk for compute nodes to come. */
    public int spareIdentities()
    {
        return spareIdentities;
    }

    /**
     * @param identities kept on disk for compute nodes to come, 0 to {@link #MAX_SPARE_IDENTITIES}: as many can join at
     *                   once without waiting for the disk. After a server ended without notice, each counts as a node
     *                   for one lease. Memory nodes make a key for each ahead of time. Default 4.
     * @return this.
     */
    public MetaServerConfiguration spareIdentities(final int identities)
    {
        if (identities < 0 || identities > MAX_SPARE_IDENTITIES)
        {
            throw new IllegalArgumentException(
                "spareIdentities=" + identities + "; 0 to " + MAX_SPARE_IDENTITIES + " are possible");
        }
        this.spareIdentities = identities;
        return this;
    }

    /** @return length of a lease. */
    public long leaseNs()
    {
        return leaseNs;
    }

    /**
     * @param lengthNs of a lease, as granted to nodes; a node that is silent for longer is out. Default 5 s.
     * @return this.
     */
    public MetaServerConfiguration leaseNs(final long lengthNs)
    {
        this.leaseNs = lengthNs;
        return this;
    }

    /** @return how much longer the server waits. */
    public long leaseMarginNs()
    {
        return leaseMarginNs;
    }

    /**
     * @param marginNs how much longer the server waits than it grants nodes, for clocks that do not run alike; default
     *                 500 ms.
     * @return this.
     */
    public MetaServerConfiguration leaseMarginNs(final long marginNs)
    {
        this.leaseMarginNs = marginNs;
        return this;
    }

    /** @return least time between two epochs. */
    public long epochIntervalNs()
    {
        return epochIntervalNs;
    }

    /**
     * @param intervalNs least time between two epochs; the compute nodes' heartbeats bound it too. Default 5 ms.
     * @return this.
     */
    public MetaServerConfiguration epochIntervalNs(final long intervalNs)
    {
        this.epochIntervalNs = intervalNs;
        return this;
    }

    /** @return least time between two epochs that nobody waits for. */
    public long idleEpochIntervalNs()
    {
        return idleEpochIntervalNs;
    }

    /**
     * @param intervalNs least time between two epochs while no node waits for one. A cached location is used for two
     *                   epochs after it was seen last, so epochs that nobody needs cost round trips. Default 2 s; never
     *                   less than {@link #epochIntervalNs}.
     * @return this.
     */
    public MetaServerConfiguration idleEpochIntervalNs(final long intervalNs)
    {
        this.idleEpochIntervalNs = intervalNs;
        return this;
    }

    /** @return deadline of one fence call. */
    public long fenceTimeoutNs()
    {
        return fenceTimeoutNs;
    }

    /**
     * @param timeoutNs deadline of one fence call, connecting included; default 500 ms.
     * @return this.
     */
    public MetaServerConfiguration fenceTimeoutNs(final long timeoutNs)
    {
        this.fenceTimeoutNs = timeoutNs;
        return this;
    }

    /** @return pause before a fence call is made again. */
    public long fenceRetryNs()
    {
        return fenceRetryNs;
    }

    /**
     * @param pauseNs before a fence call that was not confirmed is made again; default 100 ms.
     * @return this.
     */
    public MetaServerConfiguration fenceRetryNs(final long pauseNs)
    {
        this.fenceRetryNs = pauseNs;
        return this;
    }

    /** @return whether no process of an earlier node runs any more. */
    public boolean previousNodesAreGone()
    {
        return previousNodesAreGone;
    }

    /**
     * Says that every node the data folder knows has ended with its process, as it is when they all ran in one process
     * with the server. Without it a memory node that never comes back delays fencing, because silence proves nothing.
     *
     * @param areGone whether no process of an earlier node runs any more; default false. Wrong when it is not so:
     *                blocks that such a node still writes are used again.
     * @return this.
     */
    public MetaServerConfiguration previousNodesAreGone(final boolean areGone)
    {
        this.previousNodesAreGone = areGone;
        return this;
    }

    /** @return room for descriptions of tables in registered memory that all nodes read. */
    public int viewTableBytes()
    {
        return viewTableBytes;
    }

    /**
     * @param roomBytes for descriptions of tables in registered memory, from which a node that joins takes them all at
     *                  once; 0 to 64 MiB. A table takes 64 bytes and its description, which is 100 bytes for a small
     *                  table and at most 3,584; those for which there is no room are fetched by a call when a node
     *                  needs them. Default 1 MiB.
     * @return this.
     */
    public MetaServerConfiguration viewTableBytes(final int roomBytes)
    {
        viewTableBytes = roomBytes;
        return this;
    }

    /** @return what raises an event when something arrives, or null. */
    public CompletionChannel completionChannel()
    {
        return completionChannel;
    }

    /**
     * @param channel of the node's device, see {@link io.verbena.raas.RaasConfiguration#completionChannel()}; closed by
     *                the caller after the node; null, the default, for none.
     * @return this.
     */
    public MetaServerConfiguration completionChannel(final CompletionChannel channel)
    {
        this.completionChannel = channel;
        return this;
    }
}
