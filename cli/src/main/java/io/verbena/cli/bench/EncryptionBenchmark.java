package io.verbena.cli.bench;

import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.NodePlaces;
import io.verbena.cli.cluster.TemporaryCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.agrona.CloseHelper;
import org.agrona.collections.LongArrayList;
import org.agrona.concurrent.NanoClock;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * Two clusters of processes on one fabric, one of which encrypts, and a client of each, which reads or writes records
 * one after the other. Used by one thread; who makes it closes it.
 */
final class EncryptionBenchmark implements AutoCloseable
{
    /** Where the two clusters and their clients meet. */
    enum Transport
    {
        /** Packets, although on one host: sealed where the cluster encrypts, and requests are not sealed again. */
        NETWORK("roce", "roce:::1", "verbena://[::1]:0"),
        /** Memory of this host: requests are encrypted, and nothing else can be. */
        SHARED_MEMORY(null, null, LocalCluster.ANY_PORT);

        private final String fabric;
        private final String clientFabric;
        private final String listen;

        Transport(final String fabric, final String clientFabric, final String listen)
        {
            this.fabric = fabric;
            this.clientFabric = clientFabric;
            this.listen = listen;
        }
    }

    private static final String TABLE = "default";
    private static final int MEMORY_MIB = 64;
    private static final int RECORDS = 1_000;
    private static final int VALUE_BYTES = 100;
    private static final int CALLS_BETWEEN_LOOKS = 16;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final NanoClock clock;
    private final byte[][] keys = new byte[RECORDS][];
    private final byte[] value = new byte[VALUE_BYTES];
    private final Side clear;
    private final Side encrypted;

    /** A cluster and its client. */
    private static final class Side implements AutoCloseable
    {
        private final TemporaryCluster temporary;
        private KvClient client;
        private KvTable table;
        private int next;

        Side(final String name)
        {
            temporary = TemporaryCluster.create("verbena-bench-encrypt-" + name + '-');
        }

        void open(final Transport transport, final boolean isEncrypted)
        {
            final LocalCluster cluster = temporary.open();
            cluster.places(NodePlaces.onFabric(transport.fabric, List.of()));
            if (isEncrypted)
            {
                temporary.folder().encrypt();
            }
            cluster.up(transport.listen, 1, MEMORY_MIB, 1, (line) -> {});
            final KvClientOptions options = new KvClientOptions().tokenFile(temporary.folder().token())
                .encrypt(isEncrypted).timeout(TIMEOUT);
            client = KvClient.connect(temporary.folder().address(),
                null == transport.clientFabric ? options : options.fabric(transport.clientFabric));
            table = client.createTable(TABLE, new TableOptions(RECORDS));
        }

        @Override
        public void close()
        {
            if (null != client)
            {
                client.close();
            }
            temporary.close();
        }
    }

    EncryptionBenchmark(final NanoClock clock, final Transport transport)
    {
        this.clock = clock;
        clear = new Side("clear");
        encrypted = new Side("sealed");
        try
        {
            for (int i = 0; i < RECORDS; i++)
            {
                keys[i] = ("key:" + i).getBytes(StandardCharsets.US_ASCII);
            }
            open(clear, transport, false);
            open(encrypted, transport, true);
        }
        catch (final RuntimeException ex)
        {
            close();
            throw ex;
        }
    }

    private void open(final Side side, final Transport transport, final boolean isEncrypted)
    {
        side.open(transport, isEncrypted);
        for (final byte[] key : keys)
        {
            side.table.put(key, value);
        }
    }

    /**
     * Reads or writes for some time.
     *
     * @param isEncrypted whether at the cluster that encrypts.
     * @param isGet       whether records are read.
     * @param durationNs  how long, at least for a few calls.
     * @return median of their latencies, in us.
     */
    double medianUs(final boolean isEncrypted, final boolean isGet, final long durationNs)
    {
        final Side side = isEncrypted ? encrypted : clear;
        final LongArrayList latenciesNs = new LongArrayList();
        final long beganNs = clock.nanoTime();
        long nowNs = beganNs;
        while (nowNs - beganNs < durationNs)
        {
            for (int i = 0; i < CALLS_BETWEEN_LOOKS; i++)
            {
                final byte[] key = keys[side.next];
                side.next = (side.next + 1) % RECORDS;
                if (!isGet)
                {
                    side.table.put(key, value);
                }
                else if (side.table.get(key).isEmpty())
                {
                    throw new CommandFailedException(ExitStatus.FAILED, "record " +
                        new String(key, StandardCharsets.US_ASCII) + " was written, and is not there", null);
                }
                final long endedNs = clock.nanoTime();
                latenciesNs.addLong(endedNs - nowNs);
                nowNs = endedNs;
            }
        }
        final long[] sortedNs = latenciesNs.toLongArray();
        Arrays.sort(sortedNs);
        return sortedNs[sortedNs.length / 2] / 1e3;
    }

    @Override
    public void close()
    {
        CloseHelper.closeAll(clear, encrypted);
    }
}
