package io.verbena.embedded;

import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.meta.membership.MembershipRefusedException;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.rdma.sim.SimNode;
import io.verbena.table.check.StoreCheck;

import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/** The first group of memory nodes of a simulated cluster, and records of its tables with keys and values of a byte. */
final class OneGroup
{
    private static final Duration TIMEOUT = Duration.ofMillis(800);
    /** Of records that are larger. */
    static final int LARGE_BYTES = 12_000;
    private static final long MAX_STEPS = 120_000_000;
    private static final int MOST_LOOKS = 200;
    private static final int MOST_TRIES = 200;

    private OneGroup()
    {
    }

    static View view(final SimCluster cluster)
    {
        return cluster.metaServer().views().getFirst();
    }

    /** Until its view is active with so many, and nobody is filled. */
    static void awaitMembers(final SimCluster cluster, final int members)
    {
        for (int i = 0; i < MOST_LOOKS; i++)
        {
            if (ViewState.ACTIVE == view(cluster).state() && !view(cluster).isFilling() &&
                view(cluster).members().size() == members)
            {
                return;
            }
            cluster.runFor(SimCluster.LEASE_NS / 4);
        }
        throw new AssertionError("wants " + members + " members: " + cluster.metaServer().views() + ' ' +
            cluster.metaServer().stat() + ' ' + cluster.computes());
    }

    static void put(final SimCluster cluster, final KvTable table, final int key, final int value)
    {
        final CompletableFuture<Long> put =
            table.withTimeout(TIMEOUT).putAsync(new byte[]{(byte)key}, new byte[]{(byte)value});
        cluster.world().runUntil(put::isDone, MAX_STEPS);
        assertThat(put).as("put %d", key).isCompleted();
    }

    static void requireValue(final SimCluster cluster, final KvTable table, final int key, final int value)
    {
        final CompletableFuture<Optional<KvEntry>> get =
            table.withTimeout(TIMEOUT).getAsync(new byte[]{(byte)key});
        cluster.world().runUntil(get::isDone, MAX_STEPS);
        assertThat(get).as("get %d", key).isCompleted();
        assertThat(get.resultNow()).as("key %d", key).isPresent();
        assertThat(get.resultNow().get().value()).as("key %d", key).containsExactly(value);
    }

    /** Until it is one; what is refused is asked again. */
    static void awaitEntry(final SimCluster cluster, final int nodeId)
    {
        for (int i = 0; i < MOST_TRIES; i++)
        {
            if (ViewState.ACTIVE == view(cluster).state() && isMember(cluster, nodeId))
            {
                return;
            }
            enter(cluster, nodeId);
            cluster.runFor(view(cluster).isFilling() ? SimCluster.LEASE_NS : SimCluster.LEASE_NS / 4);
        }
        throw new AssertionError("node " + nodeId + " does not come in: " + cluster.metaServer().views());
    }

    static boolean isMember(final SimCluster cluster, final int nodeId)
    {
        return view(cluster).members().stream().anyMatch((member) -> member.nodeId() == nodeId);
    }

    static void enter(final SimCluster cluster, final int nodeId)
    {
        try
        {
            cluster.metaServer().enterGroup(view(cluster).group(), nodeId);
        }
        catch (final MembershipRefusedException ex)
        {
            // Not now.
        }
    }

    static int addMemoryNode(final SimCluster cluster)
    {
        cluster.addMemoryNode("another-" + cluster.memoryHosts().size());
        return cluster.memoryHosts().getLast().node().nodeId();
    }

    static int indexChunks(final SimCluster cluster, final int nodeId)
    {
        return cluster.memoryHosts().stream().map((host) -> host.node()).filter((node) -> node.nodeId() == nodeId)
            .findFirst().orElseThrow().stat().indexChunkCount();
    }

    static void requireSound(final SimCluster cluster, final long seed)
    {
        final StoreCheck check = MirroredStore.check(cluster);
        assertThat(check.isSound()).as("seed %d: %s %s", seed, check.problems(), check.differences()).isTrue();
    }

    static SimNode machine(final SimCluster cluster, final int nodeId)
    {
        return cluster.memoryHosts().stream().filter((host) -> host.node().nodeId() == nodeId).findFirst()
            .orElseThrow().machine();
    }

    static long payloadBytes(final SimCluster cluster)
    {
        return cluster.computes().stream().mapToLong((compute) -> compute.node().counters().verbs().payloadBytes).sum();
    }

    static byte[] large(final int value)
    {
        final byte[] bytes = new byte[LARGE_BYTES];
        new Random(value).nextBytes(bytes);
        return bytes;
    }

    private static byte[] largeKey(final int key)
    {
        return new byte[]{(byte)key, (byte)(key >> Byte.SIZE)};
    }

    static void putLarge(final SimCluster cluster, final KvTable table, final int key, final int value)
    {
        final CompletableFuture<Long> put = table.withTimeout(TIMEOUT).putAsync(largeKey(key), large(value));
        cluster.world().runUntil(put::isDone, MAX_STEPS);
        assertThat(put).as("put %d", key).isCompleted();
    }

    static void requireLarge(final SimCluster cluster, final KvTable table, final int key, final int value)
    {
        final CompletableFuture<Optional<KvEntry>> get =
            table.withTimeout(TIMEOUT).getAsync(largeKey(key));
        cluster.world().runUntil(get::isDone, MAX_STEPS);
        assertThat(get.join().orElseThrow().value()).as("key %d", key).isEqualTo(large(value));
    }
}
