package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class RaasContextTest
{
    private static final long PROBE_INTERVAL_NS = 500_000;

    @TempDir
    Path directory;
    private final RecordingListener listener = new RecordingListener();

    private static void read(final SoftPair pair, final VirtualQp vqp, final int cookie)
    {
        vqp.begin();
        vqp.read(pair.local, 0, 8, pair.remote(), 0);
        assertThat(vqp.complete(cookie)).isEqualTo(PostStatus.OK);
    }

    private static PeerAddress life(final SoftPair pair, final int incarnation)
    {
        return new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, incarnation);
    }

    private VirtualQp connect(final SoftPair pair, final PeerAddress peer)
    {
        final VirtualQp vqp = pair.client.connect(peer, listener, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
        return vqp;
    }

    @Test
    void shouldCloseTheQueuePairsOfPeersThatAreGoneAndKeepThoseOfIdleOnes()
    {
        final RaasConfiguration configuration = new RaasConfiguration().probeIntervalNs(PROBE_INTERVAL_NS);
        try (SoftPair pair = new SoftPair(directory, configuration, new RaasConfiguration()))
        {
            final VirtualQp idle = pair.connect(listener);
            final Device other = pair.fabric.openDevice("other");
            final RaasContext otherContext =
                RaasContext.open(other, new RaasConfiguration().identity(new PeerIdentity(4, 1)));
            final VirtualQp doomed = otherContext.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS);
            pair.runUntil(() -> otherContext.poll() >= 0 && doomed.state() == VirtualQp.State.READY);
            assertThat(pair.rpcServer.connections()).isEqualTo(2);
            otherContext.close();
            other.close();
            pair.runUntil(() -> pair.rpcServer.connections() == 1);

            final long probes = pair.server.counters().reads;
            pair.runUntil(() -> pair.server.counters().reads >= probes + 5);
            assertThat(pair.rpcServer.isConnected(new PeerIdentity(3, 1))).isTrue();
            read(pair, idle, 1);
            pair.runUntil(() -> listener.done.size() == 1);
            assertThat(listener.statuses()).containsExactly(WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    void shouldNotProbeAPeerThatMayNotBeReadyYet()
    {
        try (SoftPair pair = new SoftPair(
            directory, new RaasConfiguration().probeIntervalNs(1), new RaasConfiguration()))
        {
            final VirtualQp vqp = pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS);
            pair.runUntil(() -> pair.rpcServer.connections() == 1);
            assertThat(vqp.state()).isEqualTo(VirtualQp.State.CONNECTING);
            assertThat(pair.server.counters().reads).as("probes in the duty cycle that accepted").isZero();
            pair.runUntil(() -> pair.server.counters().reads > 0);
        }
    }

    @Test
    void shouldConnectAnewUnderANewIdentityAndCloseTheOldQueuePairWithItsLastUser()
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            final VirtualQp old = pair.connect(listener);
            pair.client.identity(new PeerIdentity(3, 2));
            final VirtualQp anew = pair.connect(listener);
            assertThat(pair.lastCaller).isEqualTo(new PeerIdentity(3, 2));
            assertThat(pair.rpcServer.connections()).isEqualTo(2);
            read(pair, old, 1);
            read(pair, anew, 2);
            pair.runUntil(() -> listener.done.size() == 2);
            assertThat(listener.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
            pair.rpcServer.fence(new PeerIdentity(3, 1));
            old.close();
            pair.poll(2);
            read(pair, anew, 3);
            pair.runUntil(() -> listener.done.size() == 3);
            assertThat(listener.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
            assertThat(pair.client.usage().queuePairs()).isEqualTo(1);
        }
    }

    @Test
    void shouldKeepTheQueuePairsOfAnIdentityThatIsGivenOnceMore()
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            pair.connect(listener);
            pair.client.identity(new PeerIdentity(3, 1));
            assertThat(pair.connect(listener).state()).isEqualTo(VirtualQp.State.READY);
            assertThat(pair.rpcServer.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldKeepTheQueuePairsOfAnUnregisteredNodeWhenItGetsItsIdentity()
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            pair.client.identity(PeerIdentity.UNREGISTERED);
            pair.connect(listener);
            pair.client.identity(new PeerIdentity(8, 1));
            assertThat(pair.connect(listener).state()).isEqualTo(VirtualQp.State.READY);
            assertThat(pair.rpcServer.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldCompleteOtherTenantsBatchesAndReportWhenAListenerThrows()
    {
        final List<Throwable> errors = new ArrayList<>();
        try (SoftPair pair = new SoftPair(
            directory, new RaasConfiguration(), new RaasConfiguration().errorHandler(errors::add)))
        {
            final VirtualQp bad = pair.connect((vqp, cookie, status) ->
            {
                throw new IllegalStateException("tenant trouble " + cookie);
            });
            final VirtualQp good = pair.connect(listener);
            read(pair, bad, 1);
            read(pair, good, 2);
            read(pair, bad, 3);
            pair.runUntil(() -> listener.done.size() == 1);
            assertThat(errors).extracting(Throwable::getMessage)
                .containsExactly("tenant trouble 1", "tenant trouble 3");
            assertThat(bad.outstandingBatches()).isZero();
        }
    }

    @Test
    void shouldThrowAListenersExceptionOutOfPollByDefault()
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            final VirtualQp bad = pair.connect((vqp, cookie, status) ->
            {
                throw new IllegalStateException("tenant trouble");
            });
            read(pair, bad, 1);
            assertThatThrownBy(() -> pair.client.poll()).hasMessage("tenant trouble");
            assertThat(pair.client.poll()).isZero();
        }
    }

    @Test
    void shouldRefuseToPollOrCloseFromACallback()
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            final List<String> refusals = new ArrayList<>();
            final VirtualQp vqp = pair.connect((on, cookie, status) ->
            {
                for (final Runnable call : List.<Runnable>of(pair.client::poll, pair.client::close))
                {
                    assertThatThrownBy(call::run).isInstanceOf(RaasMisuseException.class)
                        .satisfies(ex -> refusals.add(ex.getMessage()));
                }
            });
            read(pair, vqp, 1);
            pair.poll(1);
            assertThat(refusals).hasSize(2).allSatisfy(text -> assertThat(text).contains("callback"));
        }
    }

    @Test
    void shouldPostNothingOfABatchBegunBeforeReady()
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            final VirtualQp vqp = pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS);
            vqp.begin();
            vqp.write(pair.local, 0, 8, pair.remote(), 0);
            pair.runUntil(() -> vqp.state() == VirtualQp.State.READY);
            vqp.write(pair.local, 0, 8, pair.remote(), 8);
            assertThat(vqp.complete(1)).isEqualTo(PostStatus.INVALID_STATE);
            assertThat(pair.client.counters().writes).isZero();
            read(pair, vqp, 2);
        }
    }

    @Test
    void shouldCloseAnUnusedQueuePairForANewPeerAndFailAtTheDeadlineWhenAllAreUsed()
    {
        try (SoftPair pair = new SoftPair(
            directory, new RaasConfiguration(), new RaasConfiguration().maxChannels(2)))
        {
            final VirtualQp first = connect(pair, life(pair, 1));
            final VirtualQp second = connect(pair, life(pair, 2));
            final VirtualQp late = pair.client.connect(life(pair, 3), listener, 20_000_000);
            pair.runUntil(() -> late.state() == VirtualQp.State.FAILED);
            assertThat(late.failure()).contains("no room").contains("maxChannels (2)");
            first.close();
            final VirtualQp third = connect(pair, life(pair, 3));
            assertThat(third.state()).isEqualTo(VirtualQp.State.READY);
            read(pair, second, 1);
            read(pair, third, 2);
            pair.runUntil(() -> listener.done.size() == 2);
            assertThat(listener.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
            assertThat(pair.client.usage().queuePairs()).isEqualTo(2);
        }
    }

    @Test
    void shouldCloseTheQueuePairToAPeerThatIsForgottenBehindItsLastUserAndRequest()
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            final VirtualQp first = pair.connect(listener);
            final VirtualQp second = pair.connect(listener);
            first.close();
            pair.client.forget(pair.peer());
            pair.poll(10);
            assertThat(pair.rpcServer.connections()).as("one uses it still").isEqualTo(1);
            assertThat(pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS).state()).as("and others may")
                .isEqualTo(VirtualQp.State.READY);
            assertThat(pair.client.usage().queuePairs()).isEqualTo(1);
            read(pair, second, 1);
            pair.runUntil(() -> listener.done.size() == 1);
        }
    }

    @Test
    void shouldLeaveNothingAtAPeerThatIsForgotten()
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            final VirtualQp only = pair.connect(listener);
            read(pair, only, 1);
            only.close();
            pair.poll(10);
            assertThat(pair.rpcServer.connections()).as("kept for who connects next").isEqualTo(1);
            pair.client.forget(pair.peer());
            assertThat(pair.client.usage().queuePairs()).isZero();
            pair.runUntil(() -> pair.rpcServer.connections() == 0);
            assertThat(pair.client.isWaiting()).as("nothing is left to be done").isFalse();
            pair.client.forget(pair.peer());
            assertThat(pair.connect(listener).state()).isEqualTo(VirtualQp.State.READY);
            assertThat(pair.rpcServer.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldTurnAwayAPeerWhenTheServerHasNoRoom()
    {
        try (SoftPair pair = new SoftPair(
            directory, new RaasConfiguration().maxChannels(1), new RaasConfiguration()))
        {
            assertThat(connect(pair, life(pair, 1)).state()).isEqualTo(VirtualQp.State.READY);
            final VirtualQp refused = connect(pair, life(pair, 2));
            assertThat(refused.failure()).contains("refused by the peer").contains("maxChannels (1)");
            assertThat(pair.rpcServer.refusals()).isEqualTo(1);
        }
    }

    @Test
    void shouldRefuseConfigurationsThatCannotWorkNamingTheLimit()
    {
        try (SoftPair pair = new SoftPair(directory))
        {
            refuse(pair, new RaasConfiguration().rpcCredits(0), "rpcCredits is 0, it must be 1 to 1024");
            refuse(pair, new RaasConfiguration().maxBatchRequests(257), "maxBatchRequests is 257, it must be 1 to 256");
            refuse(pair, new RaasConfiguration().maxVirtualQps(65_536), "maxVirtualQps is 65536");
            refuse(pair, new RaasConfiguration().completionQueueCapacity(100), "completionQueueCapacity is 100");
            refuse(pair, new RaasConfiguration().sendQueueDepth(1 << 20), "sendQueueDepth is 1048576");
            refuse(pair, new RaasConfiguration().probeIntervalNs(0), "probeIntervalNs is 0");
            refuse(pair, new RaasConfiguration().sharesReceives(true).maxReceives(63),
                "maxReceives is 63, it must be 64 to ");
            refuse(pair, new RaasConfiguration().maxOpenBatches(0), "maxOpenBatches is 0, it must be 1 to 65535");
        }
    }

    private static void refuse(final SoftPair pair, final RaasConfiguration configuration, final String text)
    {
        assertThatThrownBy(() -> RaasContext.open(pair.clientDevice, configuration))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining(text);
    }

    @Test
    void shouldLeaveNothingOpenWhenMemoryCannotBeHad()
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(directory)))
        {
            for (int allocations = 0; allocations < 3; allocations++)
            {
                final Device device = fabric.openDevice("poor" + allocations);
                final Device poor = withAllocations(device, allocations / 2);
                // Receives of each queue pair's own are there from the beginning, shared ones come with the peers.
                final boolean isSharing = allocations == 0;
                assertThatThrownBy(() -> RaasContext.open(poor, new RaasConfiguration().sharesReceives(isSharing)))
                    .isInstanceOf(RdmaException.class).hasMessage("no memory left");
                device.close();
            }
        }
    }

    @Test
    void shouldReadTheClockOnlyWhileSomebodyWaits()
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
            Device device = fabric.openDevice("timed"))
        {
            final int[] looks = {0};
            final NanoClock counting = () ->
            {
                looks[0]++;
                return device.clock().nanoTime();
            };
            try (RaasContext context =
                RaasContext.open(proxy(Device.class, device, "clock", () -> counting), new RaasConfiguration()))
            {
                looks[0] = 0;
                assertThat(context.poll()).isZero();
                assertThat(looks[0]).isZero();
                final RpcServer server = context.serve(SoftPair.PORT, (caller, source) -> null,
                    (caller, method, request, offset, length, reply) -> 0);
                looks[0] = 0;
                context.poll();
                assertThat(looks[0]).isPositive();
                server.close();
            }
        }
    }

    private static Device withAllocations(final Device device, final int allocations)
    {
        final int[] left = {allocations};
        return proxy(Device.class, device, "allocateProtectionDomain", () ->
            proxy(ProtectionDomain.class, device.allocateProtectionDomain(), "allocateRegistered", () ->
            {
                if (left[0]-- == 0)
                {
                    throw new RdmaException("no memory left");
                }
                return null;
            }));
    }

    /** Answers one method itself unless the answer is null, and hands all others on. */
    private static <T> T proxy(
        final Class<T> type, final T target, final String method, final java.util.function.Supplier<Object> answer)
    {
        final Class<?>[] types = {type};
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), types, (self, called, arguments) ->
        {
            final Object own = called.getName().equals(method) ? answer.get() : null;
            try
            {
                return own != null ? own : called.invoke(target, arguments);
            }
            catch (final InvocationTargetException ex)
            {
                throw ex.getCause();
            }
        }));
    }
}
