package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Receives that all queue pairs of a context share, and, where the same must hold, receives of each one's own. */
class SharedReceivesTest
{
    private static final int CREDITS = 8;
    private static final int ROUNDS = 30;
    private static final int CLIENTS = 100;
    private static final PeerIdentity HOSTILE = new PeerIdentity(77, 1);

    @TempDir
    Path directory;
    private final UnsafeBuffer request = new UnsafeBuffer(new byte[8]);
    private final List<RpcStatus> ended = new ArrayList<>();

    private static RaasConfiguration sharing(final boolean isSharing)
    {
        return new RaasConfiguration().rpcCredits(CREDITS).sharesReceives(isSharing);
    }

    /** Calls once; the listener finds its own request in the reply. */
    private void call(final RaasContext context, final VirtualQp vqp, final long value)
    {
        request.putLong(0, value);
        assertThat(context.rpcClient().call(vqp, 1, request, 0, 8, SoftPair.TIMEOUT_NS,
            (callId, status, payload, offset, length) ->
            {
                assertThat(status != RpcStatus.OK || length == 0 || payload.getLong(offset) == value)
                    .as("the reply of another call").isTrue();
                ended.add(status);
            })).isPositive();
    }

    private void callAtOnce(final SoftPair pair, final VirtualQp vqp, final int count)
    {
        ended.clear();
        for (int i = 0; i < count; i++)
        {
            call(pair.client, vqp, i);
        }
        pair.runUntil(() -> ended.size() == count);
        assertThat(ended).containsOnly(RpcStatus.OK);
    }

    @Test
    void shouldShareWithoutAnOptionWhereThereAreManyPeers()
    {
        assertThat(new RaasConfiguration().sharesReceives()).isFalse();
        assertThat(new RaasConfiguration().maxChannels(128).sharesReceives()).isFalse();
        assertThat(new RaasConfiguration().maxChannels(129).sharesReceives()).isTrue();
        assertThat(new RaasConfiguration().maxChannels(129).sharesReceives(false).sharesReceives()).isFalse();
        assertThat(new RaasConfiguration(sharing(true)).sharesReceives()).isTrue();
    }

    private static VirtualQp connectAs(final SoftPair pair, final int incarnation)
    {
        pair.client.identity(new PeerIdentity(3, incarnation));
        final VirtualQp vqp = pair.connect((on, cookie, status) -> {});
        assertThat(vqp.state()).as(vqp::failure).isEqualTo(VirtualQp.State.READY);
        return vqp;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldGetBackTheReceivesOfAQueuePairThatIsClosedWithRequestsInThem(final boolean isSharing)
    {
        try (SoftPair pair = new SoftPair(
            directory, sharing(isSharing).maxChannels(2).maxReceives(isSharing ? CREDITS + 1 : 0), sharing(isSharing)))
        {
            for (int round = 1; round <= ROUNDS; round++)
            {
                final VirtualQp vqp = connectAs(pair, round);
                ended.clear();
                for (int i = 0; i < CREDITS; i++)
                {
                    call(pair.client, vqp, i);
                }
                // They lie at the server, which has not polled.
                assertThat(pair.rpcServer.fence(new PeerIdentity(3, round))).isEqualTo(1);
                vqp.close();
                pair.runUntil(() -> ended.size() == CREDITS);
                assertThat(ended).containsOnly(RpcStatus.PEER_FAILED);
                pair.poll(3);
            }
            final VirtualQp last = connectAs(pair, ROUNDS + 1);
            for (int i = 0; i < 3; i++)
            {
                callAtOnce(pair, last, 5 * CREDITS);
            }
            assertThat(pair.server.receiveBuffers()).isLessThanOrEqualTo(isSharing ? CREDITS : 2 * CREDITS * CREDITS);
        }
    }

    @Test
    void shouldShowEachLimitWithWhatIsUsedOfIt()
    {
        try (SoftPair pair = new SoftPair(directory, sharing(true).maxChannels(2).maxReceives(10), sharing(false)))
        {
            final VirtualQp vqp = connectAs(pair, 1);
            pair.handler = (caller, method, message, offset, length, reply) ->
            {
                reply.defer();
                return RpcReply.DEFERRED;
            };
            call(pair.client, vqp, 1);
            vqp.begin();
            assertThat(pair.client.limits()).containsExactly(
                new RaasLimit("virtual queue pairs", 1, 65_535, "RaasConfiguration.maxVirtualQps"),
                new RaasLimit("queue pairs", 1, 64, "RaasConfiguration.maxChannels"),
                new RaasLimit("requests of queue pairs", 272, 4_096, "RaasConfiguration.completionQueueCapacity"),
                new RaasLimit("open batches", 1, 256, "RaasConfiguration.maxOpenBatches"),
                new RaasLimit("calls", 1, 64, "RaasConfiguration.maxCalls"));
            vqp.abort();
            // Ten among two: the first gets one, and an eighth of what the second need not have.
            assertThat(pair.server.limits()).contains(
                new RaasLimit("queue pairs", 1, 2, "RaasConfiguration.maxChannels"),
                new RaasLimit("receives for requests", 2, 10, "RaasConfiguration.maxReceives"));
        }
    }

    @Test
    void shouldGetBackWhatHandlersHeldWhenTheirConnectionEnds()
    {
        try (SoftPair pair = new SoftPair(
            directory, sharing(true).maxChannels(1).maxReceives(2), sharing(true)))
        {
            final List<DeferredReply> deferred = new ArrayList<>();
            for (int round = 1; round <= ROUNDS; round++)
            {
                final int incarnation = round;
                final VirtualQp vqp = connectAs(pair, incarnation);
                final boolean isFencing = round % 2 == 0;
                pair.handler = (caller, method, message, offset, length, reply) ->
                {
                    if (isFencing)
                    {
                        pair.rpcServer.fence(caller);
                        assertThat(message.getLong(offset)).isEqualTo(incarnation);
                        return 0;
                    }
                    deferred.add(reply.defer());
                    return RpcReply.DEFERRED;
                };
                ended.clear();
                call(pair.client, vqp, incarnation);
                pair.runUntil(() -> isFencing ? pair.rpcServer.connections() == 0 : !deferred.isEmpty());
                if (!isFencing)
                {
                    pair.rpcServer.fence(new PeerIdentity(3, incarnation));
                    assertThat(deferred.getFirst().isOver()).isTrue();
                    deferred.clear();
                }
                vqp.close();
                pair.runUntil(() -> !ended.isEmpty());
                pair.poll(3);
            }
            pair.handler = (caller, method, message, offset, length, reply) ->
            {
                reply.buffer().putBytes(reply.offset(), message, offset, length);
                return length;
            };
            callAtOnce(pair, connectAs(pair, ROUNDS + 1), 10);
            assertThat(pair.server.receiveBuffers()).isLessThanOrEqualTo(2);
        }
    }

    @Test
    void shouldServeManyClientsWhoseCreditsExceedTheReceives()
    {
        // One for each, and 50 more for those that come first: nobody gets what it asks for, nobody gets nothing.
        final int receives = CLIENTS + 50;
        final RaasConfiguration forServer = sharing(true).maxChannels(CLIENTS).completionQueueCapacity(1 << 14)
            .maxReceives(receives);
        try (SoftPair pair = new SoftPair(directory, forServer, sharing(true)))
        {
            final List<Device> devices = new ArrayList<>();
            final List<RaasContext> contexts = new ArrayList<>();
            final List<VirtualQp> vqps = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++)
            {
                devices.add(pair.fabric.openDevice("client" + i));
                contexts.add(RaasContext.open(
                    devices.get(i), sharing(true).sendQueueDepth(16).maxBatchRequests(4).completionQueueCapacity(64)
                        .maxCalls(CREDITS).identity(new PeerIdentity(100 + i, 1))));
                final VirtualQp vqp = contexts.get(i).connect(
                    pair.peer(), (on, cookie, status) -> {}, SoftPair.TIMEOUT_NS);
                vqps.add(vqp);
                final RaasContext context = contexts.get(i);
                pair.runUntil(() -> context.poll() >= 0 && vqp.state() != VirtualQp.State.CONNECTING);
                assertThat(vqp.state()).as(vqp::failure).isEqualTo(VirtualQp.State.READY);
            }
            for (int round = 0; round < 3; round++)
            {
                ended.clear();
                for (int i = 0; i < CLIENTS * CREDITS; i++)
                {
                    call(contexts.get(i % CLIENTS), vqps.get(i % CLIENTS), i);
                }
                pair.runUntil(() ->
                {
                    contexts.forEach(RaasContext::poll);
                    return ended.size() == CLIENTS * CREDITS;
                });
                assertThat(ended).containsOnly(RpcStatus.OK);
            }
            assertThat(pair.server.receiveBuffers()).isBetween(CLIENTS, receives);
            contexts.forEach(RaasContext::close);
            devices.forEach(Device::close);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldServeOthersWhileOnesRequestsAreNotAnswered(final boolean isSharing)
    {
        try (SoftPair pair = new SoftPair(
            directory, sharing(isSharing).maxChannels(2).maxReceives(isSharing ? 10 : 0), sharing(isSharing));
            Device other = pair.fabric.openDevice("other");
            RaasContext context = RaasContext.open(other, sharing(isSharing).identity(new PeerIdentity(4, 1))))
        {
            final List<DeferredReply> owed = new ArrayList<>();
            pair.handler = (caller, method, message, offset, length, reply) ->
            {
                if (caller.nodeId() == 4)
                {
                    owed.add(reply.defer());
                    return RpcReply.DEFERRED;
                }
                reply.buffer().putBytes(reply.offset(), message, offset, length);
                return length;
            };
            final VirtualQp slow = context.connect(pair.peer(), (on, cookie, status) -> {}, SoftPair.TIMEOUT_NS);
            pair.runUntil(() -> context.poll() >= 0 && slow.state() == VirtualQp.State.READY);
            for (int i = 0; i < 3 * CREDITS; i++)
            {
                call(context, slow, i);
            }
            final VirtualQp quick = connectAs(pair, 1);
            for (int round = 0; round < 10; round++)
            {
                context.poll();
                callAtOnce(pair, quick, 20);
            }
            assertThat(owed).isNotEmpty().hasSizeLessThanOrEqualTo(CREDITS);
            ended.clear();
            while (ended.size() < 3 * CREDITS)
            {
                owed.removeIf(reply -> reply.reply(request, 0, 0));
                context.poll();
                pair.poll(1);
            }
        }
    }

    @Test
    void shouldCloseTheConnectionOfAPeerThatSendsBeyondItsCredits()
    {
        // Others may find no receive until the server has closed it: they try again, as an RNIC does.
        final RaasConfiguration forServer = sharing(true).maxChannels(3).maxReceives(24)
            .probeIntervalNs(100 * SoftPair.TIMEOUT_NS);
        try (SoftPair pair = new SoftPair(directory, forServer, sharing(true), SoftPair.TIMEOUT_NS))
        {
            pair.handler = (caller, method, message, offset, length, reply) ->
            {
                if (caller.equals(HOSTILE))
                {
                    // As long as its requests are answered at once it has its credits back.
                    reply.defer();
                    return RpcReply.DEFERRED;
                }
                reply.buffer().putBytes(reply.offset(), message, offset, length);
                return length;
            };
            final VirtualQp good = connectAs(pair, 1);
            callAtOnce(pair, good, CREDITS);
            final int before = pair.server.receiveBuffers();
            for (int round = 0; round < 5; round++)
            {
                misbehave(pair, SharedReceivesTest::flood);
                callAtOnce(pair, good, 5 * CREDITS);
            }
            assertThat(good.state()).isEqualTo(VirtualQp.State.READY);
            assertThat(pair.server.receiveBuffers()).isLessThanOrEqualTo(before + CREDITS);
        }
    }

    /** What a peer that keeps no rules posts on its queue pair. */
    private interface Misdeed
    {
        void post(QueuePair queuePair, MemoryRegion memory, int credits);
    }

    /** Connects, does it, and waits until the connection is closed. */
    private static void misbehave(final SoftPair pair, final Misdeed misdeed)
    {
        final ProtectionDomain domain = pair.clientDevice.allocateProtectionDomain();
        final CompletionQueue completions = pair.clientDevice.createCompletionQueue(64);
        final MemoryRegion memory = domain.allocateRegistered(
            2 * MessageBlock.SLOT_LENGTH_BYTES, AccessFlags.LOCAL_WRITE);
        try (QueuePair queuePair = domain.createQueuePair(
            completions, completions, new QueuePairCapabilities(32, 16, 0, 1)))
        {
            final ConnectionAttempt attempt = pair.clientDevice.connect(
                queuePair, pair.serverDevice.address(), SoftPair.PORT, 0,
                ConnectDataDescriptor.encodeRequest(HOSTILE, CREDITS), SoftPair.TIMEOUT_NS);
            pair.runUntil(() -> attempt.poll() != ConnectionAttempt.State.PENDING);
            assertThat(attempt.poll()).isEqualTo(ConnectionAttempt.State.ESTABLISHED);
            final int credits = ConnectDataDescriptor.credits(attempt.privateData());
            assertThat(credits).isBetween(1, CREDITS);
            misdeed.post(queuePair, memory, credits);
            assertThat(pair.rpcServer.isConnected(HOSTILE)).isTrue();
            pair.runUntil(() -> !pair.rpcServer.isConnected(HOSTILE));
        }
        memory.close();
        completions.close();
        domain.close();
    }

    /** Sends twice as many messages as it may. */
    private static void flood(final QueuePair queuePair, final MemoryRegion memory, final int credits)
    {
        MessageHeaderDescriptor.encode(new UnsafeBuffer(memory.segment().address(), 64), 0, 1, 0, 1);
        for (int i = 0; i < 2 * credits; i++)
        {
            queuePair.begin();
            queuePair.sendWithImmediate(1, SendFlags.SIGNALED, memory.address(),
                MessageHeaderDescriptor.HEADER_LENGTH_BYTES, memory.localKey(),
                MessageImmediateDescriptor.encode(MessageImmediateDescriptor.KIND_REQUEST, 1, i));
            assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
        }
    }

    @Test
    void shouldGetBackTheReceiveThatAMessageTooLongForItConsumed()
    {
        try (SoftPair pair = new SoftPair(
            directory, sharing(true).maxChannels(2).maxReceives(CREDITS + 1), sharing(true)))
        {
            final VirtualQp good = connectAs(pair, 1);
            for (int round = 0; round < ROUNDS; round++)
            {
                misbehave(pair, (queuePair, memory, credits) ->
                {
                    queuePair.begin();
                    queuePair.sendWithImmediate(1, SendFlags.SIGNALED, memory.address(),
                        2 * MessageBlock.SLOT_LENGTH_BYTES, memory.localKey(), 0);
                    assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
                });
            }
            callAtOnce(pair, good, 5 * CREDITS);
        }
    }

    @Test
    void shouldCloseAConnectionThatBreaksWithNothingOutstanding()
    {
        try (SoftPair pair = new SoftPair(
            directory, sharing(true).probeIntervalNs(100 * SoftPair.TIMEOUT_NS), sharing(true)))
        {
            // Access without a right breaks the queue pair at the server, too; no receive is flushed to tell so.
            misbehave(pair, (queuePair, memory, credits) ->
            {
                queuePair.begin();
                queuePair.write(1, SendFlags.SIGNALED, memory.address(), 8, memory.localKey(), 0, 0);
                assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
            });
            callAtOnce(pair, connectAs(pair, 1), CREDITS);
        }
    }
}
