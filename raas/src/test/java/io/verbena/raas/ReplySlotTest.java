package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** A peer that sends requests and posts no receive for the replies takes no reply slot that others need. */
class ReplySlotTest
{
    private static final int REQUESTS = 96;
    private static final PeerIdentity HOSTILE = new PeerIdentity(77, 1);

    @TempDir
    Path directory;

    @Test
    void shouldAnswerOthersWhileAPeerTakesNoReplies()
    {
        answerOthers(new RaasConfiguration().rpcCredits(100).maxCalls(100), 32);
    }

    @Test
    void shouldHaveAsManyReplySlotsAsConfigured()
    {
        answerOthers(new RaasConfiguration().rpcCredits(100).maxCalls(100).replySlots(20), 10);
    }

    private void answerOthers(final RaasConfiguration wide, final int half)
    {
        try (SoftPair pair = new SoftPair(directory, wide, wide, SoftPair.TIMEOUT_NS);
            ProtectionDomain domain = pair.clientDevice.allocateProtectionDomain();
            CompletionQueue completions = pair.clientDevice.createCompletionQueue(2 * REQUESTS);
            MemoryRegion memory = domain.allocateRegistered(1 << 12, AccessFlags.LOCAL_WRITE);
            QueuePair hostile = domain.createQueuePair(
                completions, completions, new QueuePairCapabilities(REQUESTS, 1, 0, 1)))
        {
            final VirtualQp good = pair.connect((on, cookie, status) -> {});
            final ConnectionAttempt attempt = pair.clientDevice.connect(
                hostile, pair.serverDevice.address(), SoftPair.PORT, 0,
                ConnectDataDescriptor.encodeRequest(HOSTILE, 100), SoftPair.TIMEOUT_NS);
            pair.runUntil(() -> attempt.poll() != ConnectionAttempt.State.PENDING);
            final int[] handled = new int[1];
            pair.handler = (caller, method, request, offset, length, reply) ->
            {
                handled[0] += HOSTILE.equals(caller) ? 1 : 0;
                return 0;
            };
            MessageHeaderDescriptor.encode(
                new UnsafeBuffer(memory.segment().address(), 1 << 12), 0, 1, 0, 1);
            for (int i = 0; i < REQUESTS; i++)
            {
                hostile.begin();
                hostile.sendWithImmediate(i, SendFlags.SIGNALED, memory.address(),
                    MessageHeaderDescriptor.HEADER_LENGTH_BYTES, memory.localKey(),
                    MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REQUEST, 1, i));
                assertThat(hostile.complete()).isZero();
            }
            pair.poll(1_000);
            assertThat(handled[0]).as("half of the reply slots").isEqualTo(half);

            final boolean[] isAnswered = new boolean[1];
            pair.client.rpcClient().call(good, 1, new UnsafeBuffer(new byte[8]), 0, 8, SoftPair.TIMEOUT_NS,
                (callId, status, payload, offset, length) -> isAnswered[0] = status == RpcStatus.OK);
            pair.poll(1_000);
            assertThat(isAnswered[0]).isTrue();
            assertThat(pair.rpcServer.isConnected(HOSTILE)).isTrue();
        }
    }
}
