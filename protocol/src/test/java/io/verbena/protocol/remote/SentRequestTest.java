package io.verbena.protocol.remote;

import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.test.Mutation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** The arrays of a request are its submitter's again as soon as it was sent, or withdrawn. */
public class SentRequestTest
{
    private static final byte LATER = (byte)0xEE;
    /** What happens when a request of the test is about to be taken; says whether it was withdrawn by it. */
    private static Predicate<NodeRequest> event;

    @TempDir
    Path directory;
    private RemoteRig rig;

    @BeforeEach
    void open()
    {
        rig = new RemoteRig(directory);
        rig.connected();
    }

    @AfterEach
    void close()
    {
        rig.close();
        assertThat(rig.errors).isEmpty();
    }

    /** Instead of the first instructions of {@code NodeRequest.start()}; the node's requests are not the test's. */
    public static boolean onStart(final NodeRequest request)
    {
        return request instanceof RemoteRig.Operation && event.test(request);
    }

    private static Mutation atStart()
    {
        return Mutation.callingFirst(NodeRequest.class, "start", SentRequestTest.class, "onStart");
    }

    private static void reuse(final OperationRequest request)
    {
        Arrays.fill(request.key(), LATER);
        Arrays.fill(request.value(), LATER);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, 4000, 16_384})
    void shouldSendWhatTheArraysHeldBeforeItTookTheRequest(final int length)
    {
        final byte[] value = new byte[length];
        Arrays.fill(value, (byte)7);
        event = (request) ->
        {
            reuse((OperationRequest)request);
            return false;
        };
        final RemoteRig.Operation put;
        try (Mutation.Opened _ = atStart().open())
        {
            put = rig.submit(RequestKind.PUT, new byte[]{1}, value.clone());
            rig.runUntil(() -> put.doneCount > 0);
        }
        assertThat(put.answer()).isEqualTo(OperationAnswer.STORED);
        assertThat(rig.run(RequestKind.GET, new byte[]{1}, null).foundValue()).isEqualTo(value);
        assertThat(rig.run(RequestKind.GET, new byte[]{LATER}, null).answer()).isEqualTo(OperationAnswer.NOT_FOUND);
    }

    /** Withdrawn when its message is written already; more often than there are calls. */
    @Test
    void shouldSendNothingOfWhatIsWithdrawn()
    {
        final long served = rig.server.served();
        event = (request) ->
        {
            assertThat(request.withdraw()).isTrue();
            reuse((OperationRequest)request);
            return true;
        };
        try (Mutation.Opened _ = atStart().open())
        {
            for (int i = 0; i < 4 * RequestServer.CREDITS; i++)
            {
                final RemoteRig.Operation put = rig.submit(RequestKind.PUT, new byte[]{1}, new byte[]{2});
                rig.runUntil(() -> NodeRequest.ABANDONED == put.state());
            }
        }
        assertThat(rig.endpoint.isBusy()).isFalse();
        assertThat(rig.run(RequestKind.PUT, new byte[]{3}, new byte[]{4}).answer()).isEqualTo(OperationAnswer.STORED);
        assertThat(rig.server.served()).isEqualTo(served + 1);
        assertThat(rig.node.records).hasSize(1);
    }
}
