package io.verbena.raas;

import io.verbena.raas.batch.BatchPool;
import io.verbena.raas.completion.EndedBatches;
import io.verbena.raas.region.PinnedBytes;
import io.verbena.raas.region.TenantProtectionDomain;
import io.verbena.raas.usage.TenantUsage;
import io.verbena.rdma.verbs.ProtectionDomain;

/**
 * One of several users of a {@link RaasContext}, who share its queue pairs by weight and have quotas. Each virtual
 * queue pair belongs to one; those connected without one belong to the first, which has the name {@code default}, the
 * weight 1 and no quota.
 *
 * <p>A tenant reaches with its requests the memory that it registered itself, and no other tenant's.
 *
 * <p>The owner thread of the context.
 */
public final class Tenant
{
    /** Name of the tenant of whoever names none. */
    public static final String DEFAULT_NAME = "default";

    private final String name;
    private final TenantOptions options;
    private final PinnedBytes pinned;
    private final TenantProtectionDomain protectionDomain;
    private final RequestChecks checks;
    private final int maxOpenBatches;
    private final int maxCalls;
    private final EndedBatches ended = new EndedBatches();
    private int virtualQps;
    private int openBatches;
    private int calls;
    private int receives;
    private long batches;
    private long requests;
    private long payloadBytes;
    private long waitedBatches;
    private long refusals;
    private long unknownOutcomes;

    Tenant(
        final String name, final TenantOptions options, final ProtectionDomain verbsProtectionDomain,
        final int maxMessageBytes)
    {
        this.name = name;
        this.options = options;
        pinned = new PinnedBytes(name, options.pinnedBytes());
        protectionDomain = new TenantProtectionDomain(verbsProtectionDomain, pinned);
        checks = new RequestChecks(protectionDomain, maxMessageBytes);
        maxOpenBatches = options.openBatches();
        maxCalls = options.calls();
    }

    /** @return the name, unique in the context. */
    public String name()
    {
        return name;
    }

    /**
     * Where the memory of this tenant is registered, within its quota: beyond that registering throws
     * {@link io.verbena.raas.limit.RaasLimitException}. Virtual queue pairs of the tenant take only regions made here.
     *
     * @return the protection domain; closed with the context.
     */
    public ProtectionDomain protectionDomain()
    {
        return protectionDomain;
    }

    /** @return what it has done and uses now; a new object. */
    public TenantUsage usage()
    {
        return new TenantUsage(name, options.weight(), virtualQps, batches, requests, payloadBytes, waitedBatches,
            refusals, unknownOutcomes, openBatches, calls, pinned.used());
    }

    TenantOptions options()
    {
        return options;
    }

    RequestChecks checks()
    {
        return checks;
    }

    /** Batches whose listeners are called when it is this tenant's turn. */
    EndedBatches ended()
    {
        return ended;
    }

    void onVirtualQp(final int change)
    {
        virtualQps += change;
    }

    /** Whether one more batch may be open, as far as this tenant goes. */
    boolean mayOpenBatch()
    {
        return openBatches < maxOpenBatches;
    }

    /** Lends a batch; {@link BatchPool#NONE} when there is none for this tenant. */
    int lend(final BatchPool pool)
    {
        if (!mayOpenBatch())
        {
            refusals++;
            return BatchPool.NONE;
        }
        final int batch = pool.lend();
        openBatches += batch == BatchPool.NONE ? 0 : 1;
        return batch;
    }

    /** A batch is open no longer. */
    void onBatchClosed()
    {
        openBatches--;
    }

    void onPosted(final int requestCount, final long bytes)
    {
        batches++;
        requests += requestCount;
        payloadBytes += bytes;
    }

    void onWaited()
    {
        waitedBatches++;
    }

    /** A batch finds no room on its queue pair; returns why it never will, or null. */
    String onNoRoom(final int requestCount, final boolean isByQuota)
    {
        refusals += isByQuota ? 1 : 0;
        return requestCount <= options.queueSlots() ? null : "a batch of " + requestCount + " requests of tenant '" +
            name + "': it has " + options.queueSlots() + " queue slots (TenantOptions.queueSlots): complete() earlier";
    }

    void onUnknownOutcome()
    {
        unknownOutcomes++;
    }

    /** Takes room for a call; false when the quota is used up. */
    boolean takeCall()
    {
        if (calls == maxCalls)
        {
            refusals++;
            return false;
        }
        calls++;
        return true;
    }

    void giveBackCall()
    {
        calls--;
    }

    /** Takes receives for a message endpoint; false when the quota is used up. */
    boolean takeReceives(final int count)
    {
        if (count > options.receives() - receives)
        {
            refusals++;
            return false;
        }
        receives += count;
        return true;
    }

    void giveBackReceives(final int count)
    {
        receives -= count;
    }

    @Override
    public String toString()
    {
        return "Tenant{" + usage() + '}';
    }
}
