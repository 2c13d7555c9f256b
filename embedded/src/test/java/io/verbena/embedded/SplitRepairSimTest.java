package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.SplitRepairs;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.TableCheck;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** A table of which the only node that split it ended after any request, and which nobody uses since, is repaired. */
class SplitRepairSimTest
{
    private static final long SEEDS = Long.getLong("verbena.sim.seeds", 25);
    private static final int MOST_KEYS = 600;
    private static final int MOST_REQUESTS = 400;
    private static final long SEEDS_WITHOUT_SPLITS = 8;
    /** More splits that end as soon as their link stands, at one state of the code or another. */
    private static final long[] ENDED_AFTER_THE_LINK = {62, 69, 118, 126, 139};
    private static final long UNTIL_FINISHED_NS = 600_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(20_000_000);
    private static final long MAX_STEPS = 50_000_000;

    private static byte[] key(final int number)
    {
        return ("key-" + number).getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void shouldFinishWhatASplitterLeftBehind()
    {
        int under = 0;
        int finished = 0;
        long unused = 0;
        for (long seed = 1; seed <= SEEDS; seed++)
        {
            try (SimCluster cluster = SimCluster.growing(seed, new SimFabricOptions(), 1, 1))
            {
                final KvTable table = cluster.createTable("t", 50);
                final List<Integer> stored = fillUntilItsEnd(cluster, table);
                final SimCluster.Compute repairer = cluster.addComputeNode();
                cluster.world().runUntil(repairer::isServing, MAX_STEPS);
                cluster.settle();
                final TableCheck before = check(cluster, seed).tables().get("t");
                under += before.splitsUnderWay > 0 ? 1 : 0;

                SplitRepairs.begin(repairer.node());
                cluster.world().runUntil(() -> SplitRepairs.isDone(repairer.node()), MAX_STEPS);
                cluster.settle();

                final StoreCheck after = check(cluster, seed);
                assertThat(after.tables().get("t").splitsUnderWay).as("seed %d", seed).isZero();
                assertThat(after.tables().get("t").committed).as("seed %d", seed).isEqualTo(before.committed)
                    .isGreaterThanOrEqualTo(stored.size());
                finished += SplitRepairs.count(repairer.node());
                unused += after.spaces().getFirst().unnamedIndexBytes / SimCluster.CHUNK_BYTES;
                // Leased before a link, or given back when the epochs have passed: of the last splits.
                assertThat(after.spaces().getFirst().unnamedIndexBytes).as("seed %d", seed)
                    .isLessThanOrEqualTo(12 * SimCluster.CHUNK_BYTES);
                assertStored(cluster, table, stored, seed);
            }
        }
        System.out.println("stores with splits under way: " + under + ", splits finished or published: " + finished +
            ", index chunks that nothing names: " + unused);
        assertThat(under).isPositive();
        assertThat(finished).isGreaterThanOrEqualTo(under);
    }

    /**
     * Nodes that split nothing finish what they meet, and publish it. Operations look at buckets only: they do not meet
     * a split whose link stands in the header line alone, and lose nothing by it. Whoever splits goes on with it.
     */
    @Test
    void shouldFinishWhatIsMetWhereNothingIsSplit()
    {
        int met = 0;
        for (final long seed : LongStream.concat(
            LongStream.rangeClosed(1, SEEDS_WITHOUT_SPLITS), LongStream.of(ENDED_AFTER_THE_LINK)).toArray())
        {
            try (SimCluster cluster = SimCluster.growing(seed, new SimFabricOptions(), 1, 1))
            {
                final KvTable table = cluster.createTable("t", 50);
                final List<Integer> stored = fillUntilItsEnd(cluster, table);
                cluster.splitsSubtables(false);
                cluster.world().runUntil(cluster.addComputeNode()::isServing, MAX_STEPS);
                cluster.settle();
                check(cluster, seed);
                final long unmet = splitsUnderWay(cluster, (links) -> 0 == links);
                met += splitsUnderWay(cluster, (links) -> 0 != links) > 0 ? 1 : 0;

                assertStored(cluster, table, stored, seed);
                cluster.runFor(UNTIL_FINISHED_NS);
                cluster.settle();

                assertThat(splitsUnderWay(cluster, (links) -> 0 != links)).as("seed %d", seed).isZero();
                assertThat(splitsUnderWay(cluster, (links) -> 0 == links)).as("seed %d", seed).isEqualTo(unmet);
                assertThat(check(cluster, seed).tables().get("t").splitsUnderWay).as("seed %d", seed).isEqualTo(unmet);
                assertStored(cluster, table, stored, seed);
            }
        }
        assertThat(met).as("stores with splits that are met").isPositive();
    }

    /** @return splits that have begun, not ended, and of which so many buckets carry the link. */
    private static long splitsUnderWay(final SimCluster cluster, final LongPredicate bucketLinks)
    {
        final UnsafeBuffer line = new UnsafeBuffer(ByteBuffer.allocateDirect(BucketDescriptor.GROUP_BYTES));
        long count = 0;
        for (final TableDescriptor table : cluster.tables())
        {
            final ArrayDeque<Subtable> left = new ArrayDeque<>(Subtable.of(table));
            while (!left.isEmpty())
            {
                final Subtable subtable = left.poll();
                cluster.regions().read(
                    subtable.memoryNodeId(), subtable.offset(), line, SubtableDescriptor.HEADER_BYTES);
                final long link = SubtableDescriptor.split(line, 0);
                if (link != SplitLink.NONE && !MergeLink.isLink(link))
                {
                    left.add(subtable.child(link, 0));
                    left.add(subtable.child(link, 1));
                    final boolean isWhole = SplitLink.isComplete(link);
                    count += !isWhole && bucketLinks.test(bucketLinks(cluster, table, subtable, line)) ? 1 : 0;
                }
            }
        }
        return count;
    }

    private static long bucketLinks(
        final SimCluster cluster, final TableDescriptor table, final Subtable subtable, final UnsafeBuffer line)
    {
        long links = 0;
        for (int group = 0; group < table.groupCount(); group++)
        {
            cluster.regions().read(subtable.memoryNodeId(), subtable.offset() + SubtableDescriptor.GROUPS_OFFSET +
                (long)group * BucketDescriptor.GROUP_BYTES, line, BucketDescriptor.GROUP_BYTES);
            for (int bucket = 0; bucket < BucketDescriptor.GROUP_BYTES; bucket += BucketDescriptor.BUCKET_BYTES)
            {
                links += SplitLink.isLink(line.getLong(bucket, ByteOrder.LITTLE_ENDIAN)) ? 1 : 0;
            }
        }
        return links;
    }

    /** One put after the other; the node ends somewhere in the middle. */
    private static List<Integer> fillUntilItsEnd(final SimCluster cluster, final KvTable table)
    {
        final RandomGenerator random = cluster.world().random();
        final SimCluster.Compute splitter = cluster.computes().getFirst();
        final int lastBefore = random.nextInt(MOST_KEYS);
        final List<Integer> stored = new ArrayList<>();
        for (int number = 0; splitter.isServing(); number++)
        {
            if (number == lastBefore)
            {
                splitter.machine().device().killAfterRequests(random.nextInt(MOST_REQUESTS));
            }
            final int key = number;
            final int[] ended = {0};
            table.withTimeout(TIMEOUT).putAsync(key(key), key(key)).whenComplete((version, error) ->
            {
                ended[0] = 1;
                if (null == error)
                {
                    stored.add(key);
                }
            });
            cluster.world().runUntil(() -> ended[0] > 0, MAX_STEPS);
        }
        splitter.machine().kill();
        cluster.forget(splitter);
        return stored;
    }

    private static StoreCheck check(final SimCluster cluster, final long seed)
    {
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.isSound()).as("seed %d: %s", seed, check).isTrue();
        return check;
    }

    private static void assertStored(
        final SimCluster cluster, final KvTable table, final List<Integer> stored, final long seed)
    {
        for (final int number : stored)
        {
            final int[] found = {-1};
            table.withTimeout(TIMEOUT).getAsync(key(number)).whenComplete((entry, error) ->
                found[0] = null == error && entry.isPresent() ? 1 : 0);
            cluster.world().runUntil(() -> found[0] >= 0, MAX_STEPS);
            assertThat(found[0]).as("seed %d: key %d", seed, number).isOne();
        }
    }
}
