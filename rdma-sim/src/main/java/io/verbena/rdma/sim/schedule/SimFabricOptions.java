package io.verbena.rdma.sim.schedule;

import java.util.concurrent.TimeUnit;

/** How adversarial a {@code SimFabric} is. Times are virtual. Read once by the fabric's constructor. */
public final class SimFabricOptions
{
    private long minDelayNs = 300;
    private long maxDelayNs = 3_000;
    private double longDelayProbability = 0.02;
    private long longDelayNs = 50_000;
    private boolean tearing = true;
    private boolean readOvertakenByWrite = true;
    private boolean readAfterAtomicNeedsFence;
    private long minAgentStepNs = 50;
    private long maxAgentStepNs = 500;
    private long maxAgentIdleNs = 10_000;
    private double agentStallProbability = 0.001;
    private long agentStallNs = 200_000;
    private double lossProbability;
    private double responseLossProbability;
    private boolean repeatsRecognised = true;
    private int maxDcContexts = 64;
    private long retryTimeoutNs = TimeUnit.MILLISECONDS.toNanos(20);
    private boolean holdsCallersMemory;
    private long namedMemoryAfterDeathNs = TimeUnit.MILLISECONDS.toNanos(1);
    private boolean namedMemoryCutsOff = true;
    private RnicModel rnicModel;
    private long rnrTimeoutNs = TimeUnit.MILLISECONDS.toNanos(50);

    /** @return a fabric in which each request takes the same time, nothing is torn and nothing overtakes. */
    public static SimFabricOptions calm()
    {
        return new SimFabricOptions()
            .delayNs(1_000, 1_000).longDelay(0, 0).tearing(false).readOvertakenByWrite(false)
            .agentStall(0, 0);
    }

    /** @return shortest one-way delay of a request or a response. */
    public long minDelayNs()
    {
        return minDelayNs;
    }

    /** @return longest ordinary one-way delay. */
    public long maxDelayNs()
    {
        return maxDelayNs;
    }

    /**
     * @param minDelayNs shortest one-way delay, 1 or more.
     * @param maxDelayNs longest ordinary one-way delay; drawn uniformly, which reorders across queue pairs.
     * @return this.
     */
    public SimFabricOptions delayNs(final long minDelayNs, final long maxDelayNs)
    {
        this.minDelayNs = minDelayNs;
        this.maxDelayNs = maxDelayNs;
        return this;
    }

    /** @return probability of a long delay. */
    public double longDelayProbability()
    {
        return longDelayProbability;
    }

    /** @return longest long delay. */
    public long longDelayNs()
    {
        return longDelayNs;
    }

    /**
     * @param probability that a message takes a long delay instead, 0 to 1.
     * @param longDelayNs longest long delay.
     * @return this.
     */
    public SimFabricOptions longDelay(final double probability, final long longDelayNs)
    {
        this.longDelayProbability = probability;
        this.longDelayNs = longDelayNs;
        return this;
    }

    /** @return whether READs and WRITEs are torn. */
    public boolean tearing()
    {
        return tearing;
    }

    /**
     * @param tearing whether READs and WRITEs take one step per 64-byte line, lines in random order, other queue pairs'
     *                requests in between. Aligned 8-byte words are never torn.
     * @return this.
     */
    public SimFabricOptions tearing(final boolean tearing)
    {
        this.tearing = tearing;
        return this;
    }

    /** @return whether a READ may see a later WRITE. */
    public boolean readOvertakenByWrite()
    {
        return readOvertakenByWrite;
    }

    /**
     * @param readOvertakenByWrite whether a WRITE or SEND posted after a READ without FENCE may execute before it.
     * @return this.
     */
    public SimFabricOptions readOvertakenByWrite(final boolean readOvertakenByWrite)
    {
        this.readOvertakenByWrite = readOvertakenByWrite;
        return this;
    }

    /** @return whether a READ may overtake an atomic. */
    public boolean readAfterAtomicNeedsFence()
    {
        return readAfterAtomicNeedsFence;
    }

    /**
     * @param readAfterAtomicNeedsFence whether a READ posted after an atomic without FENCE may execute before it; shown
     *                                  in the device attributes.
     * @return this.
     */
    public SimFabricOptions readAfterAtomicNeedsFence(final boolean readAfterAtomicNeedsFence)
    {
        this.readAfterAtomicNeedsFence = readAfterAtomicNeedsFence;
        return this;
    }

    /** @return whether registered memory of the caller cannot be freed. */
    public boolean holdsCallersMemory()
    {
        return holdsCallersMemory;
    }

    /**
     * @param holdsCallersMemory whether {@code Arena.close()} is refused while memory is registered, as on other
     *                           providers; off, because it takes a thread for each region and killed nodes close none.
     *                           Without it a request for freed memory ends the run with IllegalStateException.
     * @return this.
     */
    public SimFabricOptions holdsCallersMemory(final boolean holdsCallersMemory)
    {
        this.holdsCallersMemory = holdsCallersMemory;
        return this;
    }

    /** @return probability that a message of a UC or UD queue pair is lost. */
    public double lossProbability()
    {
        return lossProbability;
    }

    /**
     * @param probability that a message of a UC or UD queue pair is lost, 0 to 1. Of a UC message of several packets
     *                    those before the lost one may have been placed.
     * @return this.
     */
    public SimFabricOptions loss(final double probability)
    {
        this.lossProbability = probability;
        return this;
    }

    /** @return probability that a response of an RC queue pair is lost. */
    public double responseLossProbability()
    {
        return responseLossProbability;
    }

    /**
     * @param probability that the response to a request of an RC queue pair that succeeded is lost, 0 to 1. The request
     *                    comes again after an eighth of the retry time or a millisecond, at most six times: a READ is
     *                    read anew as far as no later atomic was executed, everything else is answered as before and
     *                    not executed twice.
     * @return this.
     */
    public SimFabricOptions responseLoss(final double probability)
    {
        this.responseLossProbability = probability;
        return this;
    }

    /** @return whether responders tell repeated requests from new ones. */
    public boolean repeatsRecognised()
    {
        return repeatsRecognised;
    }

    /**
     * @param repeatsRecognised whether responders tell repeated requests from new ones, as they must (the default);
     *                          without it they execute them again, for tests of what finds this fault.
     * @return this.
     */
    public SimFabricOptions repeatsRecognised(final boolean repeatsRecognised)
    {
        this.repeatsRecognised = repeatsRecognised;
        return this;
    }

    /** @return DC connections that a device serves at once. */
    public int maxDcContexts()
    {
        return maxDcContexts;
    }

    /**
     * @param maxDcContexts DC connections that a device serves at once, 1 or more; initiators beyond retry until the
     *                      retry time is over.
     * @return this.
     */
    public SimFabricOptions maxDcContexts(final int maxDcContexts)
    {
        this.maxDcContexts = maxDcContexts;
        return this;
    }

    /** @return time after which a request that nobody answers fails with RETRY_EXC_ERR. */
    public long retryTimeoutNs()
    {
        return retryTimeoutNs;
    }

    /**
     * @param retryTimeoutNs time after which a request that nobody answers fails with RETRY_EXC_ERR.
     * @return this.
     */
    public SimFabricOptions retryTimeoutNs(final long retryTimeoutNs)
    {
        this.retryTimeoutNs = retryTimeoutNs;
        return this;
    }

    /** @return time after which a request that meets no receive fails with RNR_RETRY_EXC_ERR. */
    public long rnrTimeoutNs()
    {
        return rnrTimeoutNs;
    }

    /**
     * @param rnrTimeoutNs time after which a request that meets no receive fails with RNR_RETRY_EXC_ERR.
     * @return this.
     */
    public SimFabricOptions rnrTimeoutNs(final long rnrTimeoutNs)
    {
        this.rnrTimeoutNs = rnrTimeoutNs;
        return this;
    }

    /** @return shortest time that one call of an agent takes. */
    public long minAgentStepNs()
    {
        return minAgentStepNs;
    }

    /** @return longest ordinary time that one call of an agent takes. */
    public long maxAgentStepNs()
    {
        return maxAgentStepNs;
    }

    /** @return longest pause between two calls of an agent that finds no work. */
    public long maxAgentIdleNs()
    {
        return maxAgentIdleNs;
    }

    /**
     * @param minStepNs shortest time that one call of an agent takes, 1 or more.
     * @param maxStepNs longest ordinary time.
     * @param maxIdleNs an agent that finds no work is called more and more rarely, up to this.
     * @return this.
     */
    public SimFabricOptions agentStepNs(final long minStepNs, final long maxStepNs, final long maxIdleNs)
    {
        this.minAgentStepNs = minStepNs;
        this.maxAgentStepNs = maxStepNs;
        this.maxAgentIdleNs = maxIdleNs;
        return this;
    }

    /** @return probability that an agent stalls after a call. */
    public double agentStallProbability()
    {
        return agentStallProbability;
    }

    /** @return longest stall. */
    public long agentStallNs()
    {
        return agentStallNs;
    }

    /**
     * @param probability that an agent is not called for a while after a call, as by a collection or the scheduler.
     * @param stallNs     longest while.
     * @return this.
     */
    public SimFabricOptions agentStall(final double probability, final long stallNs)
    {
        this.agentStallProbability = probability;
        this.agentStallNs = stallNs;
        return this;
    }

    /** @return what the NICs cost; null when delays are drawn. */
    public RnicModel rnicModel()
    {
        return rnicModel;
    }

    /**
     * @param rnicModel what the NICs cost: requests and responses then take the time that this predicts, and the drawn
     *                  delays are those of connection messages only. Null (the default) to draw them.
     * @return this.
     */
    public SimFabricOptions rnicModel(final RnicModel rnicModel)
    {
        this.rnicModel = rnicModel;
        return this;
    }

    /** @return longest time for which named memory of a killed device is still reached. */
    public long namedMemoryAfterDeathNs()
    {
        return namedMemoryAfterDeathNs;
    }

    /**
     * @param namedMemoryAfterDeathNs for how long at most one-sided requests for named memory of a killed device are
     *                                still executed and answered, as those for shared memory are; 0: not at all.
     * @return this.
     */
    public SimFabricOptions namedMemoryAfterDeathNs(final long namedMemoryAfterDeathNs)
    {
        this.namedMemoryAfterDeathNs = namedMemoryAfterDeathNs;
        return this;
    }

    /** @return whether a new holder of named memory cuts everybody off from the device before. */
    public boolean namedMemoryCutsOff()
    {
        return namedMemoryCutsOff;
    }

    /**
     * @param namedMemoryCutsOff false breaks the contract, to show what relies on it: requests that set out to the
     *                           holder before may land when the new one has the memory.
     * @return this.
     */
    public SimFabricOptions namedMemoryCutsOff(final boolean namedMemoryCutsOff)
    {
        this.namedMemoryCutsOff = namedMemoryCutsOff;
        return this;
    }
}
