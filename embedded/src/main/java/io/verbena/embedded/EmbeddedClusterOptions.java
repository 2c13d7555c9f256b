package io.verbena.embedded;

import io.verbena.client.KvClientOptions;
import io.verbena.rdma.fabric.Fabrics;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * What an embedded cluster is made of. Fluent and mutable; a cluster copies what it needs when it starts. Not
 * thread-safe.
 */
public final class EmbeddedClusterOptions
{
    /** Fabric of a default cluster. */
    public static final String DEFAULT_FABRIC = "soft";
    /** Memory nodes of a default cluster. */
    public static final int DEFAULT_MEMORY_NODES = 2;
    /** Registered memory of each, in bytes: 256 MiB. */
    public static final long DEFAULT_MEMORY_BYTES_PER_NODE = 256L << 20;
    /** Compute nodes of a default cluster. */
    public static final int DEFAULT_COMPUTE_NODES = 1;
    /** Deadline of each single step of starting, changing and closing: 20 s, for machines under load. */
    public static final long DEFAULT_STEP_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    /** Port of a cluster without a dashboard. */
    public static final int NO_DASHBOARD = -1;
    /** Most nodes of one kind. */
    public static final int MAX_NODES = 64;
    /** Least memory of a memory node, in bytes. */
    public static final long MIN_MEMORY_BYTES_PER_NODE = 4L << 20;

    private static final int MAX_PORT = 65_535;

    // Time on it stands still until a test steps it, which the threads of a cluster would wait for.
    private static final String SIMULATED = "sim";

    private String fabric = DEFAULT_FABRIC;
    private int memoryNodes = DEFAULT_MEMORY_NODES;
    private long memoryBytesPerNode = DEFAULT_MEMORY_BYTES_PER_NODE;
    private int computeNodes = DEFAULT_COMPUTE_NODES;
    private boolean growingTables = true;
    private long fillLookPauseNs = TimeUnit.SECONDS.toNanos(1);
    private Duration sweepInterval = Duration.ofMinutes(5);
    private int dashboardPort = NO_DASHBOARD;
    private Path dataDirectory;
    private long stepTimeoutNs = DEFAULT_STEP_TIMEOUT_NS;
    private KvClientOptions clientOptions = new KvClientOptions();

    /** @return whether tables grow beyond the records that they were made for. */
    public boolean growingTables()
    {
        return growingTables;
    }

    /**
     * Lets tables grow: what fills up is split while it is used, and merged when it is nearly empty. A table then takes
     * at least a chunk of memory, 256 KiB, at each memory node. Default: yes; where they do not, a full table says so.
     *
     * @param isOn whether they do.
     * @return this.
     */
    public EmbeddedClusterOptions growingTables(final boolean isOn)
    {
        growingTables = isOn;
        return this;
    }

    /** @return pause between two looks for subtables to be merged. */
    public long fillLookPauseNs()
    {
        return fillLookPauseNs;
    }

    /**
     * @param pauseNs between two looks of a compute node for subtables to be merged, and for what others left half
     *                done, at most an hour; default 1 s. Longer where all that is posted is to be of operations.
     * @return this.
     */
    public EmbeddedClusterOptions fillLookPauseNs(final long pauseNs)
    {
        fillLookPauseNs = pauseNs;
        return this;
    }

    /** @return in which all tables are walked for records behind their deadlines. */
    public Duration sweepInterval()
    {
        return sweepInterval;
    }

    /**
     * @param interval in which the compute nodes together walk all tables once, and take away the records whose
     *                 deadlines have passed and that nobody asks for; 1 ms to 1 day, or zero: not at all. Default: 5
     *                 minutes.
     * @return this.
     */
    public EmbeddedClusterOptions sweepInterval(final Duration interval)
    {
        if (!interval.isZero() && (interval.toMillis() < 1 || interval.compareTo(Duration.ofDays(1)) > 0))
        {
            throw new EmbeddedClusterException("sweepInterval " + interval + ": must be 1 ms to 1 day, or zero");
        }
        sweepInterval = interval;
        return this;
    }

    /** @return name of the fabric that all nodes are on. */
    public String fabric()
    {
        return fabric;
    }

    /**
     * Whether the fabric can be used here is found out when the cluster starts.
     *
     * @param fabric as {@link Fabrics#open(String)} takes it: {@code soft}, {@code soft:DIRECTORY} or {@code
     *               ibverbs:DEVICE}; not {@code sim}, whose time stands still by itself.
     * @return this.
     */
    public EmbeddedClusterOptions fabric(final String fabric)
    {
        final String provider = fabric.split(":", 2)[0];
        final String usable = Fabrics.providers().stream().filter((known) -> !known.name().equals(SIMULATED))
            .map((known) -> known.name() + "[:" + known.argumentSyntax() + ']').collect(Collectors.joining(", "));
        if (provider.equals(SIMULATED))
        {
            throw new EmbeddedClusterException(
                "no cluster runs on '" + fabric + "', whose time stands still until a test steps it; take " + usable);
        }
        if (Fabrics.providers().stream().noneMatch((known) -> known.name().equals(provider)))
        {
            throw new EmbeddedClusterException("no such fabric: '" + fabric + "'; there are: " + usable);
        }
        this.fabric = fabric;
        return this;
    }

    /** @return memory nodes, each on a thread of its own. */
    public int memoryNodes()
    {
        return memoryNodes;
    }

    /**
     * @param memoryNodes 1 to {@link #MAX_NODES}.
     * @return this.
     */
    public EmbeddedClusterOptions memoryNodes(final int memoryNodes)
    {
        this.memoryNodes = checkRange("memoryNodes", memoryNodes, 1);
        return this;
    }

    /** @return registered memory of each memory node, in bytes. */
    public long memoryBytesPerNode()
    {
        return memoryBytesPerNode;
    }

    /**
     * @param memoryBytesPerNode {@link #MIN_MEMORY_BYTES_PER_NODE} or more; taken when the cluster starts, on the soft
     *                           fabric from /dev/shm.
     * @return this.
     */
    public EmbeddedClusterOptions memoryBytesPerNode(final long memoryBytesPerNode)
    {
        if (memoryBytesPerNode < MIN_MEMORY_BYTES_PER_NODE)
        {
            throw new EmbeddedClusterException("memoryBytesPerNode=" + memoryBytesPerNode + " must be " +
                MIN_MEMORY_BYTES_PER_NODE + " or more");
        }
        this.memoryBytesPerNode = memoryBytesPerNode;
        return this;
    }

    /** @return compute nodes at the start, each on a thread of its own. */
    public int computeNodes()
    {
        return computeNodes;
    }

    /**
     * @param computeNodes 0 to {@link #MAX_NODES}; with 0, operations wait for {@link
     *                     EmbeddedCluster#addComputeNode()}.
     * @return this.
     */
    public EmbeddedClusterOptions computeNodes(final int computeNodes)
    {
        this.computeNodes = checkRange("computeNodes", computeNodes, 0);
        return this;
    }

    /** @return where the meta server keeps its files, or null for a temporary folder deleted on close. */
    public Path dataDirectory()
    {
        return dataDirectory;
    }

    /**
     * The meta server's files only: records live in memory and end with the cluster, in this version, and so do the
     * tables; what is kept are the numbers that must never be given twice.
     *
     * @param dataDirectory created if missing, kept on close, used by one cluster at a time; null for a temporary one.
     * @return this.
     */
    public EmbeddedClusterOptions dataDirectory(final Path dataDirectory)
    {
        this.dataDirectory = dataDirectory;
        return this;
    }

    /** @return port of the dashboard; {@link #NO_DASHBOARD}: there is none. */
    public int dashboardPort()
    {
        return dashboardPort;
    }

    /**
     * Has the cluster serve its dashboard to browsers of this host, at {@link EmbeddedCluster#dashboardUrl()}. Needs
     * {@code verbena-kv-server} on the class path. Default: none.
     *
     * @param port 0 lets the system choose; {@link #NO_DASHBOARD}: no dashboard.
     * @return this.
     */
    public EmbeddedClusterOptions dashboardPort(final int port)
    {
        if (port < NO_DASHBOARD || port > MAX_PORT)
        {
            throw new EmbeddedClusterException(
                "dashboardPort=" + port + " must be 0 to " + MAX_PORT + ", or " + NO_DASHBOARD + " for no dashboard");
        }
        dashboardPort = port;
        return this;
    }

    /** @return nanoseconds each step of starting, changing and closing may take. */
    public long stepTimeoutNs()
    {
        return stepTimeoutNs;
    }

    /**
     * @param stepTimeoutNs 1 or more.
     * @return this.
     */
    public EmbeddedClusterOptions stepTimeoutNs(final long stepTimeoutNs)
    {
        if (stepTimeoutNs < 1)
        {
            throw new EmbeddedClusterException("stepTimeoutNs=" + stepTimeoutNs + " must be 1 or more");
        }
        this.stepTimeoutNs = stepTimeoutNs;
        return this;
    }

    /** @return how {@link EmbeddedCluster#client()} behaves. */
    public KvClientOptions clientOptions()
    {
        return clientOptions;
    }

    /**
     * @param clientOptions for {@link EmbeddedCluster#client()}.
     * @return this.
     */
    public EmbeddedClusterOptions clientOptions(final KvClientOptions clientOptions)
    {
        this.clientOptions = Objects.requireNonNull(clientOptions);
        return this;
    }

    private static int checkRange(final String name, final int value, final int least)
    {
        if (value < least || value > MAX_NODES)
        {
            throw new EmbeddedClusterException(name + '=' + value + " must be " + least + " to " + MAX_NODES);
        }
        return value;
    }
}
