package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Two peers, which are one server, and room for one queue pair: one of them stays on DC, rule by rule, on soft. */
class DcPeersTest
{
    @TempDir
    private Path directory;

    private final RecordingListener listener = new RecordingListener();
    private final RecordingListener otherListener = new RecordingListener();
    private SoftPair pair;
    private ReadTarget target;
    private MemoryRegion own;
    private VirtualQp vqp;
    private VirtualQp other;

    private void open(final RaasConfiguration forClient, final boolean hasAllRights)
    {
        pair = new SoftPair(directory, new RaasConfiguration().identity(new PeerIdentity(1, 1)),
            forClient.maxChannels(1));
        own = pair.server.protectionDomain().register(pair.served.segment(), AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{42}, own);
        target = hasAllRights ? pair.server.openTarget(7) : pair.server.openReadTarget(7);
        vqp = connect(1, listener);
        pair.runUntil(() -> "shared-memory".equals(vqp.transport()));
        other = connect(2, otherListener);
    }

    private static RaasConfiguration replaying()
    {
        return new RaasConfiguration().replayTimeoutNs(SoftPair.TIMEOUT_NS).dcInitiators(1);
    }

    private void open()
    {
        open(replaying(), true);
        pair.runUntil(() -> "shared-memory".equals(other.transport()));
        assertThat(vqp.transport()).isEqualTo("dc");
    }

    private VirtualQp connect(final int nodeId, final BatchListener to)
    {
        return pair.client.connect(new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, nodeId, 1),
            target.address(), pair.remote(), to, SoftPair.TIMEOUT_NS);
    }

    @AfterEach
    void close()
    {
        own.close();
        target.close();
        pair.close();
    }

    private static int add(final VirtualQp to, final SoftPair pair, final int cookie)
    {
        to.begin();
        to.fetchAdd(pair.local, 16, to.peerRegions().getFirst(), 8, 1);
        return to.complete(cookie);
    }

    private void awaitWithoutThePeer(final VirtualQp from)
    {
        for (int i = 0; i < 1_000_000_000 && from.outstandingBatches() > 0; i++)
        {
            pair.client.poll();
        }
    }

    @Test
    void shouldChangeMemoryOverDcWithoutThePeersDoingAnything()
    {
        open();
        assertThat(vqp.isReady()).isTrue();
        assertThat(vqp.carriesWrites()).isTrue();
        assertThat(vqp.peerPrivateData()).containsExactly(42);
        assertThat(pair.client.usage().queuePairs()).isEqualTo(1);
        assertThat(pair.client.transports().counts()).containsEntry("dc", 1);
        pair.localWord(0, 5);
        vqp.begin();
        vqp.write(pair.local, 0, Long.BYTES, 24);
        assertThat(vqp.complete(1)).isEqualTo(PostStatus.OK);
        assertThat(add(vqp, pair, 2)).isEqualTo(PostStatus.OK);
        awaitWithoutThePeer(vqp);
        assertThat(listener.statuses()).containsExactly(WorkCompletionStatus.SUCCESS, WorkCompletionStatus.SUCCESS);
        assertThat(pair.servedWord(24)).isEqualTo(5);
        assertThat(pair.servedWord(8)).isEqualTo(1);
        assertThat(pair.client.openBatches()).isZero();
    }

    @Test
    void shouldChangeNothingUnderAKeyThatWasTakenAway()
    {
        open();
        own.close();
        own = pair.server.protectionDomain().register(pair.served.segment(), AccessFlags.ALL_REMOTE);
        pair.admission = Admission.refuse("fenced");
        assertThat(add(vqp, pair, 1)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> vqp.outstandingBatches() == 0 && vqp.isFailed());
        assertThat(listener.statuses()).doesNotContain(WorkCompletionStatus.SUCCESS);
        assertThat(pair.servedWord(8)).isZero();
    }

    @Test
    void shouldGetAQueuePairForACall()
    {
        open();
        final List<RpcStatus> answers = new ArrayList<>();
        pair.client.rpcClient().call(vqp, 1, new UnsafeBuffer(new byte[8]), 0, 8, SoftPair.TIMEOUT_NS,
            (callId, status, payload, offset, length) -> answers.add(status));
        assertThat(add(vqp, pair, 1)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> !answers.isEmpty());
        assertThat(answers).containsExactly(RpcStatus.OK);
        assertThat(vqp.transport()).isEqualTo("shared-memory");
        assertThat(other.transport()).isEqualTo("dc");
        assertThat(add(other, pair, 2)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> other.outstandingBatches() == 0 && vqp.outstandingBatches() == 0);
        assertThat(pair.servedWord(8)).isEqualTo(2);
    }

    @Test
    void shouldChangePlacesOnlyWithOneThatIsUsedMuchLess()
    {
        open();
        long nowNs = pair.client.clock().nanoTime() + 1_000_000_000L;
        for (int interval = 0; interval < 20; interval++)
        {
            nowNs += 1_000_000;
            for (int i = 0; i < 40; i++)
            {
                assertThat(add(vqp, pair, 1)).isEqualTo(PostStatus.OK);
                assertThat(add(other, pair, 1)).isEqualTo(PostStatus.OK);
                awaitWithoutThePeer(vqp);
                awaitWithoutThePeer(other);
            }
            pair.client.poll(nowNs);
        }
        assertThat(vqp.transport()).as("both are used as much").isEqualTo("dc");
        for (int i = 0; i < 100; i++)
        {
            assertThat(add(vqp, pair, 1)).isEqualTo(PostStatus.OK);
            awaitWithoutThePeer(vqp);
        }
        final long laterNs = nowNs;
        final int[] polls = {0};
        pair.runUntil(() ->
        {
            if (polls[0] < 12 && vqp.transport().equals("dc") && add(vqp, pair, 1) == PostStatus.OK)
            {
                for (int i = 0; i < 60; i++)
                {
                    awaitWithoutThePeer(vqp);
                    add(vqp, pair, 1);
                }
            }
            pair.client.poll(laterNs + ++polls[0] * 1_000_000L);
            return vqp.transport().equals("shared-memory");
        });
        assertThat(other.transport()).isEqualTo("dc");
    }

    @Test
    void shouldPostAgainOrReportWhatWasUnderWayWhenTheTargetIsGone()
    {
        open();
        target.close();
        assertThat(add(vqp, pair, 1)).isEqualTo(PostStatus.OK);
        vqp.begin();
        vqp.read(pair.local, 0, Long.BYTES, 8);
        assertThat(vqp.complete(2)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> vqp.outstandingBatches() == 0);
        assertThat(listener.cookies()).containsExactly(1, 2);
        assertThat(listener.statuses()).containsExactly(BatchListener.OUTCOME_UNKNOWN, WorkCompletionStatus.SUCCESS);
        assertThat(pair.servedWord(8)).isZero();
        assertThat(vqp.transport()).isEqualTo("shared-memory");
        target = pair.server.openTarget(7);
    }

    private void assertStaysOnItsQueuePair()
    {
        pair.poll(2_000);
        assertThat(vqp.transport()).isEqualTo("shared-memory");
        assertThat(other.carriesWrites()).isFalse();
        vqp.close();
        pair.runUntil(other::carriesWrites);
    }

    @Test
    void shouldNotStayWhereTheTargetGivesTheRightToReadAlone()
    {
        open(replaying(), false);
        assertStaysOnItsQueuePair();
    }

    @Test
    void shouldNotStayWhereNoQueuePairWouldTakeThePlaceOfABrokenInitiator()
    {
        open(new RaasConfiguration(), true);
        assertStaysOnItsQueuePair();
    }

    @Test
    void shouldServeThoseThatWaitForTheOnlyInitiatorInTurn()
    {
        open();
        final VirtualQp third = connect(3, otherListener);
        pair.runUntil(() -> "shared-memory".equals(third.transport()) && "dc".equals(other.transport()));
        for (int i = 0; i < 60; i++)
        {
            assertThat(add(vqp, pair, 1)).isEqualTo(PostStatus.OK);
            assertThat(add(other, pair, 1)).isEqualTo(PostStatus.OK);
        }
        assertThat(vqp.space()).isEqualTo(4);
        awaitWithoutThePeer(other);
        awaitWithoutThePeer(vqp);
        assertThat(pair.servedWord(8)).isEqualTo(120);
        assertThat(pair.client.usage().dcInitiators()).isEqualTo(1);
    }
}
