package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.KvUnavailableException;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** More clients than there is room for. */
@Timeout(180)
class ClientLimitTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    private static final long LEASE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long SHORT_NS = TimeUnit.SECONDS.toNanos(2);
    /** With pauses that double from 50 ms; 40 where they do not. */
    private static final long MOST_REFUSALS = 12;
    private static final int SERVED = 5;
    private static final int REFUSED = 25;
    private static final byte[] KEY = {1};

    @TempDir
    Path directory;
    private final List<RoleRunner> runners = new ArrayList<>();
    private Fabric fabric;
    private ClusterToken token;
    private MetaServerRole meta;
    private KvClient second;

    @BeforeEach
    void open()
    {
        fabric = Fabrics.open(fabricName());
        token = ClusterToken.readOrCreate(directory.resolve("token"));
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

    private String fabricName()
    {
        return "soft:" + directory.resolve("fabric");
    }

    private void start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        runners.add(runner);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
    }

    private void startMeta(final int maxClients)
    {
        meta = MetaServerRole.open(
            fabric, fabricName(), new ClusterAddress("127.0.0.1", 0), token, directory.resolve("data"), true,
            new MetaServerConfiguration().leaseNs(LEASE_NS).maxNodes(4).maxClients(maxClients));
        start(meta);
        start(MemoryNodeRole.open(fabric, locator(), 16 << 20));
    }

    private ComputeNodeRole startComputeNode(final int maxClients)
    {
        final ComputeNodeRole role =
            ComputeNodeRole.open(fabric, locator(), null, new ComputeNodeConfiguration(), maxClients);
        start(role);
        return role;
    }

    private MetaServerLocator locator()
    {
        return new BootstrapLocator(meta.address(), token, BootstrapClient.ask(meta.address(), token, 10_000));
    }

    private KvClient client(final long timeoutNs)
    {
        final Device device = fabric.openDevice("client");
        return RemoteKvClient.open(
            device, locator(), new KvClientOptions().timeout(Duration.ofNanos(timeoutNs)), device::close);
    }

    @Test
    void shouldTellWhatIsFullAtAComputeNodeAndServeThoseWhoAreConnected()
    {
        startMeta(100);
        final ComputeNodeRole compute = startComputeNode(2);
        try (KvClient first = client(STEP_NS); KvClient third = afterTwo(first, compute))
        {
            assertThatThrownBy(() -> third.table("t")).isInstanceOf(KvUnavailableException.class)
                .hasMessageContaining("no room for another connection: 2 are open")
                .hasMessageContaining("raise --max-clients (2) of the compute node, or start another one");
            assertThat((long)compute.health().get("refused_connections")).isBetween(1L, MOST_REFUSALS);
            assertThat(limits(compute)).contains(
                Map.of("name", "clients", "use", 2L, "limit", 2L, "option", "--max-clients"));
            assertThat(limits(meta)).contains(
                Map.of("name", "clients", "use", 3L, "limit", 100L, "option", "--max-clients"),
                Map.of("name", "nodes", "use", 2L, "limit", 4L, "option", "--max-nodes"));
            first.table("t").put(KEY, KEY);
            second.close();
            final long deadlineNs = System.nanoTime() + STEP_NS;
            byte[] found = null;
            while (null == found && System.nanoTime() - deadlineNs < 0)
            {
                found = valueOrNull(third);
            }
            assertThat(found).isEqualTo(KEY);
        }
    }

    private static List<Object> limits(final Role role)
    {
        return new ArrayList<>((List<?>)role.health().get("limits"));
    }

    private KvClient afterTwo(final KvClient first, final ComputeNodeRole compute)
    {
        final KvTable table = first.createTable("t", new TableOptions(100));
        table.put(KEY, KEY);
        second = client(STEP_NS);
        assertThat(second.table("t").get(KEY).orElseThrow().value()).isEqualTo(KEY);
        assertThat(compute.health().get("clients")).isEqualTo(2);
        return client(SHORT_NS);
    }

    /** Who is refused, by the meta server or by the compute node, asks less and less often, and disturbs nobody. */
    @Test
    void shouldServeThoseWhoAreConnectedWhileManyOthersAreRefused() throws Exception
    {
        startMeta(2 * SERVED);
        final ComputeNodeRole compute = startComputeNode(SERVED);
        final List<KvClient> clients = new ArrayList<>();
        try (ExecutorService others = Executors.newCachedThreadPool())
        {
            for (int i = 0; i < SERVED; i++)
            {
                clients.add(client(STEP_NS));
                if (0 == i)
                {
                    clients.getFirst().createTable("t", new TableOptions(100)).put(KEY, KEY);
                }
                assertThat(clients.get(i).table("t").get(KEY)).isPresent();
            }
            final List<Future<String>> answers = new ArrayList<>();
            for (int i = 0; i < REFUSED; i++)
            {
                answers.add(others.submit(this::refusal));
            }
            int rounds = 0;
            for (; !answers.stream().allMatch(Future::isDone); rounds++)
            {
                clients.forEach((client) -> assertThat(client.table("t").get(KEY)).isPresent());
            }
            assertThat(rounds).as("while others are refused").isGreaterThan(1);
            for (final Future<String> answer : answers)
            {
                assertThat(answer.get()).contains("no room for another", "raise --max-clients");
            }
            assertThat((long)compute.health().get("refused_connections")).isBetween(1L, REFUSED * MOST_REFUSALS);
            assertThat((long)meta.health().get("refused_connections")).isBetween(1L, REFUSED * MOST_REFUSALS);
        }
        finally
        {
            clients.forEach(KvClient::close);
        }
    }

    private String refusal()
    {
        try (KvClient client = client(SHORT_NS))
        {
            return "served: " + client.table("t").get(KEY);
        }
        catch (final KvUnavailableException ex)
        {
            return ex.getMessage();
        }
    }

    private static byte[] valueOrNull(final KvClient client)
    {
        try
        {
            return client.table("t").get(KEY).orElseThrow().value();
        }
        catch (final KvUnavailableException ex)
        {
            return null;
        }
    }

    /** As many as the property says, at one compute node with what it takes by default. */
    @Test
    void shouldServeAsManyAsTheDefaultAndRefuseTheRestByName()
    {
        startMeta(1_024);
        startComputeNode(ComputeNodeRole.DEFAULT_MAX_CLIENTS);
        final int count = Integer.getInteger("verbena.clients", 80);
        final List<KvClient> clients = new ArrayList<>();
        try
        {
            clients.add(client(STEP_NS));
            clients.getFirst().createTable("t", new TableOptions(100)).put(KEY, KEY);
            int served = 1;
            for (int i = 1; i < count; i++)
            {
                clients.add(client(i < ComputeNodeRole.DEFAULT_MAX_CLIENTS ? STEP_NS : SHORT_NS));
                served += isServedOrRefusedByName(clients.getLast()) ? 1 : 0;
            }
            assertThat(served).isEqualTo(Math.min(count, ComputeNodeRole.DEFAULT_MAX_CLIENTS));
            startComputeNode(1);
            clients.getFirst().createTable("u", new TableOptions(100)).put(KEY, KEY);
        }
        finally
        {
            clients.forEach(KvClient::close);
        }
    }

    private static boolean isServedOrRefusedByName(final KvClient client)
    {
        try
        {
            return client.table("t").get(KEY).isPresent();
        }
        catch (final KvUnavailableException ex)
        {
            assertThat(ex).hasMessageContaining("raise --max-clients (256) of the compute node");
            return false;
        }
    }

    /** Clients fill all the room that they have at the meta server; nodes still join, and are heard. */
    @Test
    void shouldKeepRoomForNodesAtTheMetaServer()
    {
        startMeta(3);
        startComputeNode(10);
        final List<KvClient> clients = new ArrayList<>();
        try
        {
            for (int i = 0; i < 3; i++)
            {
                clients.add(client(STEP_NS));
            }
            assertThatThrownBy(() -> client(SHORT_NS)).isInstanceOf(KvUnavailableException.class)
                .hasMessageContaining("the meta server has no room for another client: 3 are connected")
                .hasMessageContaining("raise --max-clients");
            startComputeNode(10);
            start(MemoryNodeRole.open(fabric, locator(), 16 << 20));
            clients.getFirst().createTable("t", new TableOptions(100)).put(KEY, KEY);
            clients.getLast().close();
            clients.set(2, client(STEP_NS));
            assertThat(clients.getLast().table("t").get(KEY).orElseThrow().value()).isEqualTo(KEY);
        }
        finally
        {
            clients.forEach(KvClient::close);
        }
    }
}
