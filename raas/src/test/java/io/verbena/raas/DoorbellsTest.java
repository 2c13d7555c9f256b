package io.verbena.raas;

import com.sun.management.ThreadMXBean;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** How many doorbells the batches of several virtual queue pairs take, and when they are rung; on {@code soft}. */
class DoorbellsTest
{
    private static final int VIRTUAL_QPS = 40;

    @TempDir
    Path directory;
    private SoftPair pair;
    private MemoryRegion trap;
    private final RecordingListener listener = new RecordingListener();
    private final List<VirtualQp> vqps = new ArrayList<>();
    private RemoteRegion remote;
    private int again;
    private final List<VirtualQp> counted = new ArrayList<>();
    private long completed;

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory, new RaasConfiguration().identity(new PeerIdentity(1, 1)),
            new RaasConfiguration().replayTimeoutNs(2_000_000_000L));
        trap = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{42}, pair.served, trap);
        for (int i = 0; i < VIRTUAL_QPS; i++)
        {
            vqps.add(pair.connect(this::onBatch));
        }
    }

    @AfterEach
    void close()
    {
        trap.close();
        pair.close();
    }

    /** Posts again as often as it was asked for. */
    private void onBatch(final VirtualQp vqp, final int cookie, final int status)
    {
        listener.onBatchComplete(vqp, cookie, status);
        completed++;
        if (again > 0)
        {
            again--;
            assertThat(add(vqp, cookie + 100)).isEqualTo(PostStatus.OK);
        }
    }

    /** Posts again two times out of three, and allocates nothing. */
    private void onCounted(final VirtualQp vqp, final int cookie, final int status)
    {
        completed++;
        if (completed % 3 > 0)
        {
            read(vqp);
        }
    }

    private void read(final VirtualQp vqp)
    {
        vqp.begin();
        vqp.read(pair.local, 0, 8, remote, 0);
        if (vqp.complete(1) != PostStatus.OK)
        {
            throw new AssertionError("not posted");
        }
    }

    private int add(final VirtualQp vqp, final int cookie)
    {
        vqp.begin();
        vqp.fetchAdd(pair.local, 0, pair.remote(), 0, 1);
        return vqp.complete(cookie);
    }

    private void addOnEach(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            assertThat(add(vqps.get(i), i)).isEqualTo(PostStatus.OK);
        }
    }

    private long doorbells()
    {
        return pair.client.counters().doorbells;
    }

    @Test
    void shouldPostASingleBatchAtOnce()
    {
        final long before = doorbells();
        addOnEach(1);
        assertThat(doorbells()).isEqualTo(before + 1);
        assertThat(pair.servedWord(0)).isEqualTo(1);
        pair.client.poll();
        assertThat(listener.cookies()).containsExactly(0);
    }

    @Test
    void shouldPostASingleBatchOfACallbackInTheSamePoll()
    {
        again = 1;
        addOnEach(1);
        final long before = doorbells();
        pair.client.poll();
        assertThat(doorbells()).isEqualTo(before + 1);
        assertThat(pair.servedWord(0)).isEqualTo(2);
        pair.client.poll();
        assertThat(listener.cookies()).containsExactly(0, 100);
    }

    @Test
    void shouldRingOnceForTheBatchesOfAllCallbacksOfAPoll()
    {
        again = SendQueue.MAX_GATHERED - 1;
        addOnEach(SendQueue.MAX_GATHERED - 1);
        final long before = doorbells();
        pair.client.poll();
        assertThat(doorbells()).isEqualTo(before + 1);
        pair.client.poll();
        assertThat(listener.done).hasSize(2 * (SendQueue.MAX_GATHERED - 1));
        assertThat(listener.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(pair.servedWord(0)).isEqualTo(2 * (SendQueue.MAX_GATHERED - 1));
    }

    @Test
    void shouldRingOftenEnoughThatTheFirstDoesNotWaitForMany()
    {
        final long before = doorbells();
        pair.client.gather();
        addOnEach(VIRTUAL_QPS);
        assertThat(doorbells()).isEqualTo(before + VIRTUAL_QPS / SendQueue.MAX_GATHERED);
        pair.client.ring();
        assertThat(doorbells()).isEqualTo(before + VIRTUAL_QPS / SendQueue.MAX_GATHERED + 1);
    }

    @Test
    void shouldGatherWhatIsPostedBetweenGatherAndRing()
    {
        final long before = doorbells();
        pair.client.gather();
        addOnEach(5);
        assertThat(doorbells()).isEqualTo(before);
        assertThat(pair.servedWord(0)).isZero();
        pair.client.ring();
        assertThat(doorbells()).isEqualTo(before + 1);
        assertThat(pair.servedWord(0)).isEqualTo(5);
        addOnEach(1);
        assertThat(doorbells()).isEqualTo(before + 2);
        pair.client.ring();
        assertThat(doorbells()).isEqualTo(before + 2);
    }

    @Test
    void shouldRingWhenPolledAndGatherNoLonger()
    {
        final long before = doorbells();
        pair.client.gather();
        addOnEach(3);
        pair.client.pollCompletions();
        assertThat(listener.cookies()).containsExactly(0, 1, 2);
        addOnEach(1);
        assertThat(doorbells()).isEqualTo(before + 2);
        pair.client.gather();
        addOnEach(3);
        pair.client.poll();
        assertThat(listener.done).hasSize(7);
        assertThat(doorbells()).isEqualTo(before + 3);
    }

    @Test
    void shouldLetACallShareTheDoorbell()
    {
        final long before = doorbells();
        final List<RpcStatus> replies = new ArrayList<>();
        pair.client.gather();
        addOnEach(2);
        pair.client.rpcClient().call(vqps.get(0), 1, new UnsafeBuffer(new byte[8]), 0, 8,
            SoftPair.TIMEOUT_NS, (call, status, payload, offset, length) -> replies.add(status));
        addOnEach(2);
        pair.client.ring();
        assertThat(doorbells()).isEqualTo(before + 1);
        pair.runUntil(() -> !replies.isEmpty());
        assertThat(replies).containsExactly(RpcStatus.OK);
        assertThat(listener.cookies()).containsExactly(0, 1, 0, 1);
    }

    @Test
    void shouldTakeNoSpaceTwice()
    {
        pair.client.gather();
        final int space = vqps.get(0).space();
        int posted = 0;
        while (add(vqps.get(posted % VIRTUAL_QPS), posted) == PostStatus.OK)
        {
            posted++;
        }
        assertThat(posted).isEqualTo(new RaasConfiguration().sendQueueDepth());
        assertThat(space).isLessThanOrEqualTo(posted);
        pair.client.ring();
        pair.runUntil(() -> listener.done.size() == new RaasConfiguration().sendQueueDepth());
        assertThat(pair.servedWord(0)).isEqualTo(posted);
    }

    @Test
    void shouldPostAgainWhatNoDoorbellWasRungForWhenTheQueuePairBreaks()
    {
        trap.close();
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{43}, pair.served);
        final VirtualQp offender = vqps.get(0);
        pair.client.gather();
        assertThat(add(vqps.get(1), 1)).isEqualTo(PostStatus.OK);
        assertThat(add(vqps.get(2), 2)).isEqualTo(PostStatus.OK);
        offender.begin();
        // Behind a refused READ anything may have been executed, if it was posted.
        offender.read(pair.local, 32, Long.BYTES, offender.peerRegions().get(1), 0);
        assertThat(offender.complete(7)).isEqualTo(PostStatus.OK);
        // Their callbacks post again, and in the same round comes the completion in error.
        again = 2;
        pair.runUntil(() -> listener.done.size() == 5);
        assertThat(listener.cookies()).containsExactly(1, 2, 7, 101, 102);
        assertThat(listener.statuses()).containsExactly(WorkCompletionStatus.SUCCESS, WorkCompletionStatus.SUCCESS,
            WorkCompletionStatus.REM_ACCESS_ERR, WorkCompletionStatus.SUCCESS, WorkCompletionStatus.SUCCESS);
        assertThat(pair.servedWord(0)).isEqualTo(4);
        assertThat(vqps.get(1).isReady()).isTrue();
        assertThat(offender.isFailed()).isTrue();
    }

    @Test
    void shouldNotRingFromACallback()
    {
        final List<RuntimeException> thrown = new ArrayList<>();
        final VirtualQp vqp = pair.connect((from, cookie, status) ->
        {
            try
            {
                pair.client.ring();
            }
            catch (final RaasMisuseException ex)
            {
                thrown.add(ex);
            }
        });
        add(vqp, 1);
        pair.client.poll();
        assertThat(thrown).hasSize(1);
        assertThatThrownBy(() ->
        {
            throw thrown.getFirst();
        }).hasMessageContaining("ring() called from a callback");
    }

    @Test
    void shouldAllocateNothingWhenCallbacksPost()
    {
        remote = pair.remote();
        for (int i = 0; i < 4; i++)
        {
            counted.add(pair.connect(this::onCounted));
        }
        postFromCallbacks(20_000);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        final long endNs = System.nanoTime() + SoftPair.TIMEOUT_NS;
        // Until the compilers are done, which have little of a busy machine.
        while (least > 0 && System.nanoTime() - endNs < 0)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            final long overhead = threads.getCurrentThreadAllocatedBytes() - before;
            final long start = threads.getCurrentThreadAllocatedBytes();
            postFromCallbacks(20_000);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - start - overhead);
        }
        assertThat(least).isZero();
    }

    private void postFromCallbacks(final int count)
    {
        final long target = completed + count;
        while (completed < target)
        {
            pair.client.gather();
            for (int i = 0; i < counted.size(); i++)
            {
                read(counted.get(i));
            }
            while (isBusy())
            {
                pair.client.pollCompletions();
            }
        }
    }

    private boolean isBusy()
    {
        for (int i = 0; i < counted.size(); i++)
        {
            if (counted.get(i).outstandingBatches() > 0)
            {
                return true;
            }
        }
        return false;
    }
}
