package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairType;
import org.junit.jupiter.api.Test;

import java.util.Arrays;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * 16 nodes send to one, or are read by one, through a link of 10 Gbit/s with a queue of 64 packets, or of 200 Mbit/s
 * with a queue of 512 KiB as {@code bench wire} has: the link is used, nobody starves, and nothing fails, with and
 * without packets that are lost besides. Time is virtual, seeds are fixed.
 */
class CongestionSimTest
{
    private static final int SENDERS = 16;
    private static final int MTU = 1024;
    private static final int MESSAGE_BYTES = 16 * MTU;
    private static final int OUTSTANDING = 8;
    private static final int PACKET_BYTES = MTU + 16 + Bottleneck.FRAME_BYTES;
    private static final int NO_MARKS = 1 << 20;
    private static final long DELAY_NS = 5_000;
    private static final Link FAST = new Link(1.25, 64L * PACKET_BYTES, 5_000_000, 40_000_000);
    private static final Link SLOW = new Link(0.025, 512 << 10, 900_000_000, 2_100_000_000);

    /** Its queue and rate, and for how long it is used before and while it is measured. */
    private record Link(double bytesPerNs, long queueBytes, long warmUpNs, long measuredNs)
    {
    }

    /** What came of a run. */
    private record Result(double goodput, double leastShare, Bottleneck bottleneck)
    {
    }

    private static Result run(
        final Link link,
        final long seed,
        final int operation,
        final int lostPerThousand,
        final int markPackets,
        final long maxPauseNs)
    {
        // Packets overtake each other on a slow link, for nothing else depends on the seed there.
        final LossyNetwork network = new LossyNetwork(
            seed, new LossyNetwork.Faults(lostPerThousand, 0, 0, 0, link == SLOW ? DELAY_NS / 2 : 0));
        final EngineNode sink = network.addNodeAtOwnPort(EngineOptions.WINDOW_PACKETS, EngineOptions.ACK_INTERVAL);
        final Bottleneck bottleneck = new Bottleneck(
            sink, link.bytesPerNs, link.queueBytes, (long)markPackets * PACKET_BYTES);
        network.pass(bottleneck, DELAY_NS);
        final long[] bytes = new long[SENDERS];
        for (int i = 0; i < SENDERS; i++)
        {
            final EngineNode node = network.addNodeAtOwnPort(EngineOptions.WINDOW_PACKETS, EngineOptions.ACK_INTERVAL);
            final int index = i;
            final EngineNode requester = operation == WorkRequest.READ ? sink : node;
            final EngineNode responder = operation == WorkRequest.READ ? node : sink;
            final RoceQueuePair queuePair = requester.createQueuePair(QueuePairType.RC, null);
            final RoceQueuePair peer = responder.createQueuePair(QueuePairType.RC, null);
            final ConnectOptions options =
                new ConnectOptions(MTU, 0xFF_FF00, 16, 14, 7, 7, 1, AccessFlags.ALL_REMOTE);
            EngineNode.connect(queuePair, responder, peer, options);
            EngineNode.connect(peer, requester, queuePair, options);
            for (int j = 0; j < OUTSTANDING; j++)
            {
                post(queuePair, operation, requester, responder, index);
            }
            final var before = requester.onCompletion;
            requester.onCompletion = (completion) ->
            {
                if (completion.number() == queuePair.number())
                {
                    assertThat(completion.status()).isZero();
                    bytes[index] += network.nowNs() < link.warmUpNs ? 0 : MESSAGE_BYTES;
                    post(queuePair, operation, requester, responder, index);
                }
                else
                {
                    before.accept(completion);
                }
            };
        }
        run(network, sink, link.warmUpNs + link.measuredNs, maxPauseNs);
        final double linkBytes = link.measuredNs * link.bytesPerNs * MTU / PACKET_BYTES;
        final long sum = Arrays.stream(bytes).sum();
        final long least = Arrays.stream(bytes).min().orElseThrow();
        return new Result(sum / linkBytes, least * (double)SENDERS / sum, bottleneck);
    }

    /** Where a longest pause is given, the one that all send to is kept from its processor every now and then. */
    private static void run(
        final LossyNetwork network, final EngineNode sink, final long durationNs, final long maxPauseNs)
    {
        final long endNs = network.nowNs() + durationNs;
        while (maxPauseNs > 0 && network.nowNs() + 4 * maxPauseNs < endNs)
        {
            network.elapse(maxPauseNs / 10 + network.nextInt((int)maxPauseNs));
            network.pause(sink);
            network.elapse(network.nextInt((int)maxPauseNs));
            network.pause(null);
        }
        network.elapse(endNs - network.nowNs());
    }

    private static void post(
        final RoceQueuePair queuePair,
        final int operation,
        final EngineNode requester,
        final EngineNode responder,
        final int index)
    {
        queuePair.begin();
        if (operation == WorkRequest.READ)
        {
            queuePair.read(1, SIGNALED, requester.at(index * MESSAGE_BYTES), MESSAGE_BYTES, requester.key(),
                responder.at(0), responder.key());
        }
        else
        {
            queuePair.write(1, SIGNALED, requester.at(0), MESSAGE_BYTES, requester.key(),
                responder.at(index * MESSAGE_BYTES), responder.key());
        }
        assertThat(queuePair.complete()).isZero();
    }

    private static void assertFair(final int operation, final int markPackets)
    {
        final Result calm = run(FAST, 1, operation, 0, markPackets, 0);
        assertThat(calm.goodput).isBetween(0.8, 1.01);
        assertThat(calm.leastShare).isGreaterThanOrEqualTo(0.5);
        assertThat(calm.bottleneck.markedCount > 0).isEqualTo(markPackets < NO_MARKS);
        // Few lost packets find each window as large as it gets, many keep all of them small.
        for (final int lostPerThousand : new int[]{1, 10})
        {
            for (long seed = 1; seed <= 4; seed++)
            {
                final Result lossy = run(FAST, seed, operation, lostPerThousand, markPackets, 0);
                assertThat(lossy.goodput).isGreaterThanOrEqualTo(0.5 * calm.goodput);
                assertThat(lossy.leastShare).as("%d lost per thousand, seed %d", lostPerThousand, seed)
                    .isGreaterThanOrEqualTo(0.5);
            }
        }
    }

    @Test
    void shouldShareTheLinkAmongWriters()
    {
        assertFair(WorkRequest.WRITE, NO_MARKS);
    }

    @Test
    void shouldShareTheLinkAmongWritersWithMarks()
    {
        assertFair(WorkRequest.WRITE, 24);
    }

    @Test
    void shouldShareTheLinkAmongResponders()
    {
        assertFair(WorkRequest.READ, NO_MARKS);
    }

    @Test
    void shouldShareTheLinkAmongRespondersWithMarks()
    {
        assertFair(WorkRequest.READ, 24);
    }

    /** A round trip through the full queue takes 20 ms: what a writer does wrong once it pays for in the whole run. */
    @Test
    void shouldShareASlowLinkAmongWriters()
    {
        for (long seed = 1; seed <= 5; seed++)
        {
            assertShared(seed, run(SLOW, seed, WorkRequest.WRITE, 0, NO_MARKS, 0));
        }
    }

    /** Round trips are longer than the time-out of 67 ms now and then. */
    @Test
    void shouldShareASlowLinkThoughTheReceiverIsKeptFromItsProcessor()
    {
        for (long seed = 1; seed <= 4; seed++)
        {
            assertShared(seed, run(SLOW, seed, WorkRequest.WRITE, 0, NO_MARKS, 100_000_000));
        }
    }

    @Test
    void shouldShareASlowLinkThatLosesPackets()
    {
        final Result calm = run(SLOW, 1, WorkRequest.WRITE, 0, NO_MARKS, 0);
        for (long seed = 1; seed <= 4; seed++)
        {
            final Result lossy = run(SLOW, seed, WorkRequest.WRITE, 10, NO_MARKS, 0);
            assertShared(seed, lossy);
            assertThat(lossy.goodput).as("seed %d", seed).isGreaterThanOrEqualTo(0.8 * calm.goodput);
        }
    }

    private static void assertShared(final long seed, final Result result)
    {
        assertThat(result.goodput).as("seed %d", seed).isGreaterThanOrEqualTo(0.8);
        assertThat(result.leastShare).as("seed %d", seed).isGreaterThanOrEqualTo(0.5);
    }
}
