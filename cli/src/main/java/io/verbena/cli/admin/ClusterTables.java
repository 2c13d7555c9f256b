package io.verbena.cli.admin;

import io.verbena.cli.table.TableCommand;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.server.dashboard.TableSampler;

import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The tables of a cluster, as a client of it counts them.
 *
 * @param client closed with this.
 */
record ClusterTables(KvClient client) implements TableSampler.Tables
{
    private static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(2);

    /** @return a sampler of the cluster at an address. */
    static TableSampler sampler(final String address, final KvClientOptions options)
    {
        return new TableSampler(
            () -> new ClusterTables(KvClient.connect(address, options.timeout(CLIENT_TIMEOUT))),
            SystemNanoClock.INSTANCE, SystemEpochClock.INSTANCE);
    }

    @Override
    public List<String> names()
    {
        return client.tables();
    }

    @Override
    public Map<String, Object> figures(final String name)
    {
        return TableCommand.StatCommand.figures(name, client.table(name).stat());
    }

    @Override
    public void close()
    {
        client.close();
    }
}
