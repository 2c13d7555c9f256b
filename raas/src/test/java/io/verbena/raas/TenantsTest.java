package io.verbena.raas;

import com.sun.management.ThreadMXBean;
import io.verbena.raas.limit.RaasLimitException;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tenants that share a queue pair: whose turn it is, what is in whose way, and what their quotas refuse. */
class TenantsTest
{
    private static final int BLOCK = 4096 - ChannelScheduler.REQUEST_COST_BYTES;

    @TempDir
    Path directory;
    private SoftPair pair;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final RecordingListener greedyDone = new RecordingListener();
    private final RecordingListener quietDone = new RecordingListener();
    private Tenant greedy;
    private Tenant quiet;
    private VirtualQp greedyQp;
    private VirtualQp quietQp;
    private MemoryRegion greedyMemory;
    private MemoryRegion quietMemory;

    private void open(
        final RaasConfiguration forClient, final TenantOptions forGreedy, final TenantOptions forQuiet)
    {
        pair = new SoftPair(directory, new RaasConfiguration().identity(new PeerIdentity(1, 1)), forClient);
        greedy = pair.client.tenant("greedy", forGreedy);
        quiet = pair.client.tenant("quiet", forQuiet);
        greedyMemory = memory(greedy);
        quietMemory = memory(quiet);
        greedyQp = connect(greedy, greedyDone);
        quietQp = connect(quiet, quietDone);
    }

    private void open()
    {
        open(new RaasConfiguration(), new TenantOptions(), new TenantOptions());
    }

    private MemoryRegion memory(final Tenant tenant)
    {
        final MemoryRegion region = tenant.protectionDomain().allocateRegistered(1 << 16, AccessFlags.LOCAL_WRITE);
        regions.add(region);
        return region;
    }

    private VirtualQp connect(final Tenant tenant, final BatchListener listener)
    {
        final VirtualQp vqp = pair.client.connect(
            tenant, pair.peer(), ReadTargetAddress.NONE, RemoteRegion.NONE, listener, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
        return vqp;
    }

    @AfterEach
    void close()
    {
        regions.forEach(MemoryRegion::close);
        pair.close();
    }

    private int read(final VirtualQp vqp, final int cookie, final int lengthBytes)
    {
        vqp.begin();
        vqp.read(vqp.tenant() == quiet ? quietMemory : greedyMemory, 0, lengthBytes, pair.remote(), 0);
        return vqp.complete(cookie);
    }

    private int add(final VirtualQp vqp, final int cookie)
    {
        vqp.begin();
        vqp.fetchAdd(vqp.tenant() == quiet ? quietMemory : greedyMemory, 0, pair.remote(), 0, 1);
        return vqp.complete(cookie);
    }

    private void readOften(final VirtualQp vqp, final int count, final int lengthBytes)
    {
        for (int i = 0; i < count; i++)
        {
            assertThat(read(vqp, i, lengthBytes)).isEqualTo(PostStatus.OK);
        }
    }

    private static List<Integer> upTo(final int count)
    {
        return IntStream.range(0, count).boxed().toList();
    }

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
    void shouldGoOnWithWhatWaitedOverTheQueuePairThatTakesThePlace()
    {
        open(new RaasConfiguration().replayTimeoutNs(2_000_000_000L), new TenantOptions(), new TenantOptions());
        final MemoryRegion trap = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{42}, pair.served, trap);
        final VirtualQp offender = pair.client.connect(greedy,
            new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, 2), ReadTargetAddress.NONE,
            RemoteRegion.NONE, greedyDone, SoftPair.TIMEOUT_NS);
        final VirtualQp bystander = pair.client.connect(quiet,
            new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, 2), ReadTargetAddress.NONE,
            RemoteRegion.NONE, quietDone, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> offender.isReady() && bystander.isReady());
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
    void shouldCountWhatATenantDoes()
    {
        open();
        readOften(greedyQp, 2, 100);
        pair.runUntil(() -> greedyDone.done.size() == 2);
        assertThat(greedy.usage()).isEqualTo(
            new TenantUsage("greedy", 1, 1, 2, 2, 200, 0, 0, 0, 0, 0, 1 << 16));
        assertThat(pair.client.tenants().get(1)).isEqualTo(greedy.usage());
        assertThat(quiet.usage().batches()).isZero();
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
