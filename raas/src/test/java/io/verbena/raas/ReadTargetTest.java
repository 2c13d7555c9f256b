package io.verbena.raas;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** A peer that is read over DC before anybody has connected to it. */
class ReadTargetTest
{
    private static final long KEY = 0x1234_5678_9ABC_DEF0L;

    @TempDir
    private Path directory;

    private final RecordingListener listener = new RecordingListener();
    private SoftPair pair;
    private ReadTarget target;

    @BeforeEach
    void setUp()
    {
        open(new RaasConfiguration());
    }

    private void open(final RaasConfiguration forClient)
    {
        pair = new SoftPair(directory, new RaasConfiguration(), forClient);
        target = pair.server.openReadTarget(KEY);
        pair.servedWord(8, 42);
    }

    @AfterEach
    void tearDown()
    {
        target.close();
        pair.close();
    }

    private VirtualQp connect()
    {
        return pair.client.connect(pair.peer(), target.address(), pair.remote(), listener, SoftPair.TIMEOUT_NS);
    }

    private int read(final VirtualQp vqp, final int cookie)
    {
        vqp.begin();
        vqp.read(pair.local, 0, Long.BYTES, pair.remote(), 8);
        return vqp.complete(cookie);
    }

    private int add(final VirtualQp vqp, final int cookie)
    {
        vqp.begin();
        vqp.fetchAdd(pair.local, 16, pair.remote(), 8, 1);
        return vqp.complete(cookie);
    }

    @Test
    void shouldReadWithoutThePeersDoingAnything()
    {
        final VirtualQp vqp = connect();
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.READY);
        assertThat(vqp.transport()).isEqualTo("dc");
        assertThat(read(vqp, 1)).isEqualTo(PostStatus.OK);
        for (int i = 0; i < 1_000 && vqp.outstandingBatches() > 0; i++)
        {
            pair.client.poll(); // and never the server
        }
        assertThat(listener.cookies()).containsExactly(1);
        assertThat(listener.statuses()).containsExactly(WorkCompletionStatus.SUCCESS);
        assertThat(pair.localWord(0)).isEqualTo(42);
        assertThat(pair.rpcServer.connections()).isZero();
        assertThat(pair.client.counters().reads).isEqualTo(1);
    }

    @Test
    void shouldHoldBackChangesUntilConnected()
    {
        final VirtualQp vqp = connect();
        assertThat(vqp.carriesWrites()).isFalse();
        assertThat(add(vqp, 1)).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(pair.servedWord(8)).isEqualTo(42);
        pair.runUntil(vqp::carriesWrites);
        assertThat(vqp.transport()).isEqualTo("shared-memory");
        assertThat(vqp.peerPrivateData()).containsExactly(42);
        assertThat(add(vqp, 2)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> vqp.outstandingBatches() == 0);
        assertThat(listener.cookies()).containsExactly(2);
        assertThat(pair.servedWord(8)).isEqualTo(43);
    }

    /** The key of the directory is everybody's: nothing goes over a queue pair under it, which no fence would stop. */
    @Test
    void shouldChangeToTheGrantedKeyWithTheQueuePair()
    {
        final MemoryRegion own = pair.server.protectionDomain().register(pair.served.segment(), AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], own);
        final VirtualQp vqp = connect();
        vqp.begin();
        vqp.read(pair.local, 0, Long.BYTES, 8);
        pair.runUntil(vqp::carriesWrites);
        assertThat(vqp.complete(1)).as("staged under the key of before").isEqualTo(PostStatus.QUEUE_FULL);
        vqp.begin();
        vqp.read(pair.local, 0, Long.BYTES, 8);
        assertThat(vqp.complete(2)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> vqp.outstandingBatches() == 0);
        assertThat(pair.localWord(0)).isEqualTo(42);
        own.close();
        vqp.begin();
        vqp.read(pair.local, 0, Long.BYTES, 8);
        assertThat(vqp.complete(3)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> vqp.outstandingBatches() == 0);
        assertThat(listener.statuses()).containsExactly(
            WorkCompletionStatus.SUCCESS, WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void shouldConnectFirstWhereThereIsNoInitiator()
    {
        tearDown();
        open(new RaasConfiguration().dcInitiators(0));
        final VirtualQp vqp = connect();
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.CONNECTING);
        pair.runUntil(vqp::carriesWrites);
        assertThat(pair.client.usage().dcInitiators()).isZero();
    }

    @Test
    void shouldGiveTheInitiatorsRoomBackWhenAQueuePairNeedsIt()
    {
        tearDown();
        // Room for one queue pair (4 + 2 * 8 sends), and an initiator (4) beside it.
        open(new RaasConfiguration().sendQueueDepth(4).maxBatchRequests(4).completionQueueCapacity(24));
        final VirtualQp vqp = connect();
        pair.runUntil(vqp::carriesWrites);
        assertThat(pair.client.usage().dcInitiators()).isEqualTo(1);
        vqp.close();
        final PeerAddress other = new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, 2);
        final VirtualQp second = pair.client.connect(other, listener, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> second.state() != VirtualQp.State.CONNECTING);
        assertThat(second.failure()).isEmpty();
        assertThat(pair.client.usage().dcInitiators()).isZero();
    }

    @Test
    void shouldFailOnceWhenTheTargetIsGoneAndBeReachedByConnecting()
    {
        final ReadTargetAddress gone = target.address();
        target.close();
        final VirtualQp vqp =
            pair.client.connect(pair.peer(), gone, pair.remote(), listener, SoftPair.TIMEOUT_NS);
        assertThat(read(vqp, 1)).isEqualTo(PostStatus.OK);
        assertThat(read(vqp, 2)).isEqualTo(PostStatus.OK);
        for (int i = 0; i < 1_000_000_000 && vqp.outstandingBatches() > 0; i++)
        {
            pair.client.poll();
        }
        assertThat(listener.cookies()).containsExactly(1, 2);
        assertThat(listener.statuses()).doesNotContain(WorkCompletionStatus.SUCCESS);
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(vqp.failure()).contains("READ over DC");
        assertThat(pair.client.usage().dcInitiators()).isZero();
        final VirtualQp again = pair.connect(listener);
        assertThat(again.carriesWrites()).isTrue();
    }

    @Test
    void shouldGiveNobodyTheRightToChangeAnything()
    {
        try (ProtectionDomain domain = pair.clientDevice.allocateProtectionDomain();
            CompletionQueue completions = pair.clientDevice.createCompletionQueue(4);
            QueuePair initiator = domain.createQueuePair(new QueuePairOptions().type(QueuePairType.DC_INITIATOR)
                .completions(completions, completions).capabilities(new QueuePairCapabilities(4, 0, 16, 1)));
            AddressHandle way = domain.createAddressHandle(pair.serverDevice.address()))
        {
            initiator.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1));
            initiator.modify(new QueuePairAttributes().state(QueuePairState.RTR).pathMtuBytes(1024));
            initiator.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0).timeout(14).retryCount(1)
                .rnrRetry(0).maxReadAtomic(1));
            initiator.begin();
            initiator.write(1, SendFlags.SIGNALED | SendFlags.INLINE, pair.local.address(), 8, 0,
                pair.served.address() + 8, pair.served.remoteKey());
            initiator.toDcTarget(way, target.address().number(), KEY);
            assertThat(initiator.complete()).isEqualTo(PostStatus.OK);
            final WorkCompletions polled = new WorkCompletions(1);
            while (completions.poll(polled) == 0)
            {
                Thread.onSpinWait();
            }
            assertThat(polled.status(0)).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        }
        assertThat(pair.servedWord(8)).isEqualTo(42);
    }
}
