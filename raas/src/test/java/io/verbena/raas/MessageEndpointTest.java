package io.verbena.raas;

import com.sun.management.ThreadMXBean;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.message.MessageCredits;
import io.verbena.raas.message.MessageOptions;
import io.verbena.raas.message.MessageState;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.raas.usage.MessageUsage;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Messages of virtual queue pairs over the soft fabric, where a message that meets no receive fails at once. */
class MessageEndpointTest
{
    private static final int CREDITS = 4;
    private static final int RECEIVES = 2 * (CREDITS + MessageCredits.CONTROL_RECEIVES);
    private static final PeerIdentity GIVEN = new PeerIdentity(9, 1);

    @TempDir
    Path directory;
    private SoftPair pair;
    private MemoryRegion serverLocal;
    private final List<MessageRecorder> accepted = new ArrayList<>();
    private final MessageRecorder near = new MessageRecorder();
    private MemoryRegion granted;
    private boolean isServing = true;

    private void open(final RaasConfiguration forServer, final RaasConfiguration forClient)
    {
        pair = new SoftPair(directory, forServer, forClient);
        serverLocal = pair.server.protectionDomain().allocateRegistered(1 << 14, AccessFlags.LOCAL_WRITE);
        MessageEndpoint.accept(pair.rpcServer, (identity, service, mine) ->
        {
            if (!isServing || service == 77)
            {
                return null;
            }
            mine.credits(CREDITS);
            if (service == 1)
            {
                mine.grants(pair.served, 64, 4096);
            }
            final MessageRecorder recorder = new MessageRecorder();
            accepted.add(recorder);
            return recorder;
        });
    }

    private void open(final boolean isSharing)
    {
        open(configuration(isSharing), configuration(isSharing));
    }

    private static RaasConfiguration configuration(final boolean isSharing)
    {
        return new RaasConfiguration().messageReceives(RECEIVES).sharesReceives(isSharing)
            .probeIntervalNs(100 * SoftPair.TIMEOUT_NS);
    }

    @AfterEach
    void close()
    {
        serverLocal.close();
        if (granted != null)
        {
            granted.close();
        }
        pair.close();
    }

    private static MessageOptions options()
    {
        return new MessageOptions().credits(CREDITS);
    }

    private MessageEndpoint begin(final MessageOptions options, final MessageRecorder recorder)
    {
        return MessageEndpoint.open(
            pair.client, pair.client.defaultTenant(), pair.peer(), options, recorder, SoftPair.TIMEOUT_NS);
    }

    private MessageEndpoint connect(final MessageOptions options, final MessageRecorder recorder)
    {
        final MessageEndpoint endpoint = begin(options, recorder);
        pair.runUntil(() -> endpoint.state() != MessageState.OPENING);
        assertThat(endpoint.failure()).isEmpty();
        pair.runUntil(() -> accepted.getLast().endpoint != null);
        return endpoint;
    }

    /** Sends so many values, from either side, as fast as it may. */
    private void send(final MessageEndpoint from, final MemoryRegion local, final int first, final int count)
    {
        for (int i = first; i < first + count; i++)
        {
            final int value = i;
            local.segment().set(ValueLayout.JAVA_LONG, 8L * (value % 512), value);
            pair.runUntil(() -> from.send(local, 8L * (value % 512), Long.BYTES, value) == PostStatus.OK);
        }
    }

    private static List<Long> upTo(final int count)
    {
        return LongStream.range(0, count).boxed().toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldDeliverInOrderInBothDirectionsWithOneSendEachAndOneForHalfOfTheCredits(final boolean isSharing)
    {
        open(isSharing);
        final MessageEndpoint end = connect(options(), near);
        final MessageRecorder far = accepted.getLast();
        final VerbCounters client = pair.client.counters();
        final VerbCounters server = pair.server.counters();
        send(end, pair.local, 0, 100);
        pair.runUntil(() -> far.values.size() == 100 && near.sent.size() == 100);
        send(far.endpoint, serverLocal, 0, 100);
        pair.runUntil(() -> near.values.size() == 100 && far.sent.size() == 100 && end.space() == CREDITS &&
            far.endpoint.space() == CREDITS);
        assertThat(far.values).isEqualTo(upTo(100));
        assertThat(near.values).isEqualTo(upTo(100));
        assertThat(near.sent).isEqualTo(TenantFixture.upTo(100));
        assertThat(far.sent).isEqualTo(TenantFixture.upTo(100));
        assertThat(near.statuses).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(far.statuses).containsOnly(WorkCompletionStatus.SUCCESS);
        // Each of 100 messages, and 50 times half of 4 credits given back.
        assertThat(pair.client.counters().sends - client.sends).isEqualTo(150);
        assertThat(pair.server.counters().sends - server.sends).isEqualTo(150);
        assertThat(pair.client.counters().verbs() - client.verbs()).isEqualTo(150);
        assertThat(pair.server.counters().verbs() - server.verbs()).isEqualTo(150);
        assertThat(pair.client.usage().messages()).isEqualTo(new MessageUsage(1, 100, 100));
        assertThat(pair.server.usage().droppedMessages()).isZero();
        end.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldWriteToWhatWasGrantedAndSayOfWhichKindWithOneRequest(final boolean isSharing)
    {
        open(isSharing);
        granted = pair.client.protectionDomain().allocateRegistered(
            4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        final MessageEndpoint end = connect(options().service(1).grants(granted, 1024, 2048), near);
        final MessageRecorder far = accepted.getLast();
        assertThat(end.remoteLengthBytes()).isEqualTo(4096);
        assertThat(far.endpoint.remoteLengthBytes()).isEqualTo(2048);
        final VerbCounters before = pair.client.counters();
        pair.localWord(0, 4711);
        assertThat(end.write(pair.local, 0, 8, 4088, 7, 1)).isEqualTo(PostStatus.OK);
        assertThat(end.write(pair.local, 0, 0, 0, 0, 2)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> far.writes.size() == 2 && near.sent.size() == 2);
        assertThat(far.writes).containsExactly("7:8", "0:0");
        assertThat(pair.servedWord(64 + 4088)).isEqualTo(4711);
        assertThat(pair.client.counters().writes - before.writes).isEqualTo(2);
        assertThat(pair.client.counters().verbs() - before.verbs()).isEqualTo(2);
        assertThat(pair.client.counters().doorbells - before.doorbells).isEqualTo(2);
        serverLocal.segment().set(ValueLayout.JAVA_LONG, 0, 815);
        assertThat(far.endpoint.write(serverLocal, 0, 8, 2040, 3, 1)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> near.writes.size() == 1);
        assertThat(near.writes).containsExactly("3:8");
        assertThat(granted.segment().get(ValueLayout.JAVA_LONG, 1024 + 2040)).isEqualTo(815);
        assertThatThrownBy(() -> end.write(pair.local, 0, 8, 4089, 0, 1)).isInstanceOf(RaasMisuseException.class)
            .hasMessageContaining("8 bytes at offset 4089").hasMessageContaining("granted 4096");
        assertThatThrownBy(() -> end.write(pair.local, 0, 8, -1, 0, 1)).isInstanceOf(RaasMisuseException.class);
        assertThatThrownBy(() -> end.write(pair.local, 0, 8, 0, 8, 1)).isInstanceOf(RaasMisuseException.class)
            .hasMessageContaining("kind 8");
        assertThatThrownBy(() -> far.endpoint.write(serverLocal, 0, 8, 2041, 0, 1))
            .isInstanceOf(RaasMisuseException.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLetOneThatKeepsItsMessagesWaitAndNobodyElse(final boolean isSharing)
    {
        open(isSharing);
        final MessageEndpoint slow = connect(options(), near);
        final MessageRecorder slowFar = accepted.getLast();
        slowFar.isKeeping = true;
        final MessageRecorder quickNear = new MessageRecorder();
        final MessageEndpoint quick = connect(options(), quickNear);
        final MessageRecorder quickFar = accepted.getLast();
        for (int i = 0; i < CREDITS; i++)
        {
            assertThat(slow.space()).isEqualTo(CREDITS - i);
            assertThat(slow.send(pair.local, 0, 8, i)).isEqualTo(PostStatus.OK);
        }
        assertThat(slow.send(pair.local, 0, 8, 9)).isEqualTo(PostStatus.QUEUE_FULL);
        send(quick, pair.local, 0, 200);
        pair.runUntil(() -> quickFar.values.size() == 200);
        send(quickFar.endpoint, serverLocal, 0, 200);
        pair.runUntil(() -> quickNear.values.size() == 200);
        assertThat(slow.send(pair.local, 0, 8, 9)).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(slowFar.endpoint.kept()).isEqualTo(CREDITS);
        call();
        slowFar.endpoint.release(slowFar.kept.get(1));
        pair.poll(20);
        assertThat(slow.space()).as("half of the credits come back at once").isZero();
        slowFar.endpoint.release(slowFar.kept.get(3));
        pair.runUntil(() -> slow.space() == 2);
        assertThatThrownBy(() -> slowFar.endpoint.release(slowFar.kept.get(1)))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("not kept");
    }

    private void call()
    {
        final VirtualQp vqp = pair.connect(BatchListener.CALLS_ONLY);
        final List<RpcStatus> ended = new ArrayList<>();
        pair.client.rpcClient().call(vqp, 1, new UnsafeBuffer(new byte[8]), 0, 8, SoftPair.TIMEOUT_NS,
            (callId, status, payload, offset, length) -> ended.add(status));
        pair.runUntil(() -> !ended.isEmpty());
        assertThat(ended).containsExactly(RpcStatus.OK);
        vqp.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldOpenAndCloseFromEitherSideAgainAndAgain(final boolean isSharing)
    {
        open(isSharing);
        for (int round = 0; round < 60; round++)
        {
            final MessageRecorder recorder = new MessageRecorder();
            final MessageEndpoint end = connect(options(), recorder);
            final MessageRecorder far = accepted.getLast();
            far.isKeeping = true;
            send(end, pair.local, 0, CREDITS);
            if (round % 2 == 0)
            {
                end.close();
                pair.runUntil(() -> far.ended.size() == 1);
                assertThat(far.ended).containsExactly("the other end has closed");
                assertThat(far.values).isEqualTo(upTo(CREDITS));
                assertThat(recorder.ended).isEmpty();
                assertThat(far.endpoint.send(serverLocal, 0, 8, 1)).isEqualTo(PostStatus.INVALID_STATE);
                assertThat(pair.client.usage().messages().endpoints()).isBetween(0, 1);
                far.endpoint.close();
            }
            else
            {
                far.endpoint.close();
                pair.runUntil(() -> recorder.ended.size() == 1);
                assertThat(end.state()).isEqualTo(MessageState.ENDED);
                assertThat(end.send(pair.local, 0, 8, 1)).isEqualTo(PostStatus.INVALID_STATE);
                end.close();
            }
            pair.runUntil(() -> pair.client.usage().messages().endpoints() == 0 &&
                pair.server.usage().messages().endpoints() == 0);
        }
        assertThat(pair.client.usage().virtualQps()).isZero();
        // Half of the receives, twice: both were given back each time.
        connect(options(), new MessageRecorder());
        connect(options(), new MessageRecorder());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldFreeWhatWasKeptWhenTheOtherEndClosedOnlyWhenItIsReleased(final boolean isSharing)
    {
        open(isSharing);
        final MessageEndpoint end = connect(options(), near);
        final MessageRecorder far = accepted.getLast();
        far.isKeeping = true;
        send(end, pair.local, 0, 2);
        pair.runUntil(() -> far.values.size() == 2);
        end.close();
        pair.runUntil(() -> far.ended.size() == 1 && pair.client.usage().messages().endpoints() == 0);
        pair.poll(10);
        assertThat(pair.server.usage().messages().endpoints()).isEqualTo(1);
        assertThat(far.endpoint.kept()).isEqualTo(2);
        far.kept.forEach(far.endpoint::release);
        pair.runUntil(() -> pair.server.usage().messages().endpoints() == 0);
    }

    @Test
    void shouldRefuseWithOneLineThatNamesTheReason()
    {
        open(configuration(false), configuration(false).messageReceives(4 * RECEIVES));
        connect(options(), near);
        connect(options(), new MessageRecorder());
        expectRefused(options().service(77), "nobody serves messages of service 77 here");
        expectRefused(options(), "raise RaasConfiguration.messageReceives");
        expectRefused(options().credits(8 * RECEIVES), "no room for " + 8 * RECEIVES + " credits");
        expectRefused(options().identity(GIVEN), "this connection does not act for it");
        assertThatThrownBy(() -> begin(options().credits(0), near)).isInstanceOf(RaasMisuseException.class)
            .hasMessageContaining("MessageOptions.credits is 0");
        assertThatThrownBy(() -> begin(options().grants(pair.local, 0, 8), near))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("REMOTE_WRITE");
        assertThat(pair.client.usage().virtualQps()).isEqualTo(2);
        call();
    }

    @Test
    void shouldRefuseWhereNobodyAcceptsMessages()
    {
        open(false);
        pair.rpcServer.close();
        pair.serve();
        expectRefused(options(), "no messages are accepted here");
        call();
    }

    private void expectRefused(final MessageOptions options, final String reason)
    {
        final MessageRecorder recorder = new MessageRecorder();
        final int before = pair.client.usage().messages().endpoints();
        final MessageEndpoint end = begin(options, recorder);
        pair.runUntil(() -> recorder.ended.size() == 1);
        assertThat(recorder.ended.getFirst()).contains(reason).doesNotContain("\n");
        assertThat(end.failure()).isEqualTo(recorder.ended.getFirst());
        assertThat(pair.client.usage().messages().endpoints()).isEqualTo(before);
        end.close();
    }

    @Test
    void shouldGrantNoMemoryOverAConnectionThatMayNotWrite()
    {
        open(false);
        pair.admission = Admission.callsOnly();
        expectRefused(options().service(1), "the connection was admitted without REMOTE_WRITE");
        connect(options(), near);
    }

    @Test
    void shouldRefuseLocalMemoryThatIsNotTheTenants()
    {
        open(false);
        final MessageEndpoint end = connect(options(), near);
        for (final MemoryRegion region : List.of(pair.served, serverLocal))
        {
            assertThatThrownBy(() -> end.send(region, 0, 8, 1)).isInstanceOf(RaasMisuseException.class)
                .hasMessageContaining("not made from RaasContext.protectionDomain()");
        }
        assertThatThrownBy(() -> end.send(pair.local, SoftPair.REGION_BYTES - 7, 8, 1))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("outside of the local region");
        assertThatThrownBy(() -> end.send(pair.local, 0, MessageEndpoint.MAX_MESSAGE_BYTES + 1, 1))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("0 to 4096");
        assertThatThrownBy(() -> end.send(pair.local, 0, -1, 1)).isInstanceOf(RaasMisuseException.class);
        assertThat(end.send(pair.local, 0, MessageEndpoint.MAX_MESSAGE_BYTES, 1)).isEqualTo(PostStatus.OK);
        assertThat(end.send(pair.local, 0, 0, 2)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> near.sent.size() == 2);
    }

    @Test
    void shouldEndTheRefusedOfTwoIdentitiesOverOneQueuePair()
    {
        open(false);
        final List<DeferredReply> owed = new ArrayList<>();
        pair.handler = (caller, method, message, offset, length, reply) ->
        {
            owed.add(reply.defer());
            return RpcReply.DEFERRED;
        };
        final VirtualQp vqp = pair.connect(BatchListener.CALLS_ONLY);
        pair.client.rpcClient().call(vqp, 1, new UnsafeBuffer(new byte[8]), 0, 8, SoftPair.TIMEOUT_NS,
            (callId, status, payload, offset, length) -> {});
        pair.runUntil(() -> !owed.isEmpty());
        owed.getFirst().give(GIVEN);
        owed.getFirst().reply(new UnsafeBuffer(new byte[8]), 0, 0);
        final MessageEndpoint own = connect(options(), near);
        final MessageRecorder ownFar = accepted.getLast();
        final MessageRecorder given = new MessageRecorder();
        final MessageEndpoint others = connect(options().identity(GIVEN), given);
        final MessageRecorder othersFar = accepted.getLast();
        assertThat(othersFar.endpoint.identity()).isEqualTo(GIVEN);
        send(others, pair.local, 0, 2);
        pair.runUntil(() -> othersFar.values.size() == 2);
        // Under way when the identity is refused: never delivered.
        assertThat(others.send(pair.local, 0, 8, 2)).isEqualTo(PostStatus.OK);
        pair.rpcServer.refuse(GIVEN);
        pair.runUntil(() -> given.ended.size() == 1 && othersFar.ended.size() == 1);
        assertThat(othersFar.values).hasSize(2);
        assertThat(othersFar.ended.getFirst()).contains("refused");
        assertThat(pair.server.usage().droppedMessages()).isEqualTo(1);
        send(own, pair.local, 0, 50);
        pair.runUntil(() -> ownFar.values.size() == 50);
        assertThat(pair.client.usage().queuePairs()).isEqualTo(1);
        others.close();
        othersFar.endpoint.close();
        expectRefused(options().identity(GIVEN), "does not act for it");
    }

    @Test
    void shouldCloseWhatWasNotOpenedInTimeWhenTheAnswerComesLate()
    {
        open(false);
        final VirtualQp vqp = pair.connect(BatchListener.CALLS_ONLY);
        final MessageEndpoint end = MessageEndpoint.open(
            pair.client, pair.client.defaultTenant(), pair.peer(), options(), near, 20 * SoftPair.TIMEOUT_NS);
        final long nowNs = pair.client.clock().nanoTime();
        pair.client.poll(nowNs);
        pair.client.poll(nowNs + 21 * SoftPair.TIMEOUT_NS);
        assertThat(near.ended.getFirst()).contains("messages were not opened in time");
        assertThat(pair.client.usage().messages().endpoints()).isEqualTo(1);
        pair.runUntil(() -> pair.client.usage().messages().endpoints() == 0 && !accepted.isEmpty());
        pair.runUntil(() -> pair.server.usage().messages().endpoints() == 0);
        assertThat(end.state()).isEqualTo(MessageState.ENDED);
        assertThat(near.ended).hasSize(1);
        assertThat(vqp.isReady()).isTrue();
    }

    @Test
    void shouldPostNothingOnceTheGrantIsOver()
    {
        open(false);
        final MessageEndpoint end = connect(options(), near);
        final long nowNs = pair.client.clock().nanoTime();
        end.grantedUntil(nowNs + 10);
        pair.client.poll(nowNs + 9);
        assertThat(end.send(pair.local, 0, 8, 1)).isEqualTo(PostStatus.OK);
        pair.client.poll(nowNs + 10);
        assertThat(end.send(pair.local, 0, 8, 2)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(end.state()).isEqualTo(MessageState.OPEN);
    }

    @Test
    void shouldHearOfAnErrorOfAListenerAndGoOn()
    {
        final List<Throwable> errors = new ArrayList<>();
        open(configuration(false).errorHandler(errors::add), configuration(false));
        MessageEndpoint.accept(pair.rpcServer, (identity, service, mine) -> new MessageEndpoint.Listener()
        {
            @Override
            public boolean onMessage(
                final MessageEndpoint endpoint, final int message, final DirectBuffer buffer, final int offset,
                final int lengthBytes)
            {
                throw new IllegalStateException("mine");
            }
        });
        final MessageEndpoint end = begin(options(), near);
        pair.runUntil(() -> end.state() == MessageState.OPEN);
        send(end, pair.local, 0, 30);
        pair.runUntil(() -> errors.size() == 30);
    }

    @Test
    void shouldAllocateNothingForMessagesAndWrites()
    {
        open(false);
        final MessageEndpoint.Listener silent = new MessageEndpoint.Listener()
        {
            @Override
            public boolean onMessage(
                final MessageEndpoint endpoint, final int message, final DirectBuffer buffer, final int offset,
                final int lengthBytes)
            {
                return true;
            }
        };
        final MessageEndpoint[] far = new MessageEndpoint[1];
        MessageEndpoint.accept(pair.rpcServer, (identity, service, mine) ->
        {
            mine.credits(CREDITS).grants(pair.served, 0, 4096);
            return new MessageEndpoint.Listener()
            {
                @Override
                public void onOpened(final MessageEndpoint endpoint)
                {
                    far[0] = endpoint;
                }

                @Override
                public boolean onMessage(
                    final MessageEndpoint endpoint, final int message, final DirectBuffer buffer, final int offset,
                    final int lengthBytes)
                {
                    return true;
                }
            };
        });
        final MessageEndpoint end = MessageEndpoint.open(
            pair.client, pair.client.defaultTenant(), pair.peer(), options(), silent, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> end.state() == MessageState.OPEN && far[0] != null);
        exchange(end, far[0], 20_000);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && least > 0; attempt++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            final long overhead = threads.getCurrentThreadAllocatedBytes() - before;
            final long start = threads.getCurrentThreadAllocatedBytes();
            exchange(end, far[0], 10_000);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - start - overhead);
        }
        // A provider looks now and then, by time, whether peers are there, which allocates some bytes. One object for
        // each round would be 160,000.
        assertThat(least).as("bytes allocated for 30,000 messages").isLessThan(10_000);
    }

    /** Without looks for new connections, which allocate something now and then. */
    private void exchange(final MessageEndpoint end, final MessageEndpoint far, final int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            while (end.space() < 2 || far.space() < 1)
            {
                pair.client.pollCompletions();
                pair.server.pollCompletions();
            }
            final int status = end.send(pair.local, 0, 64, i) | end.write(pair.local, 0, 64, 0, 1, i) |
                far.send(serverLocal, 0, 64, i);
            assert status == PostStatus.OK || status == PostStatus.QUEUE_FULL;
            pair.client.pollCompletions();
            pair.server.pollCompletions();
        }
    }
}
