package io.verbena.raas;

import io.verbena.raas.completion.Replays;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimitException;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.raas.usage.ContextUsage;
import io.verbena.raas.usage.MessageUsage;
import io.verbena.raas.usage.TenantUsage;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tenants that share a queue pair: what their quotas refuse, and what becomes of what waits when something ends. */
class TenantsTest extends TenantFixture
{
    @Test
    void shouldGiveSlotsBackOfWhatIsNeverPosted()
    {
        open(new RaasConfiguration(), new TenantOptions().queueSlots(9), new TenantOptions());
        readOften(greedyQp, 9, BLOCK);
        final long nowNs = pair.client.clock().nanoTime();
        greedyQp.grantedUntil(nowNs);
        pair.client.poll(nowNs + 1);
        pair.client.poll(nowNs + 2);
        assertThat(greedyDone.done).hasSize(9);
        assertThat(connect(greedy, greedyDone).space()).isEqualTo(9);
    }

    @Test
    void shouldGiveSlotsBackOfABatchThatEndsWithItsQueuePair()
    {
        open(new RaasConfiguration().replayTimeoutNs(2_000_000_000L), new TenantOptions().queueSlots(9),
            new TenantOptions());
        final MemoryRegion trap = pair.server.protectionDomain().allocateRegistered(1 << 13, AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{42}, pair.served, trap);
        final PeerAddress peer = new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, 2);
        final VirtualQp offender = connect(peer, greedy, greedyDone);
        final VirtualQp bystander = connect(peer, quiet, quietDone);
        trap.close();
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{43}, pair.served);
        offender.begin();
        for (int i = 0; i < 9; i++)
        {
            offender.write(greedyMemory, 0, BLOCK, offender.peerRegions().get(1), 0);
        }
        assertThat(offender.complete(1)).isEqualTo(PostStatus.OK);
        assertThat(add(bystander, 1)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> !quietDone.done.isEmpty() && !greedyDone.done.isEmpty());
        assertThat(greedyDone.statuses()).containsExactly(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(quietDone.statuses()).containsExactly(WorkCompletionStatus.SUCCESS);
        final VirtualQp next = connect(peer, greedy, greedyDone);
        assertThat(next.space()).isEqualTo(9);
        assertThat(add(next, 2)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> greedyDone.done.size() == 2);
        assertThat(pair.servedWord(0)).isEqualTo(2);
    }

    @Test
    void shouldRefuseMoreThanTheQueueSlotsOfATenant()
    {
        open(new RaasConfiguration(), new TenantOptions().queueSlots(3), new TenantOptions());
        assertThat(greedyQp.space()).isEqualTo(3);
        readOften(greedyQp, 3, 8);
        assertThat(greedyQp.space()).isZero();
        assertThat(quietQp.space()).isEqualTo(64);
        assertThat(read(greedyQp, 4, 8)).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(read(quietQp, 4, 8)).isEqualTo(PostStatus.OK);
        assertThat(greedy.usage().refusals()).isOne();
        pair.runUntil(() -> greedyDone.done.size() == 3);
        assertThat(greedyQp.space()).isEqualTo(3);
        greedyQp.begin();
        for (int i = 0; i < 4; i++)
        {
            greedyQp.read(greedyMemory, 0, 8, pair.remote(), 0);
        }
        assertThatThrownBy(() -> greedyQp.complete(5)).isInstanceOf(RaasMisuseException.class)
            .hasMessageContaining("a batch of 4 requests of tenant 'greedy': it has 3 queue slots");
        assertThat(read(greedyQp, 6, 8)).isEqualTo(PostStatus.OK);
    }

    @Test
    void shouldRefuseMoreOpenBatchesThanATenantMayHave()
    {
        open(new RaasConfiguration(), new TenantOptions().openBatches(1), new TenantOptions());
        final VirtualQp second = connect(greedy, greedyDone);
        greedyQp.begin();
        assertThat(second.space()).isZero();
        second.begin();
        second.read(greedyMemory, 0, 8, pair.remote(), 0);
        assertThat(second.complete(1)).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(read(quietQp, 1, 8)).isEqualTo(PostStatus.OK);
        greedyQp.abort();
        assertThat(read(second, 2, 8)).isEqualTo(PostStatus.OK);
        assertThat(read(greedyQp, 3, 8)).isEqualTo(PostStatus.OK);
        assertThat(greedy.usage().openBatches()).isZero();
        assertThat(greedy.usage().refusals()).isOne();
    }

    @Test
    void shouldRefuseMoreCallsThanATenantMayMake()
    {
        open(new RaasConfiguration(), new TenantOptions().calls(2), new TenantOptions());
        final List<RpcStatus> ended = new ArrayList<>();
        assertThat(call(greedyQp, ended)).isPositive();
        assertThat(call(greedyQp, ended)).isPositive();
        assertThat(call(greedyQp, ended)).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(call(quietQp, ended)).isPositive();
        assertThat(greedy.usage().calls()).isEqualTo(2);
        pair.runUntil(() -> ended.size() == 3 && greedy.usage().calls() == 0);
        assertThat(pair.client.rpcClient().begin(greedyQp)).isEqualTo(PostStatus.OK);
        assertThat(greedy.usage().calls()).isOne();
        pair.client.rpcClient().cancel();
        assertThat(greedy.usage().calls()).isZero();
        assertThat(greedy.usage().refusals()).isOne();
    }

    private long call(final VirtualQp vqp, final List<RpcStatus> ended)
    {
        return pair.client.rpcClient().call(vqp, 1, new UnsafeBuffer(new byte[8]), 0, 8, SoftPair.TIMEOUT_NS,
            (id, status, payload, offset, length) -> ended.add(status));
    }

    @Test
    void shouldRefuseToRegisterMoreThanATenantMay()
    {
        open(new RaasConfiguration(), new TenantOptions().pinnedBytes((1 << 16) + 4096), new TenantOptions());
        final MemoryRegion more = greedy.protectionDomain().allocateRegistered(4096, AccessFlags.LOCAL_WRITE);
        assertThatThrownBy(() -> greedy.protectionDomain().allocateRegistered(1, AccessFlags.LOCAL_WRITE))
            .isInstanceOf(RaasLimitException.class).hasMessage(
                "no room for more bytes registered by tenant 'greedy': 69632 of at most 69632 are in use; close some," +
                    " or raise TenantOptions.pinnedBytes");
        assertThat(greedy.usage().pinnedBytes()).isEqualTo((1 << 16) + 4096);
        more.close();
        more.close();
        assertThat(greedy.usage().pinnedBytes()).isEqualTo(1 << 16);
        final MemorySegment segment = quietMemory.segment();
        assertThatThrownBy(() -> greedy.protectionDomain().register(segment, AccessFlags.LOCAL_WRITE))
            .isInstanceOf(RaasLimitException.class);
        assertThat(greedy.usage().pinnedBytes()).isEqualTo(1 << 16);
        assertThatThrownBy(() -> greedy.protectionDomain().allocateRegistered(-1, AccessFlags.LOCAL_WRITE))
            .isInstanceOf(RuntimeException.class);
        assertThat(greedy.usage().pinnedBytes()).isEqualTo(1 << 16);
    }

    @Test
    void shouldNotReachMemoryOfAnotherTenant()
    {
        open();
        quietQp.begin();
        assertThatThrownBy(() -> quietQp.read(greedyMemory, 0, 8, pair.remote(), 0))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("the local region was not made from");
    }

    @Test
    void shouldRefuseBadOptionsByName()
    {
        open();
        assertRefused(new TenantOptions().weight(0), "tenant 't': TenantOptions.weight is 0, it must be 1 to 1000");
        assertRefused(new TenantOptions().weight(1001), "weight is 1001, it must be 1 to 1000");
        assertRefused(new TenantOptions().queueSlots(0), "queueSlots is 0, it must be 1 or more");
        assertRefused(new TenantOptions().readDepth(-1), "readDepth is -1, it must be 1 or more");
        assertRefused(new TenantOptions().openBatches(0), "openBatches is 0, it must be 1 or more");
        assertRefused(new TenantOptions().calls(0), "calls is 0, it must be 1 or more");
        assertRefused(new TenantOptions().pinnedBytes(0), "pinnedBytes is 0, it must be 1 or more");
        assertThatThrownBy(() -> pair.client.tenant("greedy", new TenantOptions()))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("there is one of that name already");
        assertThatThrownBy(() -> pair.client.tenant(" ", new TenantOptions()))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("1 to 64 characters");
        final Tenant foreign = pair.server.tenant("t", new TenantOptions());
        assertThatThrownBy(() -> connect(foreign, quietDone))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("of another context");
        assertThat(pair.client.tenants()).extracting(TenantUsage::name).containsExactly("default", "greedy", "quiet");
    }

    private void assertRefused(final TenantOptions options, final String message)
    {
        assertThatThrownBy(() -> pair.client.tenant("t", options)).isInstanceOf(RaasMisuseException.class)
            .hasMessageContaining(message);
    }

    @Test
    void shouldPostNothingOnceTheGrantIsOverAlthoughItWaited()
    {
        open();
        readOften(greedyQp, 10, BLOCK);
        final long nowNs = pair.client.clock().nanoTime();
        greedyQp.grantedUntil(nowNs);
        final long posted = pair.client.counters().reads;
        pair.client.poll(nowNs + 1);
        pair.client.poll(nowNs + 2);
        pair.client.poll(nowNs + 3);
        assertThat(pair.client.counters().reads).isEqualTo(posted);
        assertThat(greedyDone.cookies()).isEqualTo(upTo(10));
        assertThat(greedyDone.statuses().subList(0, 4)).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(greedyDone.statuses().subList(4, 10)).containsOnly(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(greedyQp.failure()).contains("the grant ended before requests were posted");
        assertThat(add(quietQp, 1)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> !quietDone.done.isEmpty());
    }

    @Test
    void shouldSayThatABatchMayHaveBeenExecutedInPartWhenTheGrantEndsInIt()
    {
        open();
        greedyQp.begin();
        for (int i = 0; i < 64; i++)
        {
            greedyQp.write(greedyMemory, 0, BLOCK, pair.remote(), 0);
        }
        assertThat(greedyQp.complete(1)).isEqualTo(PostStatus.OK);
        final long nowNs = pair.client.clock().nanoTime();
        greedyQp.grantedUntil(nowNs);
        pair.client.poll(nowNs + 1);
        pair.client.poll(nowNs + 2);
        assertThat(greedyDone.statuses()).containsExactly(BatchListener.OUTCOME_UNKNOWN);
        assertThat(pair.client.counters().writes).isEqualTo(4);
        assertThat(greedy.usage().unknownOutcomes()).isOne();
    }

    @Test
    void shouldEndEachBatchOnceWhenTheQueuePairBreaks()
    {
        open();
        readOften(greedyQp, 50, BLOCK);
        readOften(quietQp, 50, 8);
        pair.rpcServer.close();
        pair.serve();
        pair.runUntil(() -> greedyDone.done.size() == 50 && quietDone.done.size() == 50);
        assertThat(greedyDone.cookies()).isEqualTo(upTo(50));
        assertThat(quietDone.cookies()).isEqualTo(upTo(50));
        assertThat(quietQp.isFailed()).isTrue();
        assertThat(pair.client.openBatches()).isZero();
        pair.poll(5);
        assertThat(greedyDone.done).hasSize(50);
    }

    @Test
    void shouldEndWhatWaitsWhereNoQueuePairTakesThePlace()
    {
        open(PeerIdentity.UNREGISTERED, new RaasConfiguration().replayTimeoutNs(2_000_000_000L), new TenantOptions(),
            new TenantOptions());
        readOften(greedyQp, 50, BLOCK);
        readOften(quietQp, 50, 8);
        pair.rpcServer.close();
        pair.serve();
        pair.runUntil(() -> greedyDone.done.size() == 50 && quietDone.done.size() == 50);
        assertThat(greedyDone.cookies()).isEqualTo(upTo(50));
        assertThat(quietQp.isFailed()).isTrue();
        assertThat(pair.client.replays().queuePairs()).isZero();
    }

    /** One whose request was refused had others that waited, and so had another tenant. */
    private void refuseAndReplace(final boolean isGrantingTheSame)
    {
        open(new RaasConfiguration().replayTimeoutNs(2_000_000_000L), new TenantOptions(), new TenantOptions());
        final MemoryRegion trap = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
        final MemoryRegion other = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{42}, pair.served, trap);
        final PeerAddress peer = new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, 2);
        final VirtualQp offender = connect(peer, greedy, greedyDone);
        final VirtualQp bystander = connect(peer, quiet, quietDone);
        // Nothing of it is posted before the queue pair breaks.
        final VirtualQp last = connect(peer, quiet, quietDone);
        trap.close();
        pair.admission = isGrantingTheSame ?
            Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{43}, pair.served) :
            Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{43}, other);
        offender.begin();
        offender.write(greedyMemory, 0, 8, offender.peerRegions().get(1), 0);
        assertThat(offender.complete(0)).isEqualTo(PostStatus.OK);
        for (int i = 1; i <= 100; i++)
        {
            assertThat(add(offender, i)).isEqualTo(PostStatus.OK);
            assertThat(add(bystander, i)).isEqualTo(PostStatus.OK);
        }
        assertThat(add(last, 101)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> greedyDone.done.size() == 101 && quietDone.done.size() == 101);
        assertThat(last.isFailed()).isNotEqualTo(isGrantingTheSame);
        assertThat(greedyDone.statuses().getFirst()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(greedyDone.statuses().subList(1, 101)).containsOnly(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(offender.isFailed()).isTrue();
        other.close();
    }

    @Test
    void shouldPostNothingMoreOfOneWhoseRequestWasRefused()
    {
        refuseAndReplace(true);
        assertThat(quietDone.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(pair.servedWord(0)).isEqualTo(101);
    }

    @Test
    void shouldPostNothingThatWaitedIfThePeerGrantsItNoLonger()
    {
        refuseAndReplace(false);
        assertThat(quietDone.statuses()).containsOnly(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(pair.servedWord(0)).isZero();
    }

    @Test
    void shouldGoOnWithWhatWaitedOverTheQueuePairThatTakesThePlace()
    {
        open(new RaasConfiguration().replayTimeoutNs(2_000_000_000L), new TenantOptions(), new TenantOptions());
        final MemoryRegion trap = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{42}, pair.served, trap);
        final PeerAddress peer = new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, 2);
        final VirtualQp offender = connect(peer, greedy, greedyDone);
        final VirtualQp bystander = connect(peer, quiet, quietDone);
        trap.close();
        pair.client.gather();
        for (int i = 0; i < 100; i++)
        {
            assertThat(add(bystander, i)).isEqualTo(PostStatus.OK);
        }
        offender.begin();
        offender.write(greedyMemory, 0, 8, offender.peerRegions().get(1), 0);
        assertThat(offender.complete(1)).isEqualTo(PostStatus.OK);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{43}, pair.served);
        pair.runUntil(() -> quietDone.done.size() == 100 && !greedyDone.done.isEmpty());
        assertThat(quietDone.cookies()).isEqualTo(upTo(100));
        assertThat(quietDone.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(greedyDone.statuses()).containsExactly(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(pair.servedWord(0)).isEqualTo(100);
        assertThat(pair.client.replays().queuePairs()).isOne();
        final long before = pair.client.counters().reads;
        readOften(bystander, 20, BLOCK);
        assertThat(pair.client.counters().reads - before).as("the window is what it was").isEqualTo(4);
        pair.runUntil(() -> quietDone.done.size() == 120);
    }

    /** Its first part is done when the queue pair breaks, the next had no effect, the rest is not posted any more. */
    @Test
    void shouldSayThatABatchWasExecutedInPartWhenThePeerGrantsItNoLonger()
    {
        open(new RaasConfiguration().replayTimeoutNs(2_000_000_000L), new TenantOptions(), new TenantOptions());
        final MemoryRegion trap = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
        final MemoryRegion other = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{42}, pair.served, trap);
        final PeerAddress peer = new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, 2);
        final VirtualQp offender = connect(peer, greedy, greedyDone);
        final VirtualQp bystander = connect(peer, quiet, quietDone);
        trap.close();
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{43}, other);
        bystander.begin();
        for (int i = 0; i < 20; i++)
        {
            bystander.write(quietMemory, 0, BLOCK, bystander.peerRegions().get(0), 0);
        }
        assertThat(bystander.complete(1)).isEqualTo(PostStatus.OK);
        offender.begin();
        offender.write(greedyMemory, 0, 8, offender.peerRegions().get(1), 0);
        assertThat(offender.complete(1)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> !quietDone.done.isEmpty() && !greedyDone.done.isEmpty());
        assertThat(greedyDone.statuses()).containsExactly(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(quietDone.statuses()).containsExactly(BatchListener.OUTCOME_UNKNOWN);
        other.close();
    }

    @Test
    void shouldCountWhatATenantDoes()
    {
        open();
        readOften(greedyQp, 2, 100);
        pair.runUntil(() -> greedyDone.done.size() == 2);
        assertThat(greedy.usage()).isEqualTo(
            new TenantUsage("greedy", 1, 1, 2, 2, 200, 0, 0, 0, 0, 0, 1 << 16));
        assertThat(pair.client.tenants().get(1)).isEqualTo(greedy.usage());
        assertThat(quiet.usage().batches()).isZero();
        assertThat(pair.client.usage()).isEqualTo(
            new ContextUsage(2, 1, 0, 0, MessageUsage.NONE, Replays.NONE, pair.client.tenants()));
    }
}
