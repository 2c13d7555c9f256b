package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvClosedException;
import io.verbena.client.KvEntry;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvLimits;
import io.verbena.client.KvNoSuchTableException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTable;
import io.verbena.client.KvTableExistsException;
import io.verbena.client.KvTimeoutException;
import io.verbena.client.KvUnavailableException;
import io.verbena.client.OperationKind;
import io.verbena.client.ReplaceResult;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Device;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(240)
class RemoteKvClientTest
{
    private static final byte[] KEY = {1};

    @TempDir
    Path directory;

    @Test
    void shouldOfferWhatTheEmbeddedClientOffers()
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 2); KvClient client = cluster.client())
        {
            final KvTable table = client.createTable("t", new TableOptions(1_000));
            assertThat(client.tables()).containsExactly("t");
            assertThatThrownBy(() -> client.createTable("t", TableOptions.DEFAULTS))
                .isInstanceOf(KvTableExistsException.class);
            final long version = table.put(KEY, new byte[]{7});
            assertThat(table.get(KEY)).contains(new KvEntry(new byte[]{7}, version));
            assertThat(table.putIfAbsent(KEY, KEY).stored()).isFalse();
            final ReplaceResult replaced = table.replace(KEY, new byte[]{8}, version);
            assertThat(replaced.outcome()).isEqualTo(ReplaceResult.Outcome.REPLACED);
            assertThat(table.replace(KEY, new byte[]{9}, version).version()).isEqualTo(replaced.version());
            assertThat(table.exists(KEY)).isTrue();
            assertThat(table.delete(KEY)).isTrue();
            assertThat(table.get(KEY)).isEmpty();
            assertThat(client.statistics().count(OperationKind.GET)).isEqualTo(1);
            assertThat(client.statistics().verbs(OperationKind.PUT)).as("counted at the node").isPositive();
            final byte[] key = new byte[1000];
            final byte[] value = new byte[KvLimits.MAX_VALUE_BYTES];
            new Random(1).nextBytes(value);
            table.put(key, value);
            assertThat(client.table("t").get(key).orElseThrow().value()).isEqualTo(value);
            client.dropTable("t");
            assertThatThrownBy(() -> client.table("t")).isInstanceOf(KvNoSuchTableException.class);
            assertThatThrownBy(() -> table.get(KEY)).isInstanceOf(KvNoSuchTableException.class);
        }
    }

    @Test
    void shouldRefuseWhatComesAfterItWasClosed()
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 1))
        {
            final KvTable table;
            try (KvClient client = cluster.client())
            {
                table = client.createTable("t", new TableOptions(100));
            }
            assertThatThrownBy(() -> table.get(KEY)).isInstanceOf(KvClosedException.class);
        }
    }

    /** A listener that takes no connection, as a port that a firewall closes: 20 s are not waited for it. */
    @Test
    void shouldNotWaitLongForAMetaServerThatIsSilent()
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
            Device silent = fabric.openDevice("silent");
            ConnectionListener listener = silent.listen(1))
        {
            assertThat(listener).isNotNull();
            final Device device = fabric.openDevice("client");
            final CompletableFuture<Void> closed = new CompletableFuture<>();
            final KvClientOptions options = new KvClientOptions().timeout(Duration.ofSeconds(60));
            final long startNs = System.nanoTime();
            assertThatThrownBy(() -> RemoteKvClient.open(device,
                new PeerAddress(silent.address(), 1, 0, 0), options, () ->
                {
                    device.close();
                    closed.complete(null);
                })).isInstanceOf(KvUnavailableException.class).hasMessageContaining("meta server");
            assertThat(System.nanoTime() - startNs).isLessThan(TimeUnit.SECONDS.toNanos(30));
            assertThat(closed).as("its connection under way is not waited for").succeedsWithin(Duration.ofSeconds(20));
        }
    }

    /** Nodes are killed and added under four writers: what was acknowledged is there, reads never fail. */
    @Test
    void shouldLoseNothingWhenComputeNodesDieAndCome() throws InterruptedException
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 2); KvClient client = cluster.client())
        {
            final KvTable table = client.createTable("t", new TableOptions(10_000));
            final Map<Integer, Integer> acknowledged = new ConcurrentHashMap<>();
            final List<Throwable> failures = new ArrayList<>();
            final AtomicBoolean isEnding = new AtomicBoolean();
            final AtomicInteger writes = new AtomicInteger();
            final List<Thread> writers = new ArrayList<>();
            for (int w = 0; w < 4; w++)
            {
                final int writer = w;
                writers.add(Thread.ofPlatform().start(() -> {
                    while (!isEnding.get() && failures.isEmpty())
                    {
                        write(table, writer, acknowledged, failures);
                        writes.incrementAndGet();
                    }
                }));
            }
            for (int i = 0; i < 3; i++)
            {
                final int before = writes.get();
                RemoteCluster.await(() -> writes.get() > before + 4 || !failures.isEmpty());
                cluster.addComputeNode();
                cluster.kill(cluster.computes().getFirst());
            }
            isEnding.set(true);
            for (final Thread writer : writers)
            {
                writer.join();
            }
            assertThat(failures).isEmpty();
            acknowledged.forEach((key, value) -> assertThat(table.get(new byte[]{(byte)(key >> 8), key.byteValue()})
                .orElseThrow().value()).as("key %d", key).containsExactly(value.byteValue()));
        }
    }

    private static void write(
        final KvTable table, final int writer, final Map<Integer, Integer> acknowledged,
        final List<Throwable> failures)
    {
        for (int i = 0; i < 50; i++)
        {
            final int key = writer * 1000 + i;
            final byte[] keyBytes = {(byte)(key >> 8), (byte)key};
            try
            {
                table.put(keyBytes, new byte[]{(byte)i});
                acknowledged.put(key, (int)(byte)i);
                assertThat(table.get(keyBytes)).isPresent();
            }
            catch (final KvOutcomeUnknownException ex)
            {
                assertThat(ex.getMessage()).contains("unknown outcome");
            }
            catch (final RuntimeException | Error ex)
            {
                synchronized (failures)
                {
                    failures.add(ex);
                }
                return;
            }
        }
    }

    @Test
    void shouldSayThatNoNodeServesAndGoOnWhenOneComes()
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 1); KvClient client = cluster.client())
        {
            final KvTable table = client.createTable("t", new TableOptions(100));
            table.put(KEY, KEY);
            cluster.kill(cluster.computes().getFirst());
            assertThatThrownBy(() -> getUntilRefused(table)).isInstanceOf(KvUnavailableException.class);
            final CompletableFuture<?> waiting = table.withTimeout(RemoteCluster.STEP).getAsync(KEY);
            cluster.addComputeNode();
            assertThat(waiting.join()).isNotNull();
            assertThat(table.withTimeout(RemoteCluster.STEP).get(KEY)).isPresent();
        }
    }

    /** What was sent before the death was known may run out of time, which says nothing about nodes. */
    private static void getUntilRefused(final KvTable table)
    {
        while (true)
        {
            try
            {
                table.withTimeout(Duration.ofNanos(50_000_000)).get(KEY);
            }
            catch (final KvTimeoutException ex)
            {
                assertThat(ex).hasMessageContaining("not answered before its deadline");
            }
        }
    }

    @Test
    void shouldSayWhatIsMissingToConnect()
    {
        assertThatThrownBy(() -> KvClient.connect(null))
            .isInstanceOf(KvInvalidRequestException.class).hasMessage("address is null");
        assertThatThrownBy(() -> KvClient.connect("verbena://localhost:1", null))
            .isInstanceOf(KvInvalidRequestException.class).hasMessage("options is null");
        assertThatThrownBy(() -> KvClient.connect("http://x"))
            .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("verbena://host:7373");
        assertThatThrownBy(() ->
            KvClient.connect("verbena://localhost:1", new KvClientOptions().tokenFile(directory.resolve("none"))))
            .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("cluster token cannot be read");
    }
}
