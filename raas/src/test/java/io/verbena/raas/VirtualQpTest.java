package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.raas.limit.RaasLimitException;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class VirtualQpTest
{
    @TempDir
    Path directory;
    private SoftPair pair;
    private final RecordingListener listener = new RecordingListener();

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory);
    }

    @AfterEach
    void close()
    {
        pair.close();
    }

    @Test
    void shouldReadWriteAndDoAtomicsInOneBatch()
    {
        final VirtualQp vqp = pair.connect(listener);
        pair.servedWord(0, 7);
        pair.localWord(64, 99);
        vqp.begin();
        vqp.read(pair.local, 0, 8, pair.remote(), 0);
        vqp.write(pair.local, 64, 8, pair.remote(), 64);
        vqp.compareSwap(pair.local, 8, pair.remote(), 0, 7, 8);
        vqp.fetchAdd(pair.local, 16, pair.remote(), 0, 10);
        assertThat(vqp.complete(5)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> !listener.done.isEmpty());

        assertThat(listener.done).containsExactly(
            new RecordingListener.Done(vqp.number(), 5, WorkCompletionStatus.SUCCESS));
        assertThat(pair.localWord(0)).isEqualTo(7);
        assertThat(pair.servedWord(64)).isEqualTo(99);
        assertThat(pair.localWord(8)).isEqualTo(7);
        assertThat(pair.localWord(16)).isEqualTo(8);
        assertThat(pair.servedWord(0)).isEqualTo(18);
        final VerbCounters counters = vqp.counters();
        assertThat(counters).hasToString("VerbCounters{reads=1, writes=1, compareSwaps=1, fetchAdds=1, sends=0, " +
            "localOperations=0, doorbells=1, payloadBytes=32}");
        assertThat(pair.client.counters()).hasToString(counters.toString());
    }

    @Test
    void shouldBeThePortToTheRegionNamedAtConnect()
    {
        final RemoteRegion half = new RemoteRegion(
            pair.remote().address() + 64, SoftPair.REGION_BYTES / 2, pair.remote().remoteKey());
        final VirtualQp vqp = pair.connect(half, listener);
        final OneSidedPort port = vqp;
        assertThat(port.isReady()).isTrue();
        assertThat(port.regionLengthBytes()).isEqualTo(SoftPair.REGION_BYTES / 2);
        pair.servedWord(64, 7);
        pair.localWord(64, 99);
        port.begin();
        port.read(pair.local, 0, 8, 0);
        port.write(pair.local, 64, 8, 8);
        port.compareSwap(pair.local, 8, 0, 7, 8);
        assertThat(port.complete(5)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> !listener.done.isEmpty());
        assertThat(listener.statuses()).containsExactly(WorkCompletionStatus.SUCCESS);
        assertThat(pair.localWord(0)).isEqualTo(7);
        assertThat(pair.localWord(8)).isEqualTo(7);
        assertThat(pair.servedWord(64)).isEqualTo(8);
        assertThat(pair.servedWord(72)).isEqualTo(99);
        refuse(vqp, "outside of the remote region", () -> port.read(pair.local, 0, 8, SoftPair.REGION_BYTES / 2));
        vqp.close();
        assertThat(port.isReady()).isFalse();
        assertThat(port.isFailed()).isTrue();
    }

    @Test
    void shouldReachNothingAsAPortWhenNoRegionWasNamed()
    {
        final VirtualQp vqp = pair.connect(listener);
        assertThat(vqp.regionLengthBytes()).isZero();
        refuse(vqp, "outside of the remote region of 0 bytes", () -> vqp.read(pair.local, 0, 8, 0));
        refuse(vqp, "outside of the remote region of 0 bytes", () -> vqp.write(pair.local, 0, 8, 0));
        refuse(vqp, "outside of the remote region of 0 bytes", () -> vqp.compareSwap(pair.local, 0, 0, 0, 1));
    }

    @Test
    void shouldBeThePortUnderTheKeyThatWasGrantedInPlaceOfThePublishedOne()
    {
        try (MemoryRegion other = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE))
        {
            final MemoryRegion own =
                pair.server.protectionDomain().register(pair.served.segment(), AccessFlags.ALL_REMOTE);
            pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], other, own);
            final VirtualQp vqp = pair.connect(pair.remote(), listener);
            pair.localWord(64, 99);
            vqp.begin();
            vqp.write(pair.local, 64, 8, 8);
            assertThat(vqp.complete(1)).isEqualTo(PostStatus.OK);
            pair.runUntil(() -> listener.done.size() == 1);
            assertThat(pair.servedWord(8)).isEqualTo(99);
            refuse(vqp, "did not grant", () -> vqp.read(pair.local, 0, 8, pair.remote(), 0));
            own.close();
            pair.localWord(64, 100);
            vqp.begin();
            vqp.write(pair.local, 64, 8, 8);
            vqp.complete(2);
            pair.runUntil(() -> listener.done.size() == 2);
            assertThat(listener.statuses()).containsExactly(
                WorkCompletionStatus.SUCCESS, WorkCompletionStatus.REM_ACCESS_ERR);
            assertThat(pair.servedWord(8)).isEqualTo(99);
        }
    }

    @Test
    void shouldPostNothingOnceTheGrantHasEnded()
    {
        final VirtualQp vqp = pair.connect(listener);
        final long nowNs = pair.client.clock().nanoTime();
        vqp.grantedUntil(nowNs + 1_000);
        pair.client.poll(nowNs + 999);
        assertThat(post(vqp, 1, 1)).isEqualTo(PostStatus.OK);
        pair.client.poll(nowNs + 1_000);
        final long posted = vqp.counters().doorbells;
        assertThat(post(vqp, 1, 2)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.READY);
        assertThat(vqp.counters().doorbells).isEqualTo(posted);
        final VirtualQp unlimited = pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS);
        assertThat(post(unlimited, 1, 3)).as("another one on the same queue pair").isEqualTo(PostStatus.OK);
        vqp.grantedUntil(nowNs + 2_000);
        assertThat(post(vqp, 1, 4)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> listener.done.size() == 3);
        assertThat(listener.cookies()).containsExactly(1, 3, 4);
    }

    @Test
    void shouldTellWhatThePeerGrantedAndWhoWeAre()
    {
        final VirtualQp vqp = pair.connect(listener);
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.READY);
        assertThat(vqp.peerPrivateData()).containsExactly(42);
        assertThat(vqp.peerRegions()).containsExactly(pair.remote());
        assertThat(pair.lastCaller).isEqualTo(new PeerIdentity(3, 1));
        assertThat(pair.rpcServer.isConnected(new PeerIdentity(3, 1))).isTrue();
        assertThat(pair.rpcServer.isConnected(new PeerIdentity(3, 2))).isFalse();
    }

    @Test
    void shouldBeReadyAtOnceAndSendNothingWhenThePeerIsKnown()
    {
        final VirtualQp first = pair.connect(listener);
        final VerbCounters before = pair.client.counters();
        final VirtualQp second = pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS);

        assertThat(second.state()).isEqualTo(VirtualQp.State.READY);
        assertThat(second.number()).isNotEqualTo(first.number());
        assertThat(pair.client.counters()).hasToString(before.toString());
        assertThat(pair.client.usage().queuePairs()).isEqualTo(1);
        assertThat(pair.rpcServer.connections()).isEqualTo(1);
    }

    @Test
    void shouldCallBackEachVirtualQpInItsOwnOrder()
    {
        final List<VirtualQp> vqps = new ArrayList<>();
        for (int i = 0; i < 200; i++)
        {
            vqps.add(pair.connect(listener));
        }
        assertThat(pair.client.usage().queuePairs()).isEqualTo(1);
        for (int round = 0; round < 50; round++)
        {
            final int cookie = round;
            for (final VirtualQp vqp : vqps)
            {
                pair.runUntil(() -> vqp.space() > 0);
                vqp.begin();
                vqp.fetchAdd(pair.local, 0, pair.remote(), 0, 1);
                assertThat(vqp.complete(cookie)).isEqualTo(PostStatus.OK);
            }
        }
        pair.runUntil(() -> listener.done.size() == 200 * 50);
        assertThat(pair.servedWord(0)).isEqualTo(200 * 50);
        for (final VirtualQp vqp : vqps)
        {
            final List<Integer> cookies = listener.done.stream()
                .filter(done -> done.vqpNumber() == vqp.number()).map(RecordingListener.Done::cookie).toList();
            assertThat(cookies).hasSize(50).isSorted();
        }
    }

    @Test
    void shouldRefuseBadRequestsWithoutTouchingOtherTenants()
    {
        final VirtualQp bad = pair.connect(listener);
        final VirtualQp good = pair.connect(listener);
        final RemoteRegion remote = pair.remote();
        final RemoteRegion forgedKey = new RemoteRegion(remote.address(), 64, remote.remoteKey() + 1);
        final RemoteRegion tooLong = new RemoteRegion(remote.address(), 1L << 40, remote.remoteKey());
        final VerbCounters before = pair.client.counters();
        final MemoryRegion readOnly = pair.client.protectionDomain().allocateRegistered(64, 0);
        final MemoryRegion foreign = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.LOCAL_WRITE);
        refuse(bad, "outside of the local region of 65536 bytes", () -> bad.read(pair.local, 65_529, 8, remote, 0));
        refuse(bad, "outside of the local region", () -> bad.read(pair.local, -8, 8, remote, 0));
        refuse(bad, "outside of the local region", () -> bad.write(pair.local, Long.MAX_VALUE, 8, remote, 0));
        refuse(bad, "outside of the remote region of 65536 bytes", () -> bad.read(pair.local, 0, 8, remote, 65_529));
        refuse(bad, "outside of the remote region", () -> bad.read(pair.local, 0, 8, remote, -1));
        refuse(bad, "outside of the remote region", () -> bad.read(pair.local, 0, 8, remote, Long.MAX_VALUE));
        refuse(bad, "the peer did not grant", () -> bad.read(pair.local, 0, 8, forgedKey, 0));
        refuse(bad, "the peer did not grant", () -> bad.read(pair.local, 0, 8, tooLong, 1 << 16));
        refuse(bad, "the length must be 0 to", () -> bad.read(pair.local, 0, -1, remote, 0));
        refuse(bad, "aligned to 8", () -> bad.compareSwap(pair.local, 0, remote, 4, 0, 1));
        refuse(bad, "aligned to 8", () -> bad.fetchAdd(pair.local, 4, remote, 0, 1));
        refuse(bad, "lacks LOCAL_WRITE", () -> bad.read(readOnly, 0, 8, remote, 0));
        refuse(bad, "not made from RaasContext.protectionDomain()", () -> bad.write(foreign, 0, 8, remote, 0));
        foreign.close();
        readOnly.close();
        refuse(bad, "the local region is closed", () -> bad.write(readOnly, 0, 8, remote, 0));
        assertThat(pair.client.counters()).hasToString(before.toString());
        for (final VirtualQp vqp : List.of(good, bad))
        {
            vqp.begin();
            vqp.read(pair.local, 0, 8, remote, 0);
            assertThat(vqp.complete(1)).isEqualTo(PostStatus.OK);
        }
        pair.runUntil(() -> listener.done.size() == 2);
        assertThat(listener.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
    }

    private static void refuse(final VirtualQp vqp, final String text, final Runnable request)
    {
        vqp.begin();
        assertThatThrownBy(request::run).isInstanceOf(RaasMisuseException.class).hasMessageContaining(text);
        assertThatThrownBy(() -> vqp.complete(0)).hasMessageContaining("complete() without begin()");
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.READY);
    }

    @Test
    void shouldRefuseAWriteWhenOnlyReadsWereGranted()
    {
        pair.admission = Admission.accept(AccessFlags.REMOTE_READ, new byte[0], pair.served);
        final VirtualQp vqp = pair.connect(listener);
        refuse(vqp, "the peer did not grant right 2", () -> vqp.write(pair.local, 0, 8, pair.remote(), 0));
        refuse(vqp, "the peer did not grant right 8", () -> vqp.fetchAdd(pair.local, 0, pair.remote(), 0, 1));
        vqp.begin();
        vqp.read(pair.local, 0, 8, pair.remote(), 0);
        vqp.complete(0);
        pair.runUntil(() -> listener.done.size() == 1);
        assertThat(listener.statuses()).containsExactly(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldRefuseABatchLongerThanTheLimit()
    {
        final VirtualQp vqp = pair.connect(listener);
        vqp.begin();
        for (int i = 0; i < 64; i++)
        {
            assertThat(vqp.space()).isEqualTo(64 - i);
            vqp.read(pair.local, 0, 8, pair.remote(), 0);
        }
        assertThatThrownBy(() -> vqp.read(pair.local, 0, 8, pair.remote(), 0))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("a batch takes 64 requests");
        assertThat(pair.client.counters().verbs()).isZero();
    }

    @Test
    void shouldSayQueueFullAndPostNothingWhenTheSharedQueueIsFull()
    {
        final VirtualQp first = pair.connect(listener);
        final VirtualQp second = pair.connect(listener);
        for (int batch = 0; batch < 4; batch++)
        {
            assertThat(post(first, 64, batch)).isEqualTo(PostStatus.OK);
        }
        assertThat(first.space()).isZero();
        assertThat(second.space()).isZero();
        assertThat(post(second, 1, 9)).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(pair.client.counters().verbs()).isEqualTo(256);
        pair.runUntil(() -> listener.done.size() == 4);
        assertThat(second.space()).isEqualTo(64);
        assertThat(post(second, 1, 9)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> listener.done.size() == 5);
        assertThat(listener.cookies()).containsExactly(0, 1, 2, 3, 9);
    }

    private int post(final VirtualQp vqp, final int requests, final int cookie)
    {
        vqp.begin();
        for (int i = 0; i < requests; i++)
        {
            vqp.read(pair.local, 0, 8, pair.remote(), 0);
        }
        return vqp.complete(cookie);
    }

    @Test
    void shouldNeverCallBackAfterCloseAndGiveTheIndexAgainWithAnotherGeneration()
    {
        pair.close();
        pair = new SoftPair(directory, new RaasConfiguration(), new RaasConfiguration().maxVirtualQps(100));
        final VirtualQp closed = pair.connect(listener);
        final VirtualQp other = pair.connect(listener);
        post(closed, 3, 1);
        post(other, 1, 2);
        closed.close();
        pair.runUntil(() -> listener.done.size() == 1);
        assertThat(listener.done).containsExactly(
            new RecordingListener.Done(other.number(), 2, WorkCompletionStatus.SUCCESS));
        assertThat(pair.client.swallowedCompletions()).isEqualTo(1);
        assertThat(closed.outstandingBatches()).isZero();
        assertThat(closed.state()).isEqualTo(VirtualQp.State.CLOSED);
        assertThatThrownBy(closed::begin).hasMessageContaining("closed virtual queue pair");

        final VirtualQp reborn = pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS);
        assertThat(reborn.number() & 0xFFFF).isEqualTo(closed.number() & 0xFFFF);
        assertThat(reborn.number()).isNotEqualTo(closed.number());
        for (int open = 2; open < 100; open++)
        {
            pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS);
        }
        assertThatThrownBy(() -> pair.client.connect(pair.peer(), listener, 1))
            .isInstanceOfSatisfying(RaasLimitException.class, ex -> assertThat(ex.limit()).isEqualTo(
                new RaasLimit("virtual queue pairs", 100, 100, "RaasConfiguration.maxVirtualQps")))
            .hasMessage("no room for more virtual queue pairs: 100 of at most 100 are in use; close some, or raise " +
                "RaasConfiguration.maxVirtualQps");
    }

    @Test
    void shouldFailEachBatchOnceAndReconnectWhenTheQueuePairBreaks()
    {
        final VirtualQp first = pair.connect(listener);
        final VirtualQp second = pair.connect(listener);
        post(first, 2, 1);
        pair.runUntil(() -> listener.done.size() == 1);
        pair.rpcServer.fence(new PeerIdentity(99, 1));
        pair.rpcServer.close();
        post(first, 2, 2);
        post(second, 2, 3);
        post(first, 1, 4);
        pair.runUntil(() -> listener.done.size() == 4);
        pair.poll(10);

        assertThat(listener.cookies()).containsExactly(1, 2, 3, 4);
        assertThat(listener.statuses()).containsExactly(
            WorkCompletionStatus.SUCCESS,
            WorkCompletionStatus.RETRY_EXC_ERR,
            WorkCompletionStatus.WR_FLUSH_ERR,
            WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(first.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(second.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(second.failure()).contains("node 1 incarnation 1").contains("retry counter exceeded");
        assertThat(post(second, 1, 5)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(pair.client.usage().queuePairs()).isZero();

        final VirtualQp refused = pair.connect(listener);
        assertThat(refused.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(refused.failure()).contains("nobody listens there");

        pair.serve();
        final VirtualQp again = pair.connect(listener);
        assertThat(again.state()).isEqualTo(VirtualQp.State.READY);
        post(again, 1, 6);
        pair.runUntil(() -> listener.done.size() == 5);
        assertThat(listener.done.getLast().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldFailToConnectWhenNobodyAnswersInTime()
    {
        final VirtualQp impatient = pair.client.connect(pair.peer(), listener, 1_000_000);
        final VirtualQp patient = pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS);
        while (impatient.state() == VirtualQp.State.CONNECTING)
        {
            pair.client.poll();
        }
        assertThat(impatient.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(impatient.failure()).contains("no answer to connect in time");
        assertThat(patient.state()).isEqualTo(VirtualQp.State.CONNECTING);
        pair.runUntil(() -> patient.state() == VirtualQp.State.READY);
    }

    @Test
    void shouldSayWhyThePeerRefused()
    {
        pair.admission = Admission.refuse("the wind is from the north");
        final VirtualQp vqp = pair.connect(listener);
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(vqp.failure()).contains("refused by the peer: the wind is from the north");
    }

    @Test
    void shouldFenceOneLifeOfANodeForEver()
    {
        final VirtualQp fenced = pair.connect(listener);
        assertThat(pair.rpcServer.fence(new PeerIdentity(3, 1))).isEqualTo(1);
        pair.localWord(0, 66);
        fenced.begin();
        fenced.write(pair.local, 0, 8, pair.remote(), 0);
        fenced.complete(1);
        pair.runUntil(() -> listener.done.size() == 1);
        assertThat(pair.servedWord(0)).isZero();
        assertThat(listener.statuses().getFirst()).isNotEqualTo(WorkCompletionStatus.SUCCESS);

        final VirtualQp again = pair.connect(listener);
        assertThat(again.failure()).contains("node 3 incarnation 1 was fenced here");
        pair.client.identity(new PeerIdentity(3, 2));
        assertThat(pair.connect(listener).state()).isEqualTo(VirtualQp.State.READY);
        assertThatThrownBy(() -> pair.rpcServer.fence(PeerIdentity.UNREGISTERED))
            .isInstanceOf(RaasMisuseException.class);
    }
}
