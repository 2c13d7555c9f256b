package io.verbena.load.ycsb;

import io.verbena.client.KvClient;
import io.verbena.client.KvException;
import io.verbena.client.TableOptions;
import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.EmbeddedClusterException;
import io.verbena.embedded.EmbeddedClusterOptions;
import site.ycsb.Client;
import site.ycsb.DBException;
import site.ycsb.WorkloadException;
import site.ycsb.workloads.CoreWorkload;

import java.util.Properties;

/**
 * The cluster in this process that all bindings share when YCSB's own client makes them: started by the first, closed
 * when the process ends. Because it starts empty, a run phase ({@code -t}) loads {@code recordcount} records first;
 * otherwise each of its reads would find nothing.
 */
final class SharedCluster
{
    private static final long RUN_SECONDS = 60;

    private static EmbeddedCluster cluster;

    private SharedCluster()
    {
    }

    static synchronized KvClient client(final Properties properties) throws DBException
    {
        if (cluster == null)
        {
            cluster = start(properties);
        }
        return cluster.client();
    }

    private static EmbeddedCluster start(final Properties properties) throws DBException
    {
        final long records = WorkloadProperties.recordCount(properties);
        final EmbeddedClusterOptions options = new EmbeddedClusterOptions();
        final Sizing sizing = Sizing.of(properties, records, RUN_SECONDS, options.memoryNodes());
        try
        {
            final EmbeddedCluster started =
                EmbeddedCluster.start(options.memoryBytesPerNode(sizing.memoryBytesPerNode()));
            Runtime.getRuntime().addShutdownHook(new Thread(started::close, "verbena-close"));
            started.client().createTable(
                properties.getProperty(CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT),
                new TableOptions(sizing.expectedRecords()));
            if (Boolean.parseBoolean(properties.getProperty(Client.DO_TRANSACTIONS_PROPERTY, "true")))
            {
                load(started.client(), properties, records);
            }
            return started;
        }
        catch (final EmbeddedClusterException | KvException | WorkloadException ex)
        {
            throw new DBException(ex.getMessage(), ex);
        }
    }

    private static void load(final KvClient client, final Properties properties, final long records)
        throws WorkloadException, DBException
    {
        final Properties loading = new Properties();
        loading.putAll(properties);
        loading.setProperty(CoreWorkload.INSERT_START_PROPERTY, "0");
        loading.setProperty(CoreWorkload.INSERT_COUNT_PROPERTY, Long.toString(records));
        loading.putIfAbsent(Client.OPERATION_COUNT_PROPERTY, "0");
        final CoreWorkload workload = new CoreWorkload();
        workload.init(loading);
        final VerbenaDb db = new VerbenaDb(client, 0, RecordListener.NONE);
        for (long i = 0; i < records; i++)
        {
            if (!workload.doInsert(db, null))
            {
                throw new DBException("record " + i + " of " + records + " could not be loaded", db.lastFailure());
            }
        }
        workload.cleanup();
    }
}
