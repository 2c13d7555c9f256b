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
 * 16 nodes send to one, or are read by one, through a link of 10 Gbit/s with a queue of 64 packets: the link is used,
 * nobody starves, and nothing fails, with and without packets that are lost besides. Time is virtual, seeds are fixed.
 */
class CongestionSimTest
{
    private static final int SENDERS = 16;
    private static final int MTU = 1024;
    private static final int MESSAGE_BYTES = 16 * MTU;
    private static final int OUTSTANDING = 8;
    private static final double BYTES_PER_NS = 1.25;
    private static final int PACKET_BYTES = MTU + 16 + Bottleneck.FRAME_BYTES;
    private static final int NO_MARKS = 1 << 20;
    private static final long DELAY_NS = 5_000;
    private static final long WARM_UP_NS = 5_000_000;
    private static final long MEASURED_NS = 40_000_000;

    /** What came of a run. */
    private record Result(double goodput, double leastShare, Bottleneck bottleneck)
    {
    }

    private static Result run(
        final long seed, final int operation, final int lostPerThousand, final int markPackets)
    {
        final LossyNetwork network = new LossyNetwork(seed, new LossyNetwork.Faults(lostPerThousand, 0, 0, 0, 0));
        final EngineNode sink = network.addNodeAtOwnPort(EngineOptions.WINDOW_PACKETS, EngineOptions.ACK_INTERVAL);
        final Bottleneck bottleneck = new Bottleneck(
            sink, BYTES_PER_NS, 64L * PACKET_BYTES, (long)markPackets * PACKET_BYTES);
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
                    bytes[index] += network.nowNs() < WARM_UP_NS ? 0 : MESSAGE_BYTES;
                    post(queuePair, operation, requester, responder, index);
                }
                else
                {
                    before.accept(completion);
                }
            };
        }
        network.run(() -> false, WARM_UP_NS + MEASURED_NS);
        final double linkBytes = MEASURED_NS * BYTES_PER_NS * MTU / PACKET_BYTES;
        final long sum = Arrays.stream(bytes).sum();
        final long least = Arrays.stream(bytes).min().orElseThrow();
        return new Result(sum / linkBytes, least * (double)SENDERS / sum, bottleneck);
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
        final Result calm = run(1, operation, 0, markPackets);
        assertThat(calm.goodput).isBetween(0.8, 1.01);
        assertThat(calm.leastShare).isGreaterThanOrEqualTo(0.5);
        assertThat(calm.bottleneck.markedCount > 0).isEqualTo(markPackets < NO_MARKS);
        // Few lost packets find each window as large as it gets, many keep all of them small.
        for (final int lostPerThousand : new int[]{1, 10})
        {
            for (long seed = 1; seed <= 4; seed++)
            {
                final Result lossy = run(seed, operation, lostPerThousand, markPackets);
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
}
