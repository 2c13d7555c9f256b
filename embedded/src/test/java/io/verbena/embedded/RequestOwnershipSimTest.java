package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.test.Mutation;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The arrays of a request are its submitter's: a node has copied them before it takes the request, since from then on
 * the submitter may leave it, at its deadline, and use them for something else.
 */
public class RequestOwnershipSimTest
{
    private static final long TIMEOUT_NS = 1_000_000_000L;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long MAX_STEPS = 10_000_000;
    private static final byte LATER = (byte)0xEE;
    /** What happens when a node is about to take a request; says whether the request was withdrawn by it. */
    private static Predicate<NodeRequest> event;

    private SimCluster cluster;
    private KvTable table;
    private TableReference reference;

    private static final class Put extends OperationRequest
    {
        @Override
        protected void onDone()
        {
            // polled
        }
    }

    @BeforeEach
    void open()
    {
        event = (request) -> false;
        cluster = new SimCluster(1, new SimFabricOptions(), 1, 2, 24);
        table = cluster.createTable("t", 50);
        reference = new TableReference("t", cluster.tables().getFirst().tableId());
    }

    @AfterEach
    void close()
    {
        cluster.close();
    }

    /** Instead of the first instructions of {@code NodeRequest.start()}. */
    public static boolean onStart(final NodeRequest request)
    {
        return event.test(request);
    }

    private static Mutation atStart()
    {
        return Mutation.callingFirst(NodeRequest.class, "start", RequestOwnershipSimTest.class, "onStart");
    }

    private Put put(final byte[] key, final byte[] value)
    {
        final Put put = new Put();
        put.ask(RequestKind.PUT, reference, key, value, 0, cluster.world().clock().nanoTime() + TIMEOUT_NS);
        assertThat(cluster.computes().getLast().node().endpoint().submit(put)).isZero();
        return put;
    }

    private byte[] get(final byte[] key)
    {
        final var get = table.withTimeout(TIMEOUT).getAsync(key);
        cluster.world().runUntil(get::isDone, MAX_STEPS);
        return get.join().map(found -> found.value()).orElse(null);
    }

    private static void reuse(final OperationRequest request)
    {
        Arrays.fill(request.key(), LATER);
        Arrays.fill(request.value(), LATER);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 100, 4000, 16_384})
    void shouldStoreWhatTheArraysHeldBeforeTheNodeTookTheRequest(final int length)
    {
        final byte[] value = new byte[length];
        Arrays.fill(value, (byte)length);
        event = (request) ->
        {
            reuse((OperationRequest)request);
            return false;
        };
        final Put put;
        try (Mutation.Opened _ = atStart().open())
        {
            put = put(new byte[]{1, 2, 3}, value.clone());
            cluster.world().runUntil(() -> NodeRequest.DONE == put.state(), MAX_STEPS);
        }
        assertThat(put.answer()).isEqualTo(OperationAnswer.STORED);
        assertThat(get(new byte[]{1, 2, 3})).isEqualTo(value);
        assertThat(get(new byte[]{LATER, LATER, LATER})).isNull();
    }

    /** Withdrawn when the node has copied it already; more often than the node has slots. */
    @Test
    void shouldForgetWhatIsWithdrawnWhileTheNodeCopiesIt()
    {
        event = (request) ->
        {
            assertThat(request.withdraw()).isTrue();
            reuse((OperationRequest)request);
            return true;
        };
        try (Mutation.Opened _ = atStart().open())
        {
            for (int i = 0; i < 2_000; i++)
            {
                final Put put = put(new byte[]{7}, new byte[]{7});
                cluster.world().runUntil(() -> NodeRequest.ABANDONED == put.state(), MAX_STEPS);
            }
        }
        final Put put = put(new byte[]{1}, new byte[]{9});
        cluster.world().runUntil(() -> NodeRequest.DONE == put.state(), MAX_STEPS);
        assertThat(put.answer()).isEqualTo(OperationAnswer.STORED);
        assertThat(get(new byte[]{7})).isNull();
        assertThat(get(new byte[]{LATER})).isNull();
        assertThat(get(new byte[]{1})).containsExactly(9);
    }
}
