package io.verbena.load.demo;

import io.verbena.client.KvClientOptions;
import io.verbena.embedded.EmbeddedClusterException;
import io.verbena.embedded.EmbeddedClusterOptions;
import io.verbena.load.LoadException;
import io.verbena.load.report.Units;
import io.verbena.load.ycsb.Sizing;
import io.verbena.load.ycsb.WorkloadProperties;
import site.ycsb.Client;
import site.ycsb.workloads.CoreWorkload;

import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/**
 * The demo's options and the workload's properties brought together: what is run in the end.
 *
 * @param workload           its name, for the report.
 * @param properties         for YCSB's workload class.
 * @param table              name of the table.
 * @param records            loaded at first.
 * @param seconds            the run lasts.
 * @param timeoutNs          deadline of each operation.
 * @param threads            that run the workload.
 * @param rate               operations a second over all threads, or 0 for as fast as it goes.
 * @param memoryNodes        in the cluster.
 * @param copies             of the table, each on another memory node.
 * @param expectedRecords    for the table.
 * @param insertedRecords    that may be inserted in the run, for which there is room; 0 if the workload inserts none.
 * @param memoryBytesPerNode registered memory of each memory node.
 * @param fabric             name of the fabric the cluster is on; there is such a provider.
 * @param history            file for the register clients' history, or null for none that stays.
 */
record DemoPlan(
    String workload,
    Properties properties,
    String table,
    long records,
    long seconds,
    long timeoutNs,
    int threads,
    long rate,
    int memoryNodes,
    int copies,
    long expectedRecords,
    long insertedRecords,
    long memoryBytesPerNode,
    String fabric,
    Path history)
{
    private static final int MEMORY_NODES = 2;
    private static final int TIMES_WITH_COPIES = 3;

    /**
     * An option counts more than the property file, and the file more than the defaults.
     */
    static DemoPlan of(final DemoOptions options)
    {
        final Properties properties = options.propertyFile() == null ?
            WorkloadProperties.named(options.workload()) : WorkloadProperties.read(options.propertyFile());
        final long records = options.records() > 0 ? options.records() : WorkloadProperties.recordCount(properties);
        final long seconds = choose(
            options.seconds(), properties, Client.MAX_EXECUTION_TIME, DemoOptions.DEFAULT_SECONDS);
        final long threads = choose(
            options.threads(), properties, Client.THREAD_COUNT_PROPERTY, DemoOptions.DEFAULT_THREADS);
        final long rate = choose(options.rate(), properties, Client.TARGET_PROPERTY, 0);

        // Load and run in one process: all records are loaded, whatever part of them the file is meant to load.
        properties.setProperty(Client.RECORD_COUNT_PROPERTY, Long.toString(records));
        properties.setProperty(CoreWorkload.INSERT_START_PROPERTY, "0");
        properties.setProperty(CoreWorkload.INSERT_COUNT_PROPERTY, Long.toString(records));
        // The run ends by time. YCSB's zipfian generator only wants to know how many keys may come.
        properties.setProperty(Client.OPERATION_COUNT_PROPERTY, Long.toString(records));

        final long memory = options.memoryBytesPerNode();
        if (memory > 0 && memory < EmbeddedClusterOptions.MIN_MEMORY_BYTES_PER_NODE)
        {
            throw new LoadException(LoadException.Reason.USAGE, "memory nodes of " + Units.mebibytes(memory) +
                " are too small: at least " + Units.mebibytes(EmbeddedClusterOptions.MIN_MEMORY_BYTES_PER_NODE));
        }
        final int memoryNodes = Math.max(MEMORY_NODES, options.copies());
        // With copies each memory node has all records.
        final Sizing sizing = Sizing.of(properties, records, seconds, options.copies() > 1 ? 1 : memoryNodes);
        return new DemoPlan(
            options.propertyFile() == null ? options.workload() : options.propertyFile().getFileName().toString(),
            properties,
            properties.getProperty(CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT),
            records,
            seconds,
            timeoutNs(options),
            (int)threads,
            rate,
            memoryNodes,
            options.copies(),
            sizing.expectedRecords(),
            sizing.insertedRecords(),
            memory > 0 ? memory : sizing.memoryBytesPerNode(),
            checkedFabric(options.fabric()),
            options.history());
    }

    /** Where a memory node and a compute node are lost at one time, operations wait for the lease of the second. */
    private static long timeoutNs(final DemoOptions options)
    {
        final long ofOne = KvClientOptions.DEFAULT_TIMEOUT.toNanos();
        return options.timeoutSeconds() > 0 ? TimeUnit.SECONDS.toNanos(options.timeoutSeconds()) :
            options.copies() > 1 ? TIMES_WITH_COPIES * ofOne : ofOne;
    }

    private static String checkedFabric(final String name)
    {
        try
        {
            return new EmbeddedClusterOptions().fabric(name).fabric();
        }
        catch (final EmbeddedClusterException ex)
        {
            throw new LoadException(LoadException.Reason.USAGE, ex.getMessage(), ex);
        }
    }

    private static long choose(final long option, final Properties properties, final String name, final long otherwise)
    {
        if (option > 0)
        {
            return option;
        }
        final String value = properties.getProperty(name, "0").trim();
        try
        {
            final long number = Long.parseLong(value);
            return number > 0 ? number : otherwise;
        }
        catch (final NumberFormatException ex)
        {
            throw new LoadException(LoadException.Reason.BAD_DATA, name + "=" + value + " is not a whole number", ex);
        }
    }
}
