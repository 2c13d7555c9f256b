package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.rpc.RpcStatus;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class DeferredReplyTest
{
    private static final int CREDITS = 8;

    @TempDir
    Path directory;
    private SoftPair pair;
    private VirtualQp vqp;
    private final List<String> ended = new ArrayList<>();
    private final List<DeferredReply> owed = new ArrayList<>();
    private final List<Throwable> errors = new ArrayList<>();

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory, new RaasConfiguration().errorHandler(errors::add), new RaasConfiguration());
        vqp = pair.connect((on, cookie, status) -> {});
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            owed.add(reply.defer());
            return RpcReply.DEFERRED;
        };
    }

    @AfterEach
    void close()
    {
        pair.close();
    }

    private void onReply(
        final long callId, final RpcStatus status, final DirectBuffer payload, final int offset, final int length)
    {
        ended.add(status + " " + payload.getStringWithoutLengthUtf8(offset, length));
    }

    private void call(final long timeoutNs)
    {
        assertThat(pair.client.rpcClient().call(
            vqp, 9, new UnsafeBuffer(new byte[4]), 0, 4, timeoutNs, this::onReply)).isPositive();
    }

    private static boolean reply(final DeferredReply to, final String text)
    {
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return to.reply(new UnsafeBuffer(bytes), 0, bytes.length);
    }

    @Test
    void shouldAnswerInAnyOrderAndGiveEachCallItsOwnAnswer()
    {
        for (int i = 0; i < CREDITS; i++)
        {
            call(SoftPair.TIMEOUT_NS);
        }
        pair.runUntil(() -> owed.size() == CREDITS);
        assertThat(ended).isEmpty();
        Collections.reverse(owed);
        for (int i = 0; i < CREDITS; i++)
        {
            assertThat(reply(owed.get(i), "answer " + (CREDITS - 1 - i))).isTrue();
            assertThat(owed.get(i).isOver()).isTrue();
        }
        pair.runUntil(() -> ended.size() == CREDITS);
        assertThat(ended).startsWith("OK answer 7").endsWith("OK answer 0");
    }

    @Test
    void shouldOweNoMoreAnswersThanTheConnectionHasCredits()
    {
        for (int i = 0; i < 3 * CREDITS; i++)
        {
            call(SoftPair.TIMEOUT_NS);
        }
        pair.poll(1_000);
        assertThat(owed).hasSize(CREDITS);
        for (int answered = 0; answered < 3 * CREDITS; answered++)
        {
            final int next = answered;
            pair.runUntil(() -> owed.size() > next);
            assertThat(reply(owed.get(answered), "x".repeat(RpcClient.MAX_MESSAGE_BYTES))).isTrue();
        }
        pair.runUntil(() -> ended.size() == 3 * CREDITS);
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldSayWhenThereIsNoRoomForAReplyAndTakeItLater()
    {
        pair.close();
        final RaasConfiguration wide = new RaasConfiguration().rpcCredits(100).maxCalls(100);
        pair = new SoftPair(directory, wide, wide);
        vqp = pair.connect((on, cookie, status) -> {});
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            owed.add(reply.defer());
            return RpcReply.DEFERRED;
        };
        for (int i = 0; i < 100; i++)
        {
            call(SoftPair.TIMEOUT_NS);
        }
        pair.runUntil(() -> owed.size() == 100);
        int answered = 0;
        while (reply(owed.get(answered), "in time"))
        {
            answered++;
        }
        assertThat(answered).as("half of a server's reply slots: others have the rest").isEqualTo(32);
        while (answered < 100)
        {
            pair.poll(10);
            for (int round = 0; round < 32 && answered < 100; round++)
            {
                assertThat(reply(owed.get(answered++), "later")).isTrue();
            }
        }
        pair.runUntil(() -> ended.size() == 100);
        assertThat(ended).containsOnly("OK in time", "OK later");
    }

    @Test
    void shouldDropAnswersThatNobodyAwaits()
    {
        call(1);
        call(TimeUnit.SECONDS.toNanos(1));
        pair.runUntil(() -> owed.size() == 2 && !ended.isEmpty());
        assertThat(ended.getFirst()).startsWith("TIMED_OUT");
        assertThat(reply(owed.getFirst(), "too late")).isTrue();
        assertThat(pair.rpcServer.fence(new PeerIdentity(3, 1))).isEqualTo(1);
        assertThat(owed.get(1).isOver()).isTrue();
        assertThat(reply(owed.get(1), "to nobody")).isTrue();
        pair.runUntil(() -> ended.size() == 2);
        // Two-sided calls alone do not notice: who wants to know earlier READs something now and then.
        assertThat(ended.get(1)).startsWith("TIMED_OUT");
    }

    @Test
    void shouldRefuseLaterAndRefuseImpossibleReplies()
    {
        call(SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> owed.size() == 1);
        assertThatThrownBy(() -> reply(owed.getFirst(), "x".repeat(RpcClient.MAX_MESSAGE_BYTES + 1)))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("4097 bytes");
        assertThat(owed.getFirst().refuse("not today")).isTrue();
        pair.runUntil(() -> ended.size() == 1);
        assertThat(ended).containsExactly("REFUSED not today");
    }

    @Test
    void shouldSendOneAnswerOnlyWhenTheHandlerFailsAfterPuttingItOff()
    {
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            owed.add(reply.defer());
            throw new IllegalStateException("boom");
        };
        call(SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> ended.size() == 1);
        assertThat(ended.getFirst()).contains("REFUSED").contains("boom");
        assertThat(owed.getFirst().isOver()).isTrue();
        assertThat(reply(owed.getFirst(), "twice")).isTrue();
        pair.poll(100);
        assertThat(ended).hasSize(1);
        assertThat(errors).hasSize(1);
    }

    @Test
    void shouldRefuseAHandlerThatAnswersAlthoughItPutTheAnswerOff()
    {
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            owed.add(reply.defer());
            return 0;
        };
        call(SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> ended.size() == 1);
        assertThat(ended.getFirst()).contains("REFUSED").contains("put the answer off");
        assertThat(owed.getFirst().isOver()).isTrue();
    }
}
