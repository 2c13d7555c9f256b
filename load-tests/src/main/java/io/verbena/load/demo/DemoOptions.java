package io.verbena.load.demo;

import io.verbena.client.KvClientOptions;
import io.verbena.embedded.EmbeddedClusterOptions;
import io.verbena.load.LoadException;

import java.nio.file.Path;

/**
 * What the demo is to run. Fluent and mutable; not thread-safe. A count of 0 leaves the choice to the property file or
 * to the demo.
 */
public final class DemoOptions
{
    /** Length of the run where nothing else is said. */
    public static final long DEFAULT_SECONDS = 10;

    /** Threads that run the workload where nothing else is said. */
    public static final int DEFAULT_THREADS = 8;

    /** Most records. */
    public static final long MAX_RECORDS = 100_000_000;

    /** Longest run. */
    public static final long MAX_SECONDS = 86_400;

    /** Most threads. */
    public static final int MAX_THREADS = 1024;

    /** Highest rate, in operations a second. */
    public static final long MAX_RATE = 100_000_000;

    /** Most copies of the table. */
    public static final int MAX_COPIES = 3;

    private String workload = "a";
    private Path propertyFile;
    private String fabric = EmbeddedClusterOptions.DEFAULT_FABRIC;
    private long records;
    private long seconds;
    private long timeoutSeconds;
    private int threads;
    private long rate;
    private long memoryBytesPerNode;
    private int copies = 1;
    private Path history;

    /** @return name of a built-in workload; of no account when there is a property file. */
    public String workload()
    {
        return workload;
    }

    /**
     * @param workload a, b, c, d or f.
     * @return this.
     */
    public DemoOptions workload(final String workload)
    {
        this.workload = workload;
        return this;
    }

    /** @return a YCSB property file, or null for a built-in workload. */
    public Path propertyFile()
    {
        return propertyFile;
    }

    /**
     * @param propertyFile any of YCSB's core workload.
     * @return this.
     */
    public DemoOptions propertyFile(final Path propertyFile)
    {
        this.propertyFile = propertyFile;
        return this;
    }

    /** @return records to load, or 0 for the workload's {@code recordcount}. */
    public long records()
    {
        return records;
    }

    /**
     * @param records to load, 0 to {@link #MAX_RECORDS}.
     * @return this.
     */
    public DemoOptions records(final long records)
    {
        this.records = checked("records", records, MAX_RECORDS);
        return this;
    }

    /** @return length of the run, or 0 for the workload's {@code maxexecutiontime} or {@link #DEFAULT_SECONDS}. */
    public long seconds()
    {
        return seconds;
    }

    /**
     * @param seconds 0 to {@link #MAX_SECONDS}.
     * @return this.
     */
    public DemoOptions seconds(final long seconds)
    {
        this.seconds = checked("seconds", seconds, MAX_SECONDS);
        return this;
    }

    /** @return deadline of each operation, or 0 for {@link KvClientOptions#DEFAULT_TIMEOUT}. */
    public long timeoutSeconds()
    {
        return timeoutSeconds;
    }

    /**
     * @param timeoutSeconds 0 to {@link #MAX_SECONDS}.
     * @return this.
     */
    public DemoOptions timeoutSeconds(final long timeoutSeconds)
    {
        this.timeoutSeconds = checked("timeoutSeconds", timeoutSeconds, MAX_SECONDS);
        return this;
    }

    /** @return threads, or 0 for the workload's {@code threadcount} or {@link #DEFAULT_THREADS}. */
    public int threads()
    {
        return threads;
    }

    /**
     * @param threads 0 to {@link #MAX_THREADS}.
     * @return this.
     */
    public DemoOptions threads(final int threads)
    {
        this.threads = (int)checked("threads", threads, MAX_THREADS);
        return this;
    }

    /** @return operations a second over all threads, or 0 for the workload's {@code target} or as fast as it goes. */
    public long rate()
    {
        return rate;
    }

    /**
     * @param rate 0 to {@link #MAX_RATE}.
     * @return this.
     */
    public DemoOptions rate(final long rate)
    {
        this.rate = checked("rate", rate, MAX_RATE);
        return this;
    }

    /** @return registered memory of each memory node, or 0 for what the workload needs. */
    public long memoryBytesPerNode()
    {
        return memoryBytesPerNode;
    }

    /**
     * @param memoryBytesPerNode 0 or more; the cluster says what is too little.
     * @return this.
     */
    public DemoOptions memoryBytesPerNode(final long memoryBytesPerNode)
    {
        this.memoryBytesPerNode = checked("memory", memoryBytesPerNode, Long.MAX_VALUE);
        return this;
    }

    /** @return copies of the table, each on another memory node. */
    public int copies()
    {
        return copies;
    }

    /**
     * @param copies 1 to {@link #MAX_COPIES}; there are as many memory nodes, and two at least.
     * @return this.
     */
    public DemoOptions copies(final int copies)
    {
        if (copies < 1)
        {
            throw new LoadException(LoadException.Reason.USAGE, "copies=" + copies + " must be 1 to " + MAX_COPIES);
        }
        this.copies = (int)checked("copies", copies, MAX_COPIES);
        return this;
    }

    /** @return name of the fabric the cluster is on. */
    public String fabric()
    {
        return fabric;
    }

    /**
     * @param fabric as {@link EmbeddedClusterOptions#fabric(String)} takes it; the demo says what is wrong with it.
     * @return this.
     */
    public DemoOptions fabric(final String fabric)
    {
        this.fabric = fabric;
        return this;
    }

    /** @return file for the register clients' history in elle's binary form, or null for none that stays. */
    public Path history()
    {
        return history;
    }

    /**
     * @param history to be made, or replaced if it exists.
     * @return this.
     */
    public DemoOptions history(final Path history)
    {
        this.history = history;
        return this;
    }

    private static long checked(final String name, final long value, final long most)
    {
        if (value < 0 || value > most)
        {
            throw new LoadException(LoadException.Reason.USAGE, name + "=" + value + " must be 0 to " + most);
        }
        return value;
    }
}
