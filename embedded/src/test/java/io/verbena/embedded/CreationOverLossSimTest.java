package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A table is created while the host of a memory node is lost, and its memory restored from a checkpoint: a table that
 * is made known has its memory.
 */
class CreationOverLossSimTest
{
    private static final long STEP_NS = 700;
    private static final int STEPS = 100;
    private static final long SEED = 20;
    private static final int SEEDS = 80;
    /** The least that shows the symptom, when it was last searched for: it is tried first. */
    private static final long KNOWN_SEED = 28;
    private static final int STEPS_AFTER = 14;
    private static final long FLAWED_PAUSE_NS = 35_000;
    private static final long TIMEOUT_NS = 60_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long MAX_STEPS = 20_000_000;

    /** The creator stands still from any moment of the creation on, and goes on when the memory is another one. */
    @ParameterizedTest
    @ValueSource(longs = {5_000, 20_000, 35_000, 50_000, 65_000, 3_000_000})
    void shouldMakeNoTableKnownWhoseMemoryIsGone(final long pauseNs)
    {
        assertThat(IntStream.range(0, STEPS).filter((i) -> create(SEED, i * STEP_NS, pauseNs, Flaw.NONE)).count())
            .as("tables created").isLessThan(STEPS);
    }

    /**
     * Made known after the memory node has asked for the tables, and before it is registered as another one. That is
     * soon after a loss begins to come too late to prevent the table, in one schedule of fifteen or so.
     */
    @Test
    void shouldShowATableWithoutMemoryWhenTheNodeAsksForTheTablesBeforeItRegisters()
    {
        final List<String> seen = new ArrayList<>();
        final PrimitiveIterator.OfLong seeds =
            LongStream.concat(LongStream.of(KNOWN_SEED), LongStream.range(SEED, SEED + SEEDS)).iterator();
        while (seeds.hasNext() && seen.isEmpty())
        {
            final long seed = seeds.nextLong();
            long preventedNs = 0;
            long madeNs = STEPS * STEP_NS;
            while (madeNs - preventedNs > STEP_NS / 2 && seen.isEmpty())
            {
                final long afterNs = (preventedNs + madeNs) / 2;
                if (isCreated(seed, afterNs, Flaw.CLAIM, seen))
                {
                    madeNs = afterNs;
                }
                else
                {
                    preventedNs = afterNs;
                }
            }
            for (int step = 0; step < STEPS_AFTER && seen.isEmpty(); step++)
            {
                isCreated(seed, preventedNs + step * STEP_NS, Flaw.CLAIM, seen);
            }
        }
        assertThat(seen).hasSize(1).allMatch((text) -> text.contains("not a subtable"));
    }

    /** @return whether a table was made; what is wrong with it is added to what was seen. */
    private static boolean isCreated(final long seed, final long afterNs, final Flaw flaw, final List<String> seen)
    {
        try
        {
            return create(seed, afterNs, FLAWED_PAUSE_NS, flaw);
        }
        catch (final AssertionError ex)
        {
            seen.add(ex.getMessage());
            return true;
        }
    }

    private static boolean create(final long seed, final long afterNs, final long pauseNs, final Flaw flaw)
    {
        try (SimCluster cluster = SimCluster.durable(seed, new SimFabricOptions(), 1, 1, flaw))
        {
            return create(cluster, afterNs, pauseNs);
        }
    }

    private static boolean create(final SimCluster cluster, final long afterNs, final long pauseNs)
    {
        final SimWorld world = cluster.world();
        final SimMemoryHost host = cluster.memoryHosts().getFirst();
        final SimCluster.Compute creator = cluster.computes().getFirst();
        host.checkpoint((region) -> new SteppedLoads(world, region));
        world.after(1 + afterNs, () ->
        {
            creator.machine().pause();
            host.loseHost();
            host.start();
            world.after(pauseNs, creator.machine()::resume);
        });
        final ControlRequest request =
            cluster.asked(creator, ControlRequest.Kind.CREATE_TABLE, "t", 50, TIMEOUT_NS);
        cluster.runFor(3 * SimCluster.LEASE_NS);
        cluster.settle();
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.isSound()).as("lost after %d ns: %s %s", afterNs, request.status(), check).isTrue();
        if (ControlRequest.Status.OK != request.status())
        {
            return false;
        }
        final KvTable table = cluster.client().table((TableReference)request.result());
        final CompletableFuture<Long> put = table.withTimeout(TIMEOUT).putAsync(new byte[]{1}, new byte[100]);
        world.runUntil(put::isDone, MAX_STEPS);
        assertThat(put).as("lost after %d ns", afterNs).isCompleted();
        return true;
    }
}
