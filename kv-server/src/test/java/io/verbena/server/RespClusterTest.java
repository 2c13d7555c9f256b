package io.verbena.server;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions.RefreshTrigger;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.resp.RespConfiguration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisCluster;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/** Cluster clients of Redis as they are, at compute nodes that come and go. */
@Timeout(600)
@SuppressWarnings("deprecation") // JedisCluster is what most programs have
class RespClusterTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(150);
    private static final int STEP_MS = (int)TimeUnit.NANOSECONDS.toMillis(STEP_NS);
    /** Within this, a node that crashed disappears. */
    private static final long LEASE_NS = TimeUnit.SECONDS.toNanos(8);
    private static final String LOOPBACK = "127.0.0.1";
    private static final Duration REFRESH = Duration.ofMillis(300);

    @TempDir
    Path directory;
    private final List<RoleRunner> runners = new ArrayList<>();
    private final Map<Integer, Node> nodes = new HashMap<>();
    private Fabric fabric;
    private MetaServerLocator locator;

    /** A compute node that can end without a word to anybody. */
    private static final class Node
    {
        private final ComputeNodeRole role;
        private final RoleRunner runner;
        private volatile boolean isKilled;

        Node(final ComputeNodeRole role)
        {
            this.role = role;
            runner = RoleRunner.start((Role)Proxy.newProxyInstance(
                Role.class.getClassLoader(), new Class<?>[]{Role.class}, (proxy, method, arguments) ->
                {
                    if (isKilled && "doWork".equals(method.getName()))
                    {
                        throw new IllegalStateException("killed by the test");
                    }
                    try
                    {
                        return method.invoke(role, arguments);
                    }
                    catch (final InvocationTargetException ex)
                    {
                        throw ex.getCause();
                    }
                }), false);
        }

        void kill()
        {
            isKilled = true;
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
        }
    }

    @BeforeEach
    void open()
    {
        final String fabricName = "soft:" + directory.resolve("fabric");
        fabric = Fabrics.open(fabricName);
        final ClusterToken token = ClusterToken.readOrCreate(directory.resolve("token"));
        final MetaServerRole meta = MetaServerRole.open(fabric, fabricName, new ClusterAddress(LOOPBACK, 0), token,
            directory.resolve("data"), true, new MetaServerConfiguration().leaseNs(LEASE_NS));
        start(RoleRunner.start(meta, false));
        final BootstrapAnswer answer = BootstrapClient.ask(meta.address(), token, 10_000);
        locator = new BootstrapLocator(meta.address(), token, answer);
        start(RoleRunner.start(MemoryNodeRole.open(fabric, locator, 32 << 20), false));
        join();
        final Device device = fabric.openDevice("client");
        try (KvClient client = RemoteKvClient.open(device, locator, new KvClientOptions(), device::close))
        {
            client.createTable("default", new TableOptions(10_000));
        }
        join();
        join();
        // Each: a client asks one of them, and goes by what that one knows until it asks again.
        await(() -> nodes.keySet().stream().allMatch((port) -> 3 == listed(port).size()));
    }

    private void start(final RoleRunner runner)
    {
        runners.add(runner);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
    }

    private int join()
    {
        final Node node = new Node(ComputeNodeRole.open(fabric, locator, null, new ComputeNodeConfiguration(),
            ComputeNodeRole.DEFAULT_MAX_CLIENTS, new RespConfiguration().port(0).cluster(true)));
        start(node.runner);
        nodes.put(node.role.respPort(), node);
        return node.role.respPort();
    }

    private static void await(final BooleanSupplier condition)
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - deadlineNs).as("not within the time of a step").isNegative();
            try
            {
                Thread.sleep(50);
            }
            catch (final InterruptedException ex)
            {
                throw new AssertionError(ex);
            }
        }
    }

    /** The ports that a node lists, and that they have all slots, once each. */
    private static Set<Integer> listed(final int port)
    {
        final Set<Integer> ports = new TreeSet<>();
        try (Jedis jedis = new Jedis(LOOPBACK, port, STEP_MS))
        {
            long next = 0;
            for (final Object range : jedis.clusterSlots())
            {
                final List<?> parts = (List<?>)range;
                assertThat(parts.get(0)).isEqualTo(next);
                next = (long)parts.get(1) + 1;
                ports.add((int)(long)((List<?>)parts.get(2)).get(1));
            }
            assertThat(next).isEqualTo(16_384);
        }
        return ports;
    }

    @AfterEach
    void close()
    {
        runners.reversed().forEach((runner) ->
        {
            runner.stop();
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
        });
        fabric.close();
    }

    /** Of records: clients ask for the nodes again and again, the more often the longer it takes. */
    private long operations(final int port)
    {
        return (long)nodes.get(port).role.health().get("operations");
    }

    @Test
    void shouldServeJedisWhileNodesComeAndGo()
    {
        final int seed = nodes.keySet().iterator().next();
        final List<Integer> others = nodes.keySet().stream().filter((port) -> seed != port).toList();
        try (JedisCluster cluster = new JedisCluster(Set.of(new HostAndPort(LOOPBACK, seed)),
            DefaultJedisClientConfig.builder().build(), new ConnectionPoolConfig(), REFRESH, 10,
            Duration.ofSeconds(50)))
        {
            final Map<Integer, Long> before =
                nodes.keySet().stream().collect(Collectors.toMap((port) -> port, this::operations));
            for (int i = 0; i < 300; i++)
            {
                assertThat(cluster.set("key" + i, "v" + i)).isEqualTo("OK");
            }
            nodes.keySet().forEach((port) -> assertThat(operations(port) - before.get(port))
                .as("operations of the 300 at %d", port).isBetween(50L, 200L));
            assertThat(cluster.mget("{t}1", "{t}2")).containsExactly(null, null);
            assertThat(cluster.incr("counter")).isOne();

            // It stays in the list until its lease has expired; until then a client may run out of attempts.
            nodes.get(others.getFirst()).kill();
            await(() -> !listed(seed).contains(others.getFirst()));
            readAll(cluster);
            nodes.get(others.getLast()).runner.stop();
            await(() -> 1 == listed(seed).size());
            readAll(cluster);

            final int newcomer = join();
            await(() -> cluster.getClusterNodes().keySet().stream().anyMatch((node) -> node.endsWith(":" + newcomer)));
            final long operationsBefore = operations(newcomer);
            readAll(cluster);
            assertThat(operations(newcomer) - operationsBefore).isBetween(75L, 225L);
        }
    }

    private static void readAll(final JedisCluster cluster)
    {
        for (int i = 0; i < 300; i++)
        {
            assertThat(cluster.get("key" + i)).isEqualTo("v" + i);
        }
    }

    @Test
    void shouldServeLettuceWhileNodesComeAndGo() throws Exception
    {
        final int seed = nodes.keySet().iterator().next();
        final int other = nodes.keySet().stream().filter((port) -> seed != port).findFirst().orElseThrow();
        final RedisClusterClient client =
            RedisClusterClient.create(RedisURI.create("redis://" + LOOPBACK + ":" + seed));
        client.setOptions(ClusterClientOptions.builder().topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
            .enablePeriodicRefresh(REFRESH).enableAdaptiveRefreshTrigger(RefreshTrigger.PERSISTENT_RECONNECTS).build())
            .build());
        try (StatefulRedisClusterConnection<String, String> connection = client.connect())
        {
            assertThat(client.getPartitions()).hasSize(3);
            final List<RedisFuture<String>> replies = new ArrayList<>();
            for (int i = 0; i < 300; i++)
            {
                replies.add(connection.async().set("key" + i, "v" + i));
            }
            for (final RedisFuture<String> reply : replies)
            {
                assertThat(reply.get(STEP_MS, TimeUnit.MILLISECONDS)).isEqualTo("OK");
            }
            assertThat(connection.sync().mget("key1", "key2", "key3")).hasSize(3)
                .allMatch((found) -> found.getValue().startsWith("v"));

            nodes.get(other).kill();
            await(() -> 2 == client.getPartitions().size());
            readAll(connection);
            final int newcomer = join();
            await(() -> client.getPartitions().stream().anyMatch((node) -> newcomer == node.getUri().getPort()));
            final long before = operations(newcomer);
            readAll(connection);
            assertThat(operations(newcomer) - before).isBetween(50L, 200L);
        }
        finally
        {
            client.shutdown(0, 5, TimeUnit.SECONDS);
        }
    }

    private static void readAll(final StatefulRedisClusterConnection<String, String> connection)
    {
        for (int i = 0; i < 300; i++)
        {
            assertThat(connection.sync().get("key" + i)).isEqualTo("v" + i);
        }
    }
}
