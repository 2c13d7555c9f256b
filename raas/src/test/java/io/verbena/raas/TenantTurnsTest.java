package io.verbena.raas;

import com.sun.management.ThreadMXBean;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Tenants that share a queue pair: whose turn it is, and what is in whose way. */
class TenantTurnsTest extends TenantFixture
{
    @Test
    void shouldPostNoMoreThanTheWindowSoThatAnotherTenantIsNext()
    {
        open();
        readOften(greedyQp, 100, BLOCK);
        assertThat(pair.client.counters().reads).isEqualTo(4);
        assertThat(read(quietQp, 1, 8)).isEqualTo(PostStatus.OK);
        assertThat(pair.client.counters().reads).isEqualTo(4);
        pair.client.poll();
        assertThat(quietDone.done).isEmpty();
        pair.client.poll();
        assertThat(quietDone.statuses()).containsExactly(WorkCompletionStatus.SUCCESS);
        assertThat(greedyDone.done).hasSizeLessThan(9);
        pair.runUntil(() -> greedyDone.done.size() == 100);
        assertThat(greedyDone.cookies()).isEqualTo(upTo(100));
        assertThat(greedy.usage().waitedBatches()).isEqualTo(96);
        assertThat(quiet.usage().waitedBatches()).isOne();
    }

    @Test
    void shouldPostAllAtOnceWhereATenantHasTheQueuePairForItself()
    {
        open();
        final VirtualQp alone = pair.client.connect(new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, 2),
            greedyDone, SoftPair.TIMEOUT_NS);
        pair.runUntil(alone::isReady);
        final MemoryRegion own = pair.local;
        final long before = pair.client.counters().reads;
        for (int i = 0; i < 100; i++)
        {
            alone.begin();
            alone.read(own, 0, BLOCK, pair.remote(), 0);
            assertThat(alone.complete(i)).isEqualTo(PostStatus.OK);
        }
        assertThat(pair.client.counters().reads - before).isEqualTo(100);
        pair.runUntil(() -> greedyDone.done.size() == 100);
    }

    @Test
    void shouldGiveEachItsPartByWeight()
    {
        open(new RaasConfiguration(), new TenantOptions(), new TenantOptions().weight(3));
        readOften(greedyQp, 120, BLOCK);
        readOften(quietQp, 120, BLOCK);
        pair.runUntil(() -> quietDone.done.size() >= 90);
        assertThat(greedyDone.done).hasSizeBetween(30, 35);
        pair.runUntil(() -> greedyDone.done.size() == 120);
        assertThat(quietDone.cookies()).isEqualTo(upTo(120));
    }

    @Test
    void shouldCountBytesAndNotRequests()
    {
        open();
        readOften(greedyQp, 100, 4 * 4096 - ChannelScheduler.REQUEST_COST_BYTES);
        readOften(quietQp, 100, BLOCK);
        pair.runUntil(() -> quietDone.done.size() >= 80);
        assertThat(greedyDone.done).hasSizeBetween(17, 23);
        pair.runUntil(() -> greedyDone.done.size() == 100);
    }

    @Test
    void shouldPostARequestThatIsLongerThanWindowAndTurn()
    {
        open();
        readOften(greedyQp, 4, 1 << 16);
        readOften(quietQp, 4, 1 << 15);
        pair.runUntil(() -> greedyDone.done.size() == 4 && quietDone.done.size() == 4);
        assertThat(greedyDone.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldPostABatchInPartsAndCallBackOnce()
    {
        open();
        greedyQp.begin();
        for (int i = 0; i < 40; i++)
        {
            greedyQp.fetchAdd(greedyMemory, 8 * i, pair.remote(), 0, 1);
        }
        assertThat(greedyQp.complete(5)).isEqualTo(PostStatus.OK);
        assertThat(add(greedyQp, 6)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> greedyDone.done.size() == 2);
        assertThat(greedyDone.cookies()).containsExactly(5, 6);
        assertThat(pair.servedWord(0)).isEqualTo(41);
        for (int i = 1; i < 40; i++)
        {
            assertThat(greedyMemory.segment().get(ValueLayout.JAVA_LONG, 8L * i)).isEqualTo(i);
        }
    }

    @Test
    void shouldKeepReadsThatWouldStallEverybodyFromTheQueuePair()
    {
        open(new RaasConfiguration().maxReadAtomic(3), new TenantOptions(), new TenantOptions());
        readOften(greedyQp, 20, 8);
        assertThat(pair.client.counters().reads).isEqualTo(3);
        quietQp.begin();
        quietQp.write(quietMemory, 64, 8, pair.remote(), 64);
        assertThat(quietQp.complete(1)).isEqualTo(PostStatus.OK);
        assertThat(pair.client.counters().writes).isOne();
        assertThat(read(quietQp, 2, 8)).isEqualTo(PostStatus.OK);
        assertThat(pair.client.counters().reads).isEqualTo(3);
        pair.runUntil(() -> greedyDone.done.size() == 20 && quietDone.done.size() == 2);
        assertThat(greedyDone.cookies()).isEqualTo(upTo(20));
    }

    @Test
    void shouldGiveEachItsPartWhereThePlacesForReadsAreWhatIsShort()
    {
        open(new RaasConfiguration().maxReadAtomic(1), new TenantOptions(), new TenantOptions().weight(3));
        readOften(greedyQp, 120, BLOCK);
        readOften(quietQp, 120, BLOCK);
        pair.runUntil(() -> quietDone.done.size() >= 90);
        assertThat(greedyDone.done).hasSizeBetween(28, 35);
        pair.runUntil(() -> greedyDone.done.size() == 120);
    }

    @Test
    void shouldNotSaveUpTurnsInWhichATenantWantedNothing()
    {
        open();
        readOften(greedyQp, 250, BLOCK);
        for (int i = 1; i <= 15; i++)
        {
            final int count = i;
            assertThat(read(quietQp, i, 8)).isEqualTo(PostStatus.OK);
            pair.runUntil(() -> quietDone.done.size() == count);
        }
        final int before = greedyDone.done.size();
        readOften(quietQp, 30, BLOCK);
        pair.runUntil(() -> quietDone.done.size() >= 35);
        assertThat(greedyDone.done.size() - before).isBetween(15, 27);
    }

    @Test
    void shouldNotSaveUpTurnsInWhichATenantWaitedForItself()
    {
        open(new RaasConfiguration(), new TenantOptions(), new TenantOptions().readDepth(1).queueSlots(100));
        readOften(greedyQp, 250, BLOCK);
        readOften(quietQp, 20, 8);
        for (int i = 0; i < 40; i++)
        {
            quietQp.begin();
            quietQp.write(quietMemory, 0, BLOCK, pair.remote(), 0);
            assertThat(quietQp.complete(i)).isEqualTo(PostStatus.OK);
        }
        pair.runUntil(() -> quietDone.done.size() >= 20);
        final int before = greedyDone.done.size();
        pair.runUntil(() -> quietDone.done.size() >= 40);
        assertThat(greedyDone.done.size() - before).isBetween(14, 28);
    }

    @Test
    void shouldLimitTheReadDepthOfATenantEvenAlone()
    {
        open(new RaasConfiguration(), new TenantOptions().readDepth(2), new TenantOptions());
        readOften(greedyQp, 5, 8);
        assertThat(pair.client.counters().reads).isEqualTo(2);
        assertThat(read(quietQp, 1, 8)).isEqualTo(PostStatus.OK);
        assertThat(pair.client.counters().reads).isEqualTo(3);
        pair.runUntil(() -> greedyDone.done.size() == 5);
    }

    @Test
    void shouldWaitForAFenceInSoftwareAndLetOthersGoOn()
    {
        open();
        pair.servedWord(0, 7);
        greedyQp.begin();
        greedyQp.read(greedyMemory, 0, 8, pair.remote(), 0);
        greedyQp.fenceNext();
        greedyQp.write(greedyMemory, 0, 8, pair.remote(), 8);
        assertThat(greedyQp.complete(1)).isEqualTo(PostStatus.OK);
        assertThat(pair.client.counters().writes).isZero();
        assertThat(greedy.usage().waitedBatches()).isOne();
        quietQp.begin();
        quietQp.write(quietMemory, 64, 8, pair.remote(), 64);
        assertThat(quietQp.complete(1)).isEqualTo(PostStatus.OK);
        assertThat(pair.client.counters().writes).isOne();
        pair.runUntil(() -> !greedyDone.done.isEmpty());
        assertThat(pair.servedWord(8)).isEqualTo(7);
        assertThat(greedyDone.statuses()).containsExactly(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldCallSoManyListenersInOnePollAndTakeTurns()
    {
        final List<String> called = new ArrayList<>();
        open(new RaasConfiguration().sharedWindowBytes(1 << 20).sendQueueDepth(1024).completionQueueCapacity(8192),
            new TenantOptions(), new TenantOptions());
        final VirtualQp first = connect(greedy, (vqp, cookie, status) -> called.add("greedy"));
        final VirtualQp second = connect(quiet, (vqp, cookie, status) -> called.add("quiet"));
        readOften(first, 300, 8);
        readOften(second, 3, 8);
        pair.client.poll();
        assertThat(called).hasSize(Tenants.CALLBACKS_PER_POLL);
        assertThat(called.subList(0, 3 + Tenants.CALLBACKS_PER_TURN)).contains("quiet", "greedy");
        assertThat(called.stream().filter("quiet"::equals)).hasSize(3);
        pair.client.poll();
        assertThat(called).hasSize(303);
    }

    @Test
    void shouldCallOthersWhenAListenerThrows()
    {
        open(new RaasConfiguration().errorHandler(error ->
        {
            // counted by who is called
        }), new TenantOptions(), new TenantOptions());
        final VirtualQp failing = connect(greedy, (vqp, cookie, status) ->
        {
            greedyDone.onBatchComplete(vqp, cookie, status);
            throw new IllegalStateException("listener failed");
        });
        readOften(failing, 3, 8);
        readOften(quietQp, 3, 8);
        pair.runUntil(() -> greedyDone.done.size() == 3 && quietDone.done.size() == 3);
    }

    @Test
    void shouldPostWhatWaitsOfAVirtualQpThatWasClosed()
    {
        open();
        for (int i = 0; i < 100; i++)
        {
            assertThat(add(greedyQp, i)).isEqualTo(PostStatus.OK);
        }
        greedyQp.close();
        assertThat(greedy.usage().virtualQps()).isZero();
        pair.runUntil(() -> pair.servedWord(0) == 100);
        pair.poll(3);
        assertThat(greedyDone.done).isEmpty();
        assertThat(pair.client.swallowedCompletions()).isEqualTo(100);
        assertThat(greedyQp.outstandingBatches()).isZero();
    }

    @Test
    void shouldAllocateNothingWhenTenantsShare()
    {
        open();
        final long[] done = {0};
        final BatchListener counting = (vqp, cookie, status) -> done[0]++;
        final VirtualQp first = connect(greedy, counting);
        final VirtualQp second = connect(quiet, counting);
        final RemoteRegion remote = pair.remote();
        run(first, second, remote, done, 20_000);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && least > 0; attempt++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            final long overhead = threads.getCurrentThreadAllocatedBytes() - before;
            final long start = threads.getCurrentThreadAllocatedBytes();
            run(first, second, remote, done, 20_000);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - start - overhead);
        }
        assertThat(least).isZero();
    }

    private void run(
        final VirtualQp first, final VirtualQp second, final RemoteRegion remote, final long[] done, final int count)
    {
        final long target = done[0] + count;
        for (int posted = 0; posted < count; posted++)
        {
            final VirtualQp vqp = posted % 3 == 0 ? first : second;
            while (vqp.space() < 3)
            {
                pair.client.poll();
            }
            final MemoryRegion memory = vqp == first ? greedyMemory : quietMemory;
            vqp.begin();
            vqp.read(memory, 0, 1024, remote, 0);
            vqp.fenceNext();
            vqp.write(memory, 0, 1024, remote, 1024);
            vqp.fetchAdd(memory, 2048, remote, 4096, 1);
            if (vqp.complete(1) != PostStatus.OK)
            {
                throw new AssertionError("not posted");
            }
        }
        while (done[0] < target)
        {
            pair.client.poll();
        }
    }
}
