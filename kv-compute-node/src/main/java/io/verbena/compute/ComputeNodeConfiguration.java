package io.verbena.compute;

import io.verbena.compute.figures.OperationTraces;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.rdma.verbs.CompletionChannel;

import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.SystemEpochClock;

import java.util.concurrent.TimeUnit;

/** Settings of a {@link ComputeNode}; fluent, read once when the node is made. Not thread-safe. */
public final class ComputeNodeConfiguration
{
    /** Most that {@link #maxMemoryNodes(int)} takes. */
    public static final int MOST_MEMORY_NODES = 2_048;

    private String name = "compute";
    private int servicePort;
    private TcpAddress tcpService = TcpAddress.NONE;
    private CompletionChannel completionChannel;
    private int operationSlots = 64;
    private int queueCapacity = 4096;
    private int maxMemoryNodes = 128;
    private int locationCacheEntries = 1 << 16;
    private long heartbeatIntervalNs = TimeUnit.MILLISECONDS.toNanos(25);
    private long callTimeoutNs = TimeUnit.SECONDS.toNanos(2);
    private long joinTimeoutNs = TimeUnit.SECONDS.toNanos(15);
    private boolean reclaims = true;
    private boolean splitsSubtables = true;
    private long fillLookPauseNs = TimeUnit.SECONDS.toNanos(1);
    private boolean fillsChunks = true;
    private long sweepIntervalNs = TimeUnit.MINUTES.toNanos(5);
    private long fillBytesPerSecond = 256L << 20;
    private long slowThresholdNs = TimeUnit.MILLISECONDS.toNanos(10);
    private long traceOneIn = 10_000;
    private EpochNanoClock versionClock;
    private volatile boolean isSpare;
    private String instance = "";
    private boolean isEncryptionRequired;

    /** @return name of the node in messages and threads. */
    public String name()
    {
        return name;
    }

    /**
     * @param name of the node in messages and threads.
     * @return this.
     */
    public ComputeNodeConfiguration name(final String name)
    {
        this.name = name;
        return this;
    }

    /** @return where clients in other processes reach the node; 0 when they do not. */
    public int servicePort()
    {
        return servicePort;
    }

    /**
     * @param port where a server for clients in other processes listens on the node's device, 1 to 65,535; the meta
     *             server names it to them; 0, the default, when there is none.
     * @return this.
     */
    public ComputeNodeConfiguration servicePort(final int port)
    {
        this.servicePort = port;
        return this;
    }

    /** @return where clients reach the node over TCP; NONE when they do not. */
    public TcpAddress tcpService()
    {
        return tcpService;
    }

    /**
     * @param address where the node serves clients over TCP, published by the meta server to all compute nodes; NONE,
     *                the default, when it does not. May be set until the node is driven first.
     * @return this.
     */
    public ComputeNodeConfiguration tcpService(final TcpAddress address)
    {
        tcpService = address;
        return this;
    }

    /** @return pause between two looks how full siblings are. */
    public long fillLookPauseNs()
    {
        return fillLookPauseNs;
    }

    /**
     * @param pauseNs between two looks how full two sibling subtables are, which are merged when both have few records;
     *                shorter where there are many, and while looks find something. Default: 1 s.
     * @return this.
     */
    public ComputeNodeConfiguration fillLookPauseNs(final long pauseNs)
    {
        fillLookPauseNs = pauseNs;
        return this;
    }

    /** @return in which all tables are walked for records behind their deadlines; 0 if they are not. */
    public long sweepIntervalNs()
    {
        return sweepIntervalNs;
    }

    /**
     * @param intervalNs in which the compute nodes together walk all tables once, and take away the records whose
     *                   deadlines have passed, so that their memory comes back also if nobody asks for them; 1 ms or
     *                   more, or 0: not at all. Default: 5 minutes.
     * @return this.
     */
    public ComputeNodeConfiguration sweepIntervalNs(final long intervalNs)
    {
        if (intervalNs != 0 && intervalNs < TimeUnit.MILLISECONDS.toNanos(1))
        {
            throw new IllegalArgumentException("sweepIntervalNs=" + intervalNs + " (1,000,000 or more, or 0)");
        }
        sweepIntervalNs = intervalNs;
        return this;
    }

    /** @return bytes per second that are copied, at most, to a memory node that comes into a group. */
    public long fillBytesPerSecond()
    {
        return fillBytesPerSecond;
    }

    /**
     * @param bytesPerSecond that are copied, at most, to a memory node that comes into a group, while others read and
     *                       write: what differs then is copied without a bound, while nobody does; 1 MiB or more,
     *                       default 256 MiB.
     * @return this.
     * @throws IllegalArgumentException when it is less.
     */
    public ComputeNodeConfiguration fillBytesPerSecond(final long bytesPerSecond)
    {
        if (bytesPerSecond < 1 << 20)
        {
            throw new IllegalArgumentException("fillBytesPerSecond=" + bytesPerSecond + " (1,048,576 or more)");
        }
        fillBytesPerSecond = bytesPerSecond;
        return this;
    }

    /** @return new ones, as set below. */
    OperationTraces traces()
    {
        return new OperationTraces(slowThresholdNs, traceOneIn, SystemEpochClock.INSTANCE);
    }

    /** @return what is slow, in ns from the arrival of an operation at the node to its answer. */
    public long slowThresholdNs()
    {
        return slowThresholdNs;
    }

    /**
     * @param thresholdNs of operations that took so long a trace is kept; 0 or more, or {@link OperationTraces#NEVER}.
     *                    Default: 10 ms.
     * @return this.
     */
    public ComputeNodeConfiguration slowThresholdNs(final long thresholdNs)
    {
        if (thresholdNs < 0)
        {
            throw new IllegalArgumentException("slowThresholdNs=" + thresholdNs + " (0 or more)");
        }
        slowThresholdNs = thresholdNs;
        return this;
    }

    /** @return of one operation in so many a trace is kept, slow or not. */
    public long traceOneIn()
    {
        return traceOneIn;
    }

    /**
     * @param oneIn of one operation in so many a trace is kept, slow or not; 1 or more, or {@link
     *              OperationTraces#NEVER}. Default: 10,000.
     * @return this.
     */
    public ComputeNodeConfiguration traceOneIn(final long oneIn)
    {
        if (oneIn < 1)
        {
            throw new IllegalArgumentException("traceOneIn=" + oneIn + " (1 or more)");
        }
        traceOneIn = oneIn;
        return this;
    }

    /** @return whether the node splits subtables that fill up, and merges those that have become nearly empty. */
    public boolean splitsSubtables()
    {
        return splitsSubtables;
    }

    /**
     * @param isOn whether the node splits subtables that fill up, so that tables grow beyond what they were made for,
     *             merges those that have become nearly empty, down to what a table was made with, and makes tables of
     *             subtables as long as a chunk. Default: yes.
     * @return this.
     */
    public ComputeNodeConfiguration splitsSubtables(final boolean isOn)
    {
        splitsSubtables = isOn;
        return this;
    }

    /** @return operations under way at once. */
    public int operationSlots()
    {
        return operationSlots;
    }

    /**
     * @param operationSlots operations under way at once, 1 to 4,096; more wait in the queue. Default 64.
     * @return this.
     */
    public ComputeNodeConfiguration operationSlots(final int operationSlots)
    {
        this.operationSlots = operationSlots;
        return this;
    }

    /** @return requests that can wait for the node. */
    public int queueCapacity()
    {
        return queueCapacity;
    }

    /**
     * @param queueCapacity requests that can wait for the node, 2 or more; then it answers FULL. Default 4,096.
     * @return this.
     */
    public ComputeNodeConfiguration queueCapacity(final int queueCapacity)
    {
        this.queueCapacity = queueCapacity;
        return this;
    }

    /** @return most memory nodes that it connects to. */
    public int maxMemoryNodes()
    {
        return maxMemoryNodes;
    }

    /**
     * @param nodes most memory nodes that it connects to, 1 to {@link #MOST_MEMORY_NODES}; tables on further ones
     *              cannot be used here. Each takes 17 KiB of completion queues. Default 128.
     * @return this.
     */
    public ComputeNodeConfiguration maxMemoryNodes(final int nodes)
    {
        if (nodes < 1 || nodes > MOST_MEMORY_NODES)
        {
            throw new ComputeNodeException("maxMemoryNodes " + nodes + ": must be 1 to " + MOST_MEMORY_NODES);
        }
        maxMemoryNodes = nodes;
        return this;
    }

    /** @return bound of the location cache, in keys. */
    public int locationCacheEntries()
    {
        return locationCacheEntries;
    }

    /**
     * @param locationCacheEntries bound of the location cache, in keys of 64 bytes each; 0 turns it off. Default
     *                             65,536.
     * @return this.
     */
    public ComputeNodeConfiguration locationCacheEntries(final int locationCacheEntries)
    {
        this.locationCacheEntries = locationCacheEntries;
        return this;
    }

    /** @return pause between heartbeats. */
    public long heartbeatIntervalNs()
    {
        return heartbeatIntervalNs;
    }

    /**
     * Epochs, and with them the reuse of memory, cannot advance faster than the slowest node's heartbeats: a block that
     * was overwritten is free again after about eight of these.
     *
     * @param heartbeatIntervalNs pause between heartbeats of a node at work, well below the lease; default 25 ms. One
     *                            that only waits for epochs pauses four times as long, at most a quarter of its lease.
     *                            One that does nothing renews its lease five times while it lasts, and sooner when the
     *                            meta server has news.
     * @return this.
     */
    public ComputeNodeConfiguration heartbeatIntervalNs(final long heartbeatIntervalNs)
    {
        this.heartbeatIntervalNs = heartbeatIntervalNs;
        return this;
    }

    /** @return deadline of one control call. */
    public long callTimeoutNs()
    {
        return callTimeoutNs;
    }

    /**
     * @param callTimeoutNs deadline of one control call and of one connection; default 2 s.
     * @return this.
     */
    public ComputeNodeConfiguration callTimeoutNs(final long callTimeoutNs)
    {
        this.callTimeoutNs = callTimeoutNs;
        return this;
    }

    /** @return deadline of the first join. */
    public long joinTimeoutNs()
    {
        return joinTimeoutNs;
    }

    /**
     * @param joinTimeoutNs after which a node that has never served gives up; default 15 s. A node that has served
     *                      tries to join again for as long as it is run.
     * @return this.
     */
    public ComputeNodeConfiguration joinTimeoutNs(final long joinTimeoutNs)
    {
        this.joinTimeoutNs = joinTimeoutNs;
        return this;
    }

    /** @return nanoseconds since 1970 for versions, or null for the wall clock. */
    public EpochNanoClock versionClock()
    {
        return versionClock;
    }

    /**
     * @param versionClock nanoseconds since 1970 for versions; null for the wall clock. Simulations give a virtual one.
     * @return this.
     */
    public ComputeNodeConfiguration versionClock(final EpochNanoClock versionClock)
    {
        this.versionClock = versionClock;
        return this;
    }

    /** @return whether the node takes over chunks of nodes that have ended. */
    public boolean reclaims()
    {
        return reclaims;
    }

    /**
     * @param reclaims whether the node takes over chunks of nodes that have ended; default true. A node that only looks
     *                 leaves them to others.
     * @return this.
     */
    public ComputeNodeConfiguration reclaims(final boolean reclaims)
    {
        this.reclaims = reclaims;
        return this;
    }

    /** @return whether clients are not to be sent to the node before it is activated. Any thread. */
    public boolean isSpare()
    {
        return isSpare;
    }

    /**
     * @param spare whether clients are not to be sent to the node before somebody activates it at the meta server; the
     *              node sets it to false then, for its later registrations. Default false.
     * @return this.
     */
    public ComputeNodeConfiguration spare(final boolean spare)
    {
        isSpare = spare;
        return this;
    }

    /** @return whether clients are refused whose connections are not encrypted. */
    public boolean isEncryptionRequired()
    {
        return isEncryptionRequired;
    }

    /**
     * @param isRequired whether clients are refused whose connections are not encrypted. Default false: each client
     *                   decides for itself.
     * @return this.
     */
    public ComputeNodeConfiguration requireEncryption(final boolean isRequired)
    {
        isEncryptionRequired = isRequired;
        return this;
    }

    /** @return what whoever started the node calls it; empty when that was not said. */
    public String instance()
    {
        return instance;
    }

    /**
     * @param name what whoever starts the node calls it, so that tools elsewhere know it by that.
     * @return this.
     */
    public ComputeNodeConfiguration instance(final String name)
    {
        instance = name;
        return this;
    }

    boolean fillsChunks()
    {
        return fillsChunks;
    }

    /**
     * @param fills whether the subtables of a new table are as long as a chunk, where they may be split; default true.
     *              Otherwise they are as short as the records ask for that are expected, and are split soon.
     * @return this.
     */
    public ComputeNodeConfiguration fillsChunks(final boolean fills)
    {
        fillsChunks = fills;
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
    public ComputeNodeConfiguration completionChannel(final CompletionChannel channel)
    {
        this.completionChannel = channel;
        return this;
    }
}
