package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.rpc.RpcReplyListener;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.PostStatus;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class RpcTest
{
    private static final int METHOD = 9;

    /** How a call ended, as its listener was told. */
    private record Ended(long callId, RpcStatus status, String text)
    {
    }

    @TempDir
    Path directory;
    private SoftPair pair;
    private VirtualQp vqp;
    private final List<Ended> ended = new ArrayList<>();
    private final List<Throwable> errors = new ArrayList<>();

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory, new RaasConfiguration().errorHandler(errors::add), new RaasConfiguration());
        vqp = pair.connect((on, cookie, status) -> {});
    }

    @AfterEach
    void close()
    {
        pair.close();
    }

    private void onReply(
        final long callId, final RpcStatus status, final DirectBuffer payload, final int offset, final int length)
    {
        ended.add(new Ended(callId, status, payload.getStringWithoutLengthUtf8(offset, length)));
    }

    private long call(final String text, final long timeoutNs)
    {
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return pair.client.rpcClient().call(
            vqp, METHOD, new UnsafeBuffer(bytes), 0, bytes.length, timeoutNs, this::onReply);
    }

    private long call(final String text)
    {
        return call(text, SoftPair.TIMEOUT_NS);
    }

    private static int neverReply(
        final PeerIdentity caller, final int method, final DirectBuffer request, final int offset,
        final int lengthBytes, final RpcReply reply)
    {
        reply.defer();
        return RpcReply.DEFERRED;
    }

    @Test
    void shouldReplyWithWhatTheHandlerWroteAndTellItWhoCalls()
    {
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            final String text = request.getStringWithoutLengthUtf8(offset, length);
            return reply.buffer().putStringWithoutLengthUtf8(
                reply.offset(), caller + " method " + method + ": " + text);
        };
        final long callId = call("hello");
        assertThat(callId).isPositive();
        assertThat(ended).isEmpty();
        pair.runUntil(() -> !ended.isEmpty());
        assertThat(ended).containsExactly(
            new Ended(callId, RpcStatus.OK, "node 3 incarnation 1 method 9: hello"));
        assertThat(pair.client.rpcClient().outstandingCalls()).isZero();
    }

    /** There may be a thousand: only a deadline, or the end of a virtual queue pair, is a reason to look at each. */
    @Test
    void shouldNotLookAtEveryCallInEachPoll()
    {
        pair.handler = (caller, method, request, offset, length, reply) -> 0;
        for (int i = 0; i < 200; i++)
        {
            final int before = ended.size();
            call("again");
            pair.runUntil(() -> ended.size() > before);
        }
        assertThat(pair.client.rpcClient().scansOfAllCalls()).isZero();
    }

    /** The queue pair of a node that is fenced by its key stays; what it calls is not done. */
    @Test
    void shouldAnswerWhoeverWasRefusedWithARefusal()
    {
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            throw new AssertionError("called by " + caller);
        };
        pair.rpcServer.refuse(new PeerIdentity(3, 2));
        pair.poll(100);
        assertThat(pair.rpcServer.connections()).isEqualTo(1);
        final String why = "node 3 incarnation 1 was fenced here: register anew";
        for (int i = 1; i <= 100; i++)
        {
            final int calls = i;
            final long callId = call("hello");
            pair.runUntil(() -> ended.size() == calls);
            assertThat(ended.getLast()).isEqualTo(new Ended(callId, RpcStatus.REFUSED, why));
        }
        assertThat(pair.rpcServer.connections()).isEqualTo(1);
        assertThat(errors).isEmpty();
        pair.client.identity(new PeerIdentity(3, 2));
        vqp = pair.connect((on, cookie, status) -> {});
        assertThat(vqp.failure()).contains("node 3 incarnation 2 was fenced here: register anew");
        pair.client.identity(new PeerIdentity(3, 3));
        vqp = pair.connect((on, cookie, status) -> {});
        assertThat(vqp.failure()).isEmpty();
    }

    @Test
    void shouldLookAtCallsWhenTheirVirtualQueuePairIsClosed()
    {
        pair.handler = RpcTest::neverReply;
        final long callId = call("never answered");
        vqp.close();
        pair.runUntil(() -> !ended.isEmpty());
        assertThat(ended.getFirst().callId()).isEqualTo(callId);
        assertThat(ended.getFirst().status()).isEqualTo(RpcStatus.PEER_FAILED);
        assertThat(pair.client.rpcClient().scansOfAllCalls()).isEqualTo(1);
    }

    @Test
    void shouldEndTheEarliestDeadlineFirstWhateverTheOrderOfCalls()
    {
        pair.handler = RpcTest::neverReply;
        final long late = call("late", SoftPair.TIMEOUT_NS);
        final long early = call("early", 1_000_000);
        pair.runUntil(() -> !ended.isEmpty());
        assertThat(ended).extracting(Ended::callId).containsExactly(early);
        assertThat(ended.getFirst().status()).isEqualTo(RpcStatus.TIMED_OUT);
        assertThat(pair.client.rpcClient().outstandingCalls()).as("call " + late).isEqualTo(1);
    }

    @Test
    void shouldCarryMessagesOfEveryLengthUpToTheLimit()
    {
        final String longest = "x".repeat(RpcClient.MAX_MESSAGE_BYTES);
        call("");
        call(longest);
        pair.runUntil(() -> ended.size() == 2);
        assertThat(ended).extracting(Ended::text).containsExactly("", longest);
        assertThatThrownBy(() -> call(longest + "x"))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("4097 bytes");
        assertThatThrownBy(() -> pair.client.rpcClient().call(
            vqp, 65_536, new UnsafeBuffer(new byte[0]), 0, 0, 1, this::onReply))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("method 65536");
    }

    @Test
    void shouldKeepOrderAndCreditsWhenManyCallsAreMadeAtOnce()
    {
        int made = 0;
        while (call("call " + made) > 0)
        {
            made++;
        }
        assertThat(made).isEqualTo(64);
        assertThat(call("one too many")).isEqualTo(PostStatus.QUEUE_FULL);
        pair.client.poll();
        pair.client.poll();
        assertThat(pair.client.counters().sends).as("no more than the credits").isEqualTo(8);
        pair.runUntil(() -> ended.size() == 64);
        for (int i = 0; i < made; i++)
        {
            assertThat(ended.get(i).text).isEqualTo("call " + i);
        }
        for (int i = 0; i < 1_000; i++)
        {
            call("again " + i);
            pair.poll(1);
        }
        pair.runUntil(() -> ended.size() == 1_064);
        assertThat(ended).allMatch(call -> call.status == RpcStatus.OK);
    }

    @Test
    void shouldTellTheReasonWhenTheHandlerRefuses()
    {
        pair.handler = (caller, method, request, offset, length, reply) -> reply.refuse("method " + method + " is off");
        call("x");
        pair.runUntil(() -> ended.size() == 1);
        assertThat(ended.getFirst().status).isEqualTo(RpcStatus.REFUSED);
        assertThat(ended.getFirst().text).isEqualTo("method 9 is off");
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldRefuseTheCallAndReportTheErrorWhenTheHandlerThrows()
    {
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            throw new IllegalStateException("broken gear");
        };
        call("x");
        pair.runUntil(() -> ended.size() == 1);
        assertThat(ended.getFirst().status).isEqualTo(RpcStatus.REFUSED);
        assertThat(ended.getFirst().text).contains("broken gear");
        assertThat(errors).singleElement().satisfies(error -> assertThat(error).hasMessage("broken gear"));

        pair.handler = (caller, method, request, offset, length, reply) -> reply.capacity() + 1;
        call("y");
        pair.runUntil(() -> ended.size() == 2);
        assertThat(ended.getLast().text).contains("reply of 4097 bytes");
    }

    @Test
    void shouldTimeOutWhenNobodyAnswersAndSwallowTheLateReply()
    {
        final long callId = call("slow", 1_000_000);
        while (ended.isEmpty())
        {
            pair.client.poll();
        }
        assertThat(ended).extracting(Ended::callId).containsExactly(callId);
        assertThat(ended.getFirst().status).isEqualTo(RpcStatus.TIMED_OUT);
        assertThat(ended.getFirst().text).contains("node 1").contains("no reply in time");

        pair.runUntil(() -> pair.client.rpcClient().strayReplies() == 1);
        call("fast");
        pair.runUntil(() -> ended.size() == 2);
        assertThat(ended.getLast()).extracting(Ended::status, Ended::text).containsExactly(RpcStatus.OK, "fast");
    }

    @Test
    void shouldTimeOutUnsentWhenAllCreditsAreTaken()
    {
        for (int i = 0; i < 8; i++)
        {
            call("holds a credit " + i);
        }
        call("waits", 1_000_000);
        while (ended.isEmpty())
        {
            pair.client.poll();
        }
        assertThat(ended.getFirst().text).contains("could not be sent in time");
        pair.runUntil(() -> ended.size() == 9);
        assertThat(pair.client.counters().sends).isEqualTo(8);
    }

    @Test
    void shouldFailEveryCallOnceWhenThePeerIsGone()
    {
        for (int i = 0; i < 10; i++)
        {
            call("call " + i);
        }
        pair.client.poll();
        pair.rpcServer.close();
        vqp.begin();
        vqp.read(pair.local, 0, 8, pair.remote(), 0);
        vqp.complete(0);
        pair.runUntil(() -> ended.size() == 10);
        pair.poll(10);
        assertThat(ended).hasSize(10).allSatisfy(call ->
        {
            assertThat(call.status).isEqualTo(RpcStatus.PEER_FAILED);
            assertThat(call.text).contains("node 1 incarnation 1").contains("retry counter exceeded");
        });
        assertThat(call("x")).isEqualTo(PostStatus.INVALID_STATE);
    }

    @Test
    void shouldSendOnceConnectedWhenCalledWhileConnecting()
    {
        final PeerAddress other = new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 2, 1);
        vqp = pair.client.connect(other, (on, cookie, status) -> {}, SoftPair.TIMEOUT_NS);
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.CONNECTING);
        call("early");
        pair.runUntil(() -> ended.size() == 1);
        assertThat(ended.getFirst().text).isEqualTo("early");

        final PeerAddress nobody = new PeerAddress(pair.serverDevice.address(), 99, 2, 1);
        vqp = pair.client.connect(nobody, (on, cookie, status) -> {}, SoftPair.TIMEOUT_NS);
        call("never");
        pair.runUntil(() -> ended.size() == 2);
        assertThat(ended.getLast().status).isEqualTo(RpcStatus.PEER_FAILED);
        assertThat(ended.getLast().text).contains("nobody listens there");
    }

    @Test
    void shouldFailTheCallWhenItsVirtualQpIsClosed()
    {
        call("x");
        vqp.close();
        pair.runUntil(() -> ended.size() == 1);
        assertThat(ended.getFirst().status).isEqualTo(RpcStatus.PEER_FAILED);
        assertThat(ended.getFirst().text).contains("closed during the call");
    }

    @Test
    void shouldHaveRoomForCallsAgainWhenAQueuePairWasClosedUnderAnAbandonedOne()
    {
        for (int i = 0; i < 8; i++)
        {
            call("never answered " + i);
        }
        pair.client.poll();
        vqp.close();
        pair.client.poll();
        assertThat(ended).hasSize(8);
        pair.client.identity(new PeerIdentity(3, 2));
        vqp = pair.connect((on, cookie, status) -> {});
        int made = 0;
        while (call("again") > 0)
        {
            made++;
        }
        assertThat(made).isEqualTo(64);
        pair.runUntil(() -> ended.size() == 8 + 64);
        assertThat(ended.subList(8, 72)).allMatch(call -> call.status == RpcStatus.OK);
    }

    /** As meta servers that lead one after the other, each of which stands still one day. */
    @Test
    void shouldHaveRoomForCallsAgainWhenPeersNeverReply()
    {
        pair.close();
        pair = new SoftPair(directory, new RaasConfiguration(), new RaasConfiguration().maxCalls(4));
        pair.handler = RpcTest::neverReply;
        for (int peer = 2; peer < 12; peer++)
        {
            vqp = pair.client.connect(
                new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, peer), (on, cookie, status) -> {},
                SoftPair.TIMEOUT_NS);
            pair.runUntil(vqp::isReady);
            assertThat(call("never answered")).as("peer %s", peer).isPositive();
            pair.poll(3);
            vqp.close();
            pair.poll(3);
            assertThat(ended).as("peer %s", peer).hasSize(peer - 1);
        }
        assertThat(pair.client.rpcClient().limit().used()).isZero();
        assertThat(pair.client.usage().queuePairs()).as("none is closed at a peer that stands still").isEqualTo(10);
    }

    @Test
    void shouldCallAgainFromWithinTheListener()
    {
        final int[] left = {100};
        final RpcReplyListener[] again = new RpcReplyListener[1];
        again[0] = (callId, status, payload, offset, length) ->
        {
            assertThat(status).isEqualTo(RpcStatus.OK);
            if (--left[0] > 0)
            {
                pair.client.rpcClient().call(vqp, METHOD, payload, offset, length, SoftPair.TIMEOUT_NS, again[0]);
            }
        };
        pair.client.rpcClient().call(
            vqp, METHOD, new UnsafeBuffer(new byte[7]), 0, 7, SoftPair.TIMEOUT_NS, again[0]);
        pair.runUntil(() -> left[0] == 0);
    }

    @Test
    void shouldAnswerNothingToANodeFencedByItsOwnRequest()
    {
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            assertThat(pair.rpcServer.fence(caller)).isEqualTo(1);
            return 0;
        };
        call("fence me", 50_000_000);
        // On a busy machine the call may time out before the server has looked.
        pair.runUntil(() -> ended.size() == 1 && pair.rpcServer.connections() == 0);
        assertThat(ended.getFirst().status).isIn(RpcStatus.TIMED_OUT, RpcStatus.PEER_FAILED);
        assertThat(errors).isEmpty();
    }
}
