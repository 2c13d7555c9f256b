package io.verbena.memory;

import io.verbena.protocol.message.FailureDomain;
import io.verbena.rdma.verbs.CompletionChannel;

import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.SystemEpochClock;

import java.util.concurrent.TimeUnit;

/** How a {@link MemoryNode} runs. Read once at start; not thread-safe. */
public final class MemoryNodeConfiguration
{
    /** Where it listens on its device. */
    static final int SERVICE_PORT = 1;
    /** Most connections at a time, in and out. */
    static final int MAX_PEERS = 128;

    private long regionLengthBytes = 256L << 20;
    private int chunkLengthBytes = 256 << 10;
    private MemoryFolder folder;
    private boolean hasCheckpointThread = true;
    private long checkpointPeriodNs = TimeUnit.SECONDS.toNanos(60);
    private boolean acceptsDamage;
    private EpochClock epochClock = SystemEpochClock.INSTANCE;
    private long callTimeoutNs = TimeUnit.SECONDS.toNanos(1);
    private long retryPauseNs = TimeUnit.MILLISECONDS.toNanos(20);
    private long joinTimeoutNs = TimeUnit.SECONDS.toNanos(20);
    private CompletionChannel completionChannel;
    private String failureDomain = FailureDomain.NONE;

    /** @return whether it serves memory in which records are damaged. */
    public boolean acceptsDamage()
    {
        return acceptsDamage;
    }

    /**
     * @param accepts whether the node serves memory that it finds again with damaged records in it, whose keys then
     *                fail with a typed error; default false: it fails, and changes nothing.
     * @return this.
     */
    public MemoryNodeConfiguration acceptsDamage(final boolean accepts)
    {
        acceptsDamage = accepts;
        return this;
    }

    /** @return registered memory. */
    public long regionLengthBytes()
    {
        return regionLengthBytes;
    }

    /**
     * @param lengthBytes registered memory: superblock and chunks, at most 128 GiB; default 256 MiB.
     * @return this.
     */
    public MemoryNodeConfiguration regionLengthBytes(final long lengthBytes)
    {
        this.regionLengthBytes = lengthBytes;
        return this;
    }

    /** @return length of a chunk. */
    public int chunkLengthBytes()
    {
        return chunkLengthBytes;
    }

    /**
     * @param lengthBytes of a chunk, a power of two from 64 KiB to 1 MiB; default 256 KiB.
     * @return this.
     */
    public MemoryNodeConfiguration chunkLengthBytes(final int lengthBytes)
    {
        this.chunkLengthBytes = lengthBytes;
        return this;
    }

    /** @return who it is, or null. */
    public MemoryFolder folder()
    {
        return folder;
    }

    /**
     * @param memoryFolder says who the node is; open until after the node is closed. The node then has memory that
     *                     outlives its process, as long as the folder says, and finds it again. Default: none, each
     *                     process is a new node.
     * @return this.
     */
    public MemoryNodeConfiguration folder(final MemoryFolder memoryFolder)
    {
        folder = memoryFolder;
        return null == memoryFolder ? this : regionLengthBytes(memoryFolder.regionLengthBytes());
    }

    /** @return label of the node's failure domain, or NONE. */
    public String failureDomain()
    {
        return failureDomain;
    }

    /**
     * @param label of what the node shares with others that are lost together with it, see {@link FailureDomain}: it is
     *              part of what the node says when it registers. Default NONE, a failure domain of its own.
     * @return this.
     */
    public MemoryNodeConfiguration failureDomain(final String label)
    {
        failureDomain = label;
        return this;
    }

    /** @return time between checkpoints. */
    public long checkpointPeriodNs()
    {
        return checkpointPeriodNs;
    }

    /**
     * @param periodNs time between the end of a checkpoint and the start of the next; 0: only when asked for, and of a
     *                 group whose head or primary the node becomes. Of a node with a folder. Default 60 s.
     * @return this.
     */
    public MemoryNodeConfiguration checkpointPeriodNs(final long periodNs)
    {
        checkpointPeriodNs = periodNs;
        return this;
    }

    /** @return the clock of the times at which checkpoints were made. */
    public EpochClock epochClock()
    {
        return epochClock;
    }

    /**
     * @param clock milliseconds since 1970, for the times of checkpoints; default the wall clock. Simulations give a
     *              virtual one.
     * @return this.
     */
    public MemoryNodeConfiguration epochClock(final EpochClock clock)
    {
        epochClock = clock;
        return this;
    }

    boolean hasCheckpointThread()
    {
        return hasCheckpointThread;
    }

    /** Checkpoints are made only when {@link Checkpointer#make} is called, where one thread does everything. */
    MemoryNodeConfiguration noCheckpointThread()
    {
        hasCheckpointThread = false;
        return this;
    }

    /** @return deadline of a call to the meta server. */
    public long callTimeoutNs()
    {
        return callTimeoutNs;
    }

    /**
     * @param timeoutNs deadline of a call to the meta server, connecting included; default 1 s.
     * @return this.
     */
    public MemoryNodeConfiguration callTimeoutNs(final long timeoutNs)
    {
        this.callTimeoutNs = timeoutNs;
        return this;
    }

    /** @return pause before a failed call is made again. */
    public long retryPauseNs()
    {
        return retryPauseNs;
    }

    /**
     * @param pauseNs before a failed call to the meta server is made again; default 20 ms.
     * @return this.
     */
    public MemoryNodeConfiguration retryPauseNs(final long pauseNs)
    {
        this.retryPauseNs = pauseNs;
        return this;
    }

    /** @return how long it tries to join. */
    public long joinTimeoutNs()
    {
        return joinTimeoutNs;
    }

    /**
     * @param timeoutNs how long a new node tries to join before it has FAILED; default 20 s. A node that was ready once
     *                  tries to come back for as long as it runs.
     * @return this.
     */
    public MemoryNodeConfiguration joinTimeoutNs(final long timeoutNs)
    {
        this.joinTimeoutNs = timeoutNs;
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
    public MemoryNodeConfiguration completionChannel(final CompletionChannel channel)
    {
        this.completionChannel = channel;
        return this;
    }
}
