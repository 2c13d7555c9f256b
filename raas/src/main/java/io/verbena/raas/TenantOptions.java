package io.verbena.raas;

import io.verbena.raas.limit.RaasMisuseException;

/**
 * Weight and quotas of a {@link Tenant}. Read once by {@link RaasContext#tenant}; not thread-safe. By default the
 * weight is 1 and nothing is limited but by the limits of the context.
 */
public final class TenantOptions
{
    /** Largest weight. */
    public static final int MAX_WEIGHT = 1000;

    private int weight = 1;
    private int queueSlots = Integer.MAX_VALUE;
    private int readDepth = Integer.MAX_VALUE;
    private int openBatches = Integer.MAX_VALUE;
    private int calls = Integer.MAX_VALUE;
    private int receives = Integer.MAX_VALUE;
    private long pinnedBytes = Long.MAX_VALUE;

    /** Defaults. */
    public TenantOptions()
    {
    }

    /** A copy that nobody else changes. */
    TenantOptions(final TenantOptions other)
    {
        weight = other.weight;
        queueSlots = other.queueSlots;
        readDepth = other.readDepth;
        openBatches = other.openBatches;
        calls = other.calls;
        receives = other.receives;
        pinnedBytes = other.pinnedBytes;
    }

    /** @return share of a queue pair beside those of others who wait for it. */
    public int weight()
    {
        return weight;
    }

    /**
     * @param share of a queue pair, in bytes, beside those of others who wait for it, 1 to {@link #MAX_WEIGHT}; twice
     *              the weight, twice the bytes. Default 1.
     * @return this.
     */
    public TenantOptions weight(final int share)
    {
        weight = share;
        return this;
    }

    /** @return most requests on one queue pair. */
    public int queueSlots()
    {
        return queueSlots;
    }

    /**
     * @param requests most on one queue pair, posted or waiting, 1 or more: a batch beyond that is QUEUE_FULL. Default:
     *                 {@link RaasConfiguration#sendQueueDepth()}.
     * @return this.
     */
    public TenantOptions queueSlots(final int requests)
    {
        queueSlots = requests;
        return this;
    }

    /** @return most READs and atomics posted at once on one queue pair. */
    public int readDepth()
    {
        return readDepth;
    }

    /**
     * @param requests READs and atomics posted at once on one queue pair, 1 or more; more of them wait, and nobody
     *                 else for them. Default: as many as the queue pair executes at once, so that none waits there.
     * @return this.
     */
    public TenantOptions readDepth(final int requests)
    {
        readDepth = requests;
        return this;
    }

    /** @return most batches begun and neither completed nor aborted. */
    public int openBatches()
    {
        return openBatches;
    }

    /**
     * @param batches begun and neither completed nor aborted, 1 or more: one more is QUEUE_FULL. Default: as far as
     *                {@link RaasConfiguration#maxOpenBatches()} goes.
     * @return this.
     */
    public TenantOptions openBatches(final int batches)
    {
        openBatches = batches;
        return this;
    }

    /** @return most calls made and not over. */
    public int calls()
    {
        return calls;
    }

    /**
     * @param made most calls made and not over, 1 or more: one more is QUEUE_FULL. Default: as far as
     *             {@link RaasConfiguration#maxCalls()} goes.
     * @return this.
     */
    public TenantOptions calls(final int made)
    {
        calls = made;
        return this;
    }

    /** @return most receives of its message endpoints. */
    public int receives()
    {
        return receives;
    }

    /**
     * @param taken most receives of all its {@link MessageEndpoint}s together, 1 or more: each takes its credits and 3
     *              more, and one for which there are not so many left is not opened. Default: as far as
     *              {@link RaasConfiguration#messageReceives()} goes.
     * @return this.
     */
    public TenantOptions receives(final int taken)
    {
        receives = taken;
        return this;
    }

    /** @return most bytes of memory registered. */
    public long pinnedBytes()
    {
        return pinnedBytes;
    }

    /**
     * @param bytes of memory registered in {@link Tenant#protectionDomain()}, 1 or more: what would exceed it is
     *              refused. Default: not limited.
     * @return this.
     */
    public TenantOptions pinnedBytes(final long bytes)
    {
        pinnedBytes = bytes;
        return this;
    }

    /** Whether a queue pair has to look after it although nobody shares it. */
    boolean isLimitedOnQueuePairs()
    {
        return queueSlots != Integer.MAX_VALUE || readDepth != Integer.MAX_VALUE;
    }

    /** Throws when a value is out of its range. */
    void validate(final String tenant)
    {
        require(tenant, "weight", weight, MAX_WEIGHT);
        require(tenant, "queueSlots", queueSlots, Integer.MAX_VALUE);
        require(tenant, "readDepth", readDepth, Integer.MAX_VALUE);
        require(tenant, "openBatches", openBatches, Integer.MAX_VALUE);
        require(tenant, "calls", calls, Integer.MAX_VALUE);
        require(tenant, "receives", receives, Integer.MAX_VALUE);
        require(tenant, "pinnedBytes", pinnedBytes, Long.MAX_VALUE);
    }

    private static void require(final String tenant, final String name, final long value, final long most)
    {
        if (value < 1 || value > most)
        {
            throw new RaasMisuseException("tenant '" + tenant + "': TenantOptions." + name + " is " + value +
                ", it must be 1" + (most == MAX_WEIGHT ? " to " + most : " or more"));
        }
    }
}
