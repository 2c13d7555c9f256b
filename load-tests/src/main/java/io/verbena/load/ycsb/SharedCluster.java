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

    /** Puts the first records into a cluster that has none. */
    interface FirstLoad
    {
        void load(KvClient client, Properties properties, long records) throws WorkloadException, DBException;
    }

    static synchronized KvClient client(final Properties properties, final FirstLoad load) throws DBException
    {
        if (cluster == null)
        {
            cluster = start(properties, load);
        }
        return cluster.client();
    }

    private static EmbeddedCluster start(final Properties properties, final FirstLoad load)
        throws DBException
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
                load.load(started.client(), properties, records);
            }
            return started;
        }
        catch (final EmbeddedClusterException | KvException | WorkloadException ex)
        {
            throw new DBException(ex.getMessage(), ex);
        }
    }
}
