package io.verbena.cli.bench.copies;

import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.cluster.TemporaryCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;

/** A cluster of processes to measure tables with copies on: three memory nodes and one compute node. Stateless. */
final class CopiesCluster
{
    static final int MEMORY_NODES = 3;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    /** What is measured. */
    interface Measurement
    {
        /**
         * @param cluster up.
         * @param client  of it, whose operations end after 20 s; closed by the caller.
         * @param meta    its meta server, likewise.
         * @return the figures.
         */
        List<FailoverRow> run(LocalCluster cluster, KvClient client, MetaCalls meta) throws InterruptedException;
    }

    private CopiesCluster()
    {
    }

    /**
     * Makes a cluster, measures, and ends the cluster.
     *
     * @param prefix      of its folder.
     * @param memoryMib   of each memory node.
     * @param measurement of the cluster.
     * @return the figures.
     * @throws CommandFailedException when something fails, with the ends of the processes' logs.
     */
    static List<FailoverRow> measure(final String prefix, final int memoryMib, final Measurement measurement)
        throws InterruptedException
    {
        try (TemporaryCluster temporary = TemporaryCluster.create(prefix))
        {
            final LocalCluster cluster = temporary.open();
            cluster.up(LocalCluster.ANY_PORT, MEMORY_NODES, memoryMib, 1, (line) -> {});
            try (KvClient client = KvClient.connect(temporary.folder().address(),
                new KvClientOptions().tokenFile(temporary.folder().token()).timeout(TIMEOUT));
                MetaCalls meta = MetaCalls.open(temporary.folder(), TIMEOUT.toNanos()))
            {
                return measurement.run(cluster, client, meta);
            }
            catch (final KvException | CommandFailedException ex)
            {
                temporary.throwIfEnding(ex);
                throw temporary.withLogs(ex);
            }
        }
    }

    /**
     * Prints figures.
     *
     * @return exit status: whether all goals were reached.
     */
    static int print(final List<FailoverRow> rows, final PrintWriter out)
    {
        out.println(FailoverRow.head());
        rows.forEach((row) -> out.println(row.line()));
        out.flush();
        return rows.stream().allMatch(FailoverRow::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }
}
