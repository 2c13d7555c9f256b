package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.compute.LateLookups;
import io.verbena.compute.maintenance.ReclaimMutation;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;
import io.verbena.test.Mutation;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** A table that grows far beyond what it was made for, under the simulated fabric, with all agents. */
class GrowingTableSimTest
{
    private static final int CLIENTS = 4;
    private static final int KEYS = 3;
    private static final int OPERATIONS = 400;
    private static final int FILLERS = 6;
    private static final int FILLED_KEYS = 2500;
    private static final int KEYS_WHILE_WATCHED = 2000;
    private static final int MOST_MUTATION_SEEDS = 40;
    private static final long TIMEOUT_NS = 20_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long MAX_PAUSE_NS = 1_000_000;
    private static final long LEFT_NS = 400_000_000;
    private static final long MAX_STEPS = 200_000_000;

    /** Seeds 1 to 6, or as many as the system property verbena.sim.seeds says, for a longer search. */
    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.sim.seeds", 6));
    }

    /** Puts one key after the other, again and again until it is told as done. */
    private static final class Filler
    {
        private final KvTable table;
        private int next;
        private int done;
        private final List<String> failures = new ArrayList<>();

        private Filler(final KvTable table)
        {
            this.table = table;
        }

        private void start()
        {
            for (int i = 0; i < FILLERS; i++)
            {
                put(next++);
            }
        }

        private static byte[] key(final int number)
        {
            return ("filled-" + number).getBytes(StandardCharsets.US_ASCII);
        }

        private void put(final int number)
        {
            table.withTimeout(TIMEOUT).putAsync(key(number), key(number)).whenComplete((version, error) ->
            {
                if (null != error)
                {
                    assertThat(((KvException)error).category()).as(error.getMessage())
                        .isNotIn(KvException.Category.NO_SPACE, KvException.Category.CORRUPT,
                            KvException.Category.INVALID_REQUEST);
                    failures.add(error.getMessage());
                    put(number);
                    return;
                }
                done++;
                if (next < FILLED_KEYS)
                {
                    put(next++);
                }
            });
        }

        private boolean isFinished()
        {
            return FILLED_KEYS == done;
        }
    }

    /** Every operation succeeds; in the end no memory is lost. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldGrowWithoutAnError(final long seed)
    {
        try (SimCluster cluster = SimCluster.growing(seed, new SimFabricOptions(), 2, 2))
        {
            final KvTable table = cluster.createTable("t", 50);
            final int depth = cluster.tables().getFirst().depth();
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, OPERATIONS, TIMEOUT_NS);
            final Filler filler = new Filler(table);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            filler.start();

            cluster.world().runUntil(filler::isFinished, MAX_STEPS);
            clients.finish(MAX_STEPS);

            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages()).isEmpty();
            assertThat(filler.failures).as("seed %d", seed).isEmpty();
            assertThat(cluster.tables().getFirst().depth()).isGreaterThan(depth + 1);
            assertComplete(cluster, table, seed);
            cluster.sweep();
            final StoreCheck check = check(cluster, seed);
            check.spaces().forEach((space) -> assertThat(space.unnamedIndexBytes).as("seed %d", seed).isZero());
        }
    }

    /** Compute nodes crash, also those that split, all nodes pause beyond their leases, connections break. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldStayLinearizableWhenSplittersCrash(final long seed)
    {
        try (SimCluster cluster = SimCluster.growing(seed, new SimFabricOptions(), 2, 3);
            ReturnedChunks returned = ReturnedChunks.watch(cluster))
        {
            final KvTable table = cluster.createTable("t", 50);
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, OPERATIONS, TIMEOUT_NS);
            final Filler filler = new Filler(table);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            filler.start();
            for (int i = 0; i < 10; i++)
            {
                final long delayNs = i * 6_000_000L + cluster.world().random().nextLong(5_000_000);
                cluster.world().after(delayNs, () -> hurt(cluster));
            }

            clients.finish(MAX_STEPS);
            cluster.world().runUntil(filler::isFinished, MAX_STEPS);

            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages())
                .doesNotContainKey(KvException.Category.INVALID_REQUEST)
                .doesNotContainKey(KvException.Category.CORRUPT)
                .doesNotContainKey(KvException.Category.NO_SPACE);
            assertThat(clients.succeeded()).isGreaterThan(OPERATIONS / 3);
            assertThat(returned.reached()).as("seed %d", seed).isEmpty();
            assertComplete(cluster, table, seed);
            // What was met of splits that others had left is finished after a while, and frozen words are gone then.
            cluster.runFor(LEFT_NS);
            cluster.settle();
            check(cluster, seed);
            cluster.sweep();
            final StoreCheck check = check(cluster, seed);
            assertThat(check.lostBytes() + check.unreclaimedBytes()).as("seed %d: %s", seed, check).isZero();
        }
    }

    /** Late looks after tables, which descriptors of splits are taken over by: what went back is reached by nobody. */
    @ParameterizedTest
    @ValueSource(longs = 1)
    void shouldReachNothingThatWentBack(final long seed)
    {
        assertThat(reached(seed, LateLookups.SLOW_CATALOG)).as("seed %d", seed).isEmpty();
    }

    /** Without taking over before an epoch is passed, or waiting for epochs, somebody looks where nothing is. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({"CLOSE_DROPPED", "INDEX_WAIT"})
    void shouldReachWhatWentBackWhenMutated(final ReclaimMutation left)
    {
        final Mutation fault =
            ReclaimMutation.CLOSE_DROPPED == left ? LateLookups.SLOW_CATALOG : Mutation.NONE;
        List<String> found = List.of();
        long seed = 0;
        while (found.isEmpty() && ++seed <= MOST_MUTATION_SEEDS)
        {
            found = reached(seed, left.mutation().and(fault));
        }
        System.out.println(left + " seed " + seed + ": " + found);
        assertThat(found).as("requests to memory that went back, without %s", left).isNotEmpty();
    }

    private static List<String> reached(final long seed, final Mutation mutation)
    {
        try (SimCluster cluster = SimCluster.growing(seed, new SimFabricOptions(), 1, 2, mutation);
            ReturnedChunks returned = ReturnedChunks.watchAtOnce(cluster))
        {
            final Filler filler = new Filler(cluster.createTable("t", 50));
            // One at a time, so that nodes meet few splits by themselves.
            filler.put(filler.next++);
            cluster.world().runUntil(() -> filler.done >= KEYS_WHILE_WATCHED || !returned.reached().isEmpty(),
                MAX_STEPS);
            return List.copyOf(returned.reached());
        }
    }

    private static void assertComplete(final SimCluster cluster, final KvTable table, final long seed)
    {
        for (int i = 0; i < FILLED_KEYS; i++)
        {
            final int[] present = {-1};
            read(table, i, present);
            cluster.world().runUntil(() -> present[0] >= 0, MAX_STEPS);
            assertThat(present[0]).as("seed %d: key %d", seed, i).isOne();
        }
    }

    private static void read(final KvTable table, final int number, final int[] present)
    {
        table.withTimeout(TIMEOUT).getAsync(Filler.key(number)).whenComplete((entry, error) ->
        {
            if (null != error)
            {
                read(table, number, present);
            }
            else
            {
                present[0] = entry.isPresent() ? 1 : 0;
            }
        });
    }

    private static StoreCheck check(final SimCluster cluster, final long seed)
    {
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.problems()).as("seed %d", seed).isEmpty();
        check.tables().forEach((name, table) -> assertThat(table.problems()).as("seed %d", seed).isEmpty());
        return check;
    }

    /** One of what may happen to the nodes of a cluster. */
    static void hurt(final SimCluster cluster)
    {
        final RandomGenerator random = cluster.world().random();
        final SimCluster.Compute victim = cluster.computes().get(random.nextInt(cluster.computes().size()));
        if (!victim.isServing())
        {
            return;
        }
        switch (random.nextInt(5))
        {
            case 0 ->
            {
                victim.machine().kill();
                cluster.world().after(random.nextLong(3_000_000), () -> cluster.forget(victim));
                cluster.addComputeNode();
            }
            case 1, 2 ->
            {
                victim.machine().device().killAfterRequests(random.nextInt(200));
                cluster.world().after(10_000_000 + random.nextLong(3_000_000), () -> cluster.forget(victim));
                cluster.addComputeNode();
            }
            case 3 -> cluster.pause(victim.machine(), 3 * SimCluster.LEASE_NS);
            default -> cluster.pause(cluster.metaMachine(), 3 * SimCluster.LEASE_NS);
        }
    }
}
