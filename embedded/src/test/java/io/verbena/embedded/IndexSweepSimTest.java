package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.maintenance.ReclaimMutation;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;
import io.verbena.test.Mutation;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** Index chunks that nobody names, and that nobody is left to return, come back while the cluster is up. */
class IndexSweepSimTest
{
    private static final int CHUNKS = 24;
    private static final int LARGE_CHUNKS = 1000;
    private static final long LARGE_RECORDS = 2_500_000;
    private static final long BEFORE_RETURN_NS = 3_000;
    /** Looks included: more headers than one READ brings, so that the look takes several. */
    private static final int REQUESTS_OF_JOINING = 8;
    private static final int PUTS_BEFORE = 6;
    private static final int MOST_REQUESTS = 700;
    private static final int REQUEST_STEP = 9;
    private static final Duration TIMEOUT = Duration.ofNanos(20_000_000);
    private static final long CREATE_TIMEOUT_NS = 1_000_000_000;
    private static final long MAX_STEPS = 50_000_000;
    private static final Pattern SWEPT = Pattern.compile("returnedIndexChunks=(\\d+)");

    private SimCluster.Compute splitter;
    private KvTable table;

    private SimCluster cluster(final Mutation mutation)
    {
        final SimCluster cluster = new SimCluster(5, new SimFabricOptions(), 1, 2, CHUNKS, mutation);
        splitter = cluster.computes().getFirst();
        cluster.forget(cluster.computes().getLast()); // by the client: it works on nothing
        table = cluster.createTable("t", 50);
        return cluster;
    }

    private boolean[] put(final int number)
    {
        final byte[] key = ("key-" + number).getBytes(StandardCharsets.US_ASCII);
        final boolean[] isEnded = {false};
        table.withTimeout(TIMEOUT).putAsync(key, key).whenComplete((version, error) -> isEnded[0] = true);
        return isEnded;
    }

    /** One after the other, until one fails. */
    private void putOn(final int number)
    {
        final byte[] key = ("key-" + number).getBytes(StandardCharsets.US_ASCII);
        table.withTimeout(TIMEOUT).putAsync(key, key).thenRun(() -> putOn(number + 1));
    }

    /** How many puts come before the first split is published. */
    private int putsBeforeASplit()
    {
        try (SimCluster cluster = cluster(Mutation.NONE))
        {
            final int depth = cluster.tables().getFirst().depth();
            int puts = 0;
            for (; cluster.tables().getFirst().depth() == depth; puts++)
            {
                final boolean[] isEnded = put(puts);
                cluster.world().runUntil(() -> isEnded[0], MAX_STEPS);
            }
            return puts;
        }
    }

    /** The only splitter dies after so many requests, of puts and of the split that they lead to. */
    private StoreCheck dieSplitting(final int puts, final int requests, final Mutation mutation, final long[] swept)
    {
        try (SimCluster cluster = cluster(mutation))
        {
            for (int i = 0; i < puts - PUTS_BEFORE; i++)
            {
                final boolean[] isEnded = put(i);
                cluster.world().runUntil(() -> isEnded[0], MAX_STEPS);
            }
            splitter.machine().device().killAfterRequests(requests);
            putOn(puts - PUTS_BEFORE);
            cluster.runFor(2 * SimCluster.LEASE_NS);
            if (splitter.isServing())
            {
                splitter.machine().kill();
            }
            cluster.settle();
            cluster.spaces().forEach((space) -> swept[0] += sweptChunks(space.reclaimed()));
            return cluster.check(cluster.tables());
        }
    }

    private static long sweptChunks(final String reclaimed)
    {
        final Matcher matcher = SWEPT.matcher(reclaimed);
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    @Test
    void shouldReturnWhatASplitterLeavesThatDiesAtAnyStep()
    {
        final int puts = putsBeforeASplit();
        final long[] swept = {0};
        for (int requests = 0; requests < MOST_REQUESTS; requests += REQUEST_STEP)
        {
            final StoreCheck check = dieSplitting(puts, requests, Mutation.NONE, swept);
            assertThat(check.isSound()).as("after %d requests: %s", requests, check).isTrue();
            assertThat(check.lostBytes() + check.unreclaimedBytes()).as("after %d requests: %s", requests, check)
                .isZero();
        }
        assertThat(swept[0]).as("chunks that were swept").isPositive();
    }

    /** Its link stands, so that words move to what it made as soon as anybody meets it. */
    @Test
    void shouldFreeWhatASplitHasMadeWhenLinksAreNotFollowed()
    {
        final int puts = putsBeforeASplit();
        boolean isSound = true;
        int requests = 0;
        for (; isSound && requests < MOST_REQUESTS; requests += REQUEST_STEP)
        {
            isSound = dieSplitting(
                puts, requests, ReclaimMutation.FOLLOW_LINKS.mutation(), new long[1]).isSound();
        }
        assertThat(isSound).as("no subtable lies in a free chunk").isFalse();
    }

    private static StoreCheck makeWhileSwept(final Mutation mutation)
    {
        try (SimCluster cluster = new SimCluster(5, new SimFabricOptions(), 1, 1, LARGE_CHUNKS, mutation))
        {
            final SimCluster.Compute maker = cluster.computes().getFirst();
            cluster.createTable("t", 50);
            cluster.dropTable("t"); // which has all chunks looked after
            assertThat(cluster.asked(maker, ControlRequest.Kind.CREATE_TABLE, "large", LARGE_RECORDS,
                CREATE_TIMEOUT_NS).status()).isEqualTo(ControlRequest.Status.OK);
            cluster.settle();
            return cluster.check(cluster.tables());
        }
    }

    @Test
    void shouldLeaveATableAloneThatIsBeingMade()
    {
        final StoreCheck check = makeWhileSwept(Mutation.NONE);
        assertThat(check.isSound()).as("%s", check).isTrue();
        assertThat(check.lostBytes()).as("%s", check).isZero();
    }

    @Test
    void shouldFreeATableThatIsBeingMadeWhenRequestsUnderWayDoNotCount()
    {
        assertThat(makeWhileSwept(ReclaimMutation.UNDER_WAY.mutation()).isSound()).isFalse();
    }

    private static int taken(final SimCluster cluster)
    {
        return cluster.memoryHosts().getFirst().node().stat().indexChunkCount();
    }

    private static void runUntil(final SimCluster cluster, final long atNs)
    {
        cluster.world().runUntil(() -> cluster.world().clock().nanoTime() >= atNs, MAX_STEPS);
    }

    private static void create(final SimCluster cluster, final SimCluster.Compute maker)
    {
        maker.node().endpoint().submit(new ControlRequest(ControlRequest.Kind.CREATE_TABLE, "large", LARGE_RECORDS,
            cluster.world().clock().nanoTime() + CREATE_TIMEOUT_NS)
        {
            @Override
            protected void onDone()
            {
                // the check tells
            }
        });
    }

    /**
     * A table whose maker has ended is about to go back: its chunks, more than half of all, have no owner. So those of
     * the next one are the last ones, and then the first ones.
     */
    private static SimCluster dropped(final Mutation mutation)
    {
        final SimCluster cluster = new SimCluster(5, new SimFabricOptions(), 1, 2, LARGE_CHUNKS, mutation);
        cluster.createTable("t", LARGE_RECORDS);
        cluster.computes().getFirst().machine().kill();
        cluster.runFor(2 * SimCluster.LEASE_NS);
        cluster.dropTable("t");
        return cluster;
    }

    private static long whenReturned()
    {
        try (SimCluster cluster = dropped(Mutation.NONE))
        {
            cluster.world().runUntil(() -> 0 == taken(cluster), MAX_STEPS);
            return cluster.world().clock().nanoTime();
        }
    }

    /**
     * A node that joins stops after so many requests of its own. The memory node had stood still until then, so that
     * meanwhile a table goes back and its chunks are leased for another one.
     */
    private static StoreCheck lookHalfway(final long returnedAtNs, final int requests, final Mutation mutation)
    {
        try (SimCluster cluster = dropped(mutation))
        {
            final SimCluster.Compute maker = cluster.computes().getLast();
            runUntil(cluster, returnedAtNs - BEFORE_RETURN_NS);
            cluster.memoryMachines().getFirst().pause();
            final SimCluster.Compute late = cluster.addComputeNode();
            final long lastNs = cluster.world().clock().nanoTime() + SimCluster.LEASE_NS / 4;
            cluster.world().runUntil(() -> late.machine().device().executedRequests() >= requests ||
                cluster.world().clock().nanoTime() >= lastNs, MAX_STEPS);
            late.machine().pause();
            cluster.memoryMachines().getFirst().resume();
            cluster.runFor(SimCluster.LEASE_NS / 20);
            assertThat(taken(cluster)).as("index chunks before the creation").isZero();
            create(cluster, maker);
            cluster.runFor(SimCluster.LEASE_NS / 100);
            late.machine().resume();
            cluster.settle();
            assertThat(cluster.tables()).hasSize(1);
            return cluster.check(cluster.tables());
        }
    }

    @Test
    void shouldLeaveATableAloneWhoseChunksWereLeasedInTheMiddleOfALook()
    {
        final long returnedAtNs = whenReturned();
        for (int requests = 1; requests <= REQUESTS_OF_JOINING; requests++)
        {
            final StoreCheck check = lookHalfway(returnedAtNs, requests, Mutation.NONE);
            assertThat(check.isSound()).as("after %d requests: %s", requests, check).isTrue();
            assertThat(check.lostBytes()).as("after %d requests: %s", requests, check).isZero();
        }
    }

    /** Of headers that are read later the newest lease is that of the new table, by which the others were had too. */
    @Test
    void shouldFreeATableThatIsBeingMadeWhenTheNewestLeaseOfALookIsTaken()
    {
        final long returnedAtNs = whenReturned();
        boolean isSound = true;
        for (int requests = 1; isSound && requests <= REQUESTS_OF_JOINING; requests++)
        {
            isSound = lookHalfway(returnedAtNs, requests, ReclaimMutation.SEEN_LEASE.mutation()).isSound();
        }
        assertThat(isSound).as("no subtable lies in a free chunk").isFalse();
    }
}
