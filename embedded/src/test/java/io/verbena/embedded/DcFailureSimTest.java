package io.verbena.embedded;

import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

import static org.assertj.core.api.Assertions.assertThat;

/** A DC initiator that fails ends no compute node: what went over it ends, everything else goes over queue pairs. */
class DcFailureSimTest
{
    private static final long MAX_STEPS = 5_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(10_000_000);
    private static final int KEYS = 20;

    private final List<QueuePair> initiators = new ArrayList<>();

    private static byte[] key(final int number)
    {
        return ("key-" + number).getBytes();
    }

    private static <T> T await(final SimCluster cluster, final CompletableFuture<T> future)
    {
        cluster.world().runUntil(future::isDone, MAX_STEPS);
        return future.join();
    }

    /** A device whose protection domains make their DC initiators as is said. */
    private static Device device(final Device device, final UnaryOperator<QueuePair> onInitiator)
    {
        return proxy(Device.class, device, (result, arguments) -> result instanceof final ProtectionDomain domain ?
            proxy(ProtectionDomain.class, domain, (made, options) -> made instanceof final QueuePair queuePair &&
                options[0] instanceof final QueuePairOptions asked && QueuePairType.DC_INITIATOR == asked.type() ?
                onInitiator.apply(queuePair) : made) : result);
    }

    private interface Replacement
    {
        Object of(Object result, Object[] arguments);
    }

    private static <T> T proxy(final Class<T> type, final T target, final Replacement replacement)
    {
        final InvocationHandler handler = (self, method, arguments) ->
        {
            try
            {
                return replacement.of(method.invoke(target, arguments), arguments);
            }
            catch (final InvocationTargetException ex)
            {
                throw ex.getCause();
            }
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, handler));
    }

    private static QueuePair fail(final QueuePair made)
    {
        made.close();
        throw new RdmaException("planted: no initiator");
    }

    private QueuePair remember(final QueuePair made)
    {
        initiators.add(made);
        return made;
    }

    private static void breakDown(final QueuePair initiator)
    {
        initiator.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    }

    private static KvTable filledTable(final SimCluster cluster)
    {
        final KvTable table = cluster.createTable("t", 50);
        for (int i = 0; i < KEYS; i++)
        {
            await(cluster, table.withTimeout(TIMEOUT).putAsync(key(i), key(i)));
        }
        return table;
    }

    private static void checkAll(final SimCluster cluster, final KvTable table)
    {
        for (int i = 0; i < KEYS; i++)
        {
            final Optional<KvEntry> found = await(cluster, table.withTimeout(TIMEOUT).getAsync(key(i)));
            assertThat(found.map(KvEntry::value)).contains(key(i));
        }
        await(cluster, table.withTimeout(TIMEOUT).putAsync(key(1), key(2)));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldServeWhereNoInitiatorCanBeMade(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 2, 1))
        {
            final KvTable table = filledTable(cluster);
            cluster.computeDevices((device) -> device(device, DcFailureSimTest::fail));
            final SimCluster.Compute late = cluster.addComputeNode();
            cluster.world().runUntil(late::isServing, MAX_STEPS);
            cluster.forget(cluster.computes().getFirst());
            checkAll(cluster, table);
            assertThat(late.isServing()).isTrue();
            assertThat(late.node().failures().dcInitiatorCount()).as("one for each memory node").isEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldServeWhenAnInitiatorBreaksWhileReading(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 2, 1))
        {
            final KvTable table = filledTable(cluster);
            cluster.memoryMachines().forEach(SimNode::pause);
            final SimCluster.Compute late = addRemembered(cluster);
            final QueuePair broken = initiators.getFirst();
            final List<CompletableFuture<Optional<KvEntry>>> gets = new ArrayList<>();
            final long readsBefore = broken.counters().reads;
            for (int i = 0; i < KEYS; i++)
            {
                gets.add(table.withTimeout(TIMEOUT).getAsync(key(i)));
            }
            cluster.world().runUntil(() -> broken.counters().reads > readsBefore, MAX_STEPS);
            breakDown(broken);
            cluster.world().runUntil(() -> 0 != late.node().failures().dcInitiatorCount(), MAX_STEPS);

            cluster.world().runUntil(() -> gets.stream().allMatch(CompletableFuture::isDone), MAX_STEPS);
            final long served = gets.stream().filter((get) -> !get.isCompletedExceptionally()).count();
            assertThat(served).as("reads of the other memory node, of all").isBetween(1L, KEYS - 1L);
            cluster.memoryMachines().forEach(SimNode::resume);
            cluster.world().runUntil(() -> 2 == late.node().reachedMemoryNodes(), MAX_STEPS);
            checkAll(cluster, table);
            assertThat(late.isServing()).isTrue();
            assertThat(late.node().failures().dcInitiatorCount()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldServeWhenAnInitiatorBreaksBetweenReads(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1))
        {
            final KvTable table = filledTable(cluster);
            cluster.memoryMachines().forEach(SimNode::pause);
            final SimCluster.Compute late = addRemembered(cluster);
            assertThat(await(cluster, table.withTimeout(TIMEOUT).getAsync(key(0))).map(KvEntry::value))
                .contains(key(0));
            breakDown(initiators.getFirst());
            final CompletableFuture<Optional<KvEntry>> get = table.withTimeout(TIMEOUT).getAsync(key(0));
            cluster.world().runUntil(get::isDone, MAX_STEPS);
            assertThat(get).isCompletedExceptionally();
            cluster.memoryMachines().forEach(SimNode::resume);
            cluster.world().runUntil(() -> 1 == late.node().reachedMemoryNodes(), MAX_STEPS);
            checkAll(cluster, table);
            assertThat(late.node().failures().dcInitiatorCount()).isEqualTo(1);
        }
    }

    private SimCluster.Compute addRemembered(final SimCluster cluster)
    {
        cluster.computeDevices((device) -> device(device, this::remember));
        final SimCluster.Compute late = cluster.addComputeNode();
        cluster.world().runUntil(late::isServing, MAX_STEPS);
        cluster.forget(cluster.computes().getFirst());
        return late;
    }
}
