package io.verbena.raas;

import com.sun.management.ThreadMXBean;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
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

class OpenBatchesTest
{
    private static final int MOST = 4;
    private static final int IDLE_CONNECTIONS = 10_000;

    @TempDir
    Path directory;
    private final RecordingListener listener = new RecordingListener();
    private final List<VirtualQp> vqps = new ArrayList<>();
    private SoftPair pair;

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory, new RaasConfiguration(), new RaasConfiguration().maxOpenBatches(MOST));
        for (int i = 0; i <= MOST; i++)
        {
            vqps.add(pair.connect(listener));
        }
    }

    @AfterEach
    void close()
    {
        pair.close();
    }

    private void add(final VirtualQp vqp, final long offset)
    {
        vqp.fetchAdd(pair.local, offset, pair.remote(), offset, 1 + offset);
    }

    /** Opens as many as can be. */
    private void openAll()
    {
        for (int i = 0; i < MOST; i++)
        {
            vqps.get(i).begin();
        }
        assertThat(pair.client.openBatches()).isEqualTo(MOST);
    }

    @Test
    void shouldKeepBatchesThatAreOpenAtOnceApart()
    {
        openAll();
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < MOST; i++)
            {
                add(vqps.get(i), 64L * i + 8 * round);
            }
        }
        for (int i = MOST - 1; i >= 0; i--)
        {
            assertThat(vqps.get(i).complete(i)).isEqualTo(PostStatus.OK);
        }
        pair.runUntil(() -> listener.done.size() == MOST);
        assertThat(listener.cookies()).containsExactly(3, 2, 1, 0);
        assertThat(listener.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
        for (long offset = 0; offset < 64 * MOST; offset += 8)
        {
            assertThat(pair.servedWord(offset)).as("at %s", offset).isEqualTo(offset % 64 < 24 ? 1 + offset : 0);
        }
        assertThat(pair.client.openBatches()).isZero();
    }

    @Test
    void shouldBeQueueFullAndAllocateNothingWhenAsManyAreOpenAsMayBe()
    {
        openAll();
        final VirtualQp late = vqps.get(MOST);
        assertThat(late.space()).isZero();
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final RemoteRegion remote = pair.remote();
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 20 && least > 0; attempt++)
        {
            final long start = threads.getCurrentThreadAllocatedBytes();
            final long overhead = threads.getCurrentThreadAllocatedBytes() - start;
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 1_000; i++)
            {
                late.begin();
                late.compareSwap(pair.local, 0, remote, 0, 0, 1);
                late.fetchAdd(pair.local, 0, remote, 0, 1);
                late.read(pair.local, 0, 8, remote, 0);
                if (late.complete(i) != PostStatus.QUEUE_FULL)
                {
                    throw new AssertionError("posted");
                }
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before - overhead);
        }
        assertThat(least).as("bytes allocated").isZero();
        assertThat(pair.client.openBatches()).isEqualTo(MOST);
        assertThat(pair.client.counters().verbs()).isZero();

        // A batch refused at begin() stays so: its first requests would be missing.
        late.begin();
        vqps.getFirst().abort();
        add(late, 0);
        assertThat(late.complete(1)).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(late.space()).isEqualTo(64);
        late.begin();
        assertThat(late.space()).isEqualTo(64);
        add(late, 0);
        assertThat(late.space()).isEqualTo(63);
        assertThat(late.complete(2)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> !listener.done.isEmpty());
        assertThat(listener.cookies()).containsExactly(2);
        assertThat(pair.servedWord(0)).isEqualTo(1);
    }

    @Test
    void shouldGiveABatchBackHoweverItEnds()
    {
        final VirtualQp vqp = vqps.getFirst();
        for (int round = 0; round < 2 * MOST; round++)
        {
            vqp.begin();
            assertThatThrownBy(() -> vqp.complete(0)).hasMessageContaining("empty batch");
            vqp.begin();
            add(vqp, 0);
            assertThatThrownBy(() -> vqp.read(pair.local, -1, 8, pair.remote(), 0)).hasMessageContaining("outside");
            vqp.begin();
            add(vqp, 0);
            vqp.abort();
            vqp.abort();
            assertThat(pair.client.openBatches()).as("round %s", round).isZero();
        }
        openAll();
        assertThatThrownBy(vqp::begin).isInstanceOf(RaasMisuseException.class);
        vqps.get(1).close();
        assertThat(pair.client.openBatches()).isEqualTo(MOST - 1);
        vqps.get(1).close();
        assertThat(pair.client.openBatches()).isEqualTo(MOST - 1);
        assertThat(pair.client.counters().verbs()).isZero();
    }

    @Test
    void shouldGiveABatchBackWhenTheQueuePairBrokeMeanwhile()
    {
        openAll();
        final VirtualQp open = vqps.get(1);
        add(open, 0);
        pair.rpcServer.close();
        final VirtualQp last = vqps.getFirst();
        add(last, 0);
        assertThat(last.complete(1)).isEqualTo(PostStatus.OK);
        pair.runUntil(() -> !listener.done.isEmpty());
        assertThat(open.complete(2)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(pair.client.openBatches()).isEqualTo(MOST - 2);
        open.begin();
        assertThat(open.complete(3)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(pair.client.openBatches()).isEqualTo(MOST - 2);
        assertThat(listener.cookies()).containsExactly(1);
    }

    @Test
    void shouldConnectTenThousandTimesWithDefaults()
    {
        for (int i = 0; i < IDLE_CONNECTIONS; i++)
        {
            vqps.add(pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS));
        }
        assertThat(vqps).allMatch(VirtualQp::isReady).extracting(VirtualQp::number).doesNotHaveDuplicates();
        for (final VirtualQp vqp : vqps)
        {
            pair.runUntil(() -> vqp.space() > 0);
            vqp.begin();
            add(vqp, 0);
            assertThat(vqp.complete(7)).isEqualTo(PostStatus.OK);
        }
        pair.runUntil(() -> listener.done.size() == vqps.size());
        assertThat(pair.servedWord(0)).isEqualTo(vqps.size());
        assertThat(listener.done).extracting(RecordingListener.Done::vqpNumber).doesNotHaveDuplicates();
        assertThat(pair.client.usage().queuePairs()).isEqualTo(1);
        // Numbers are given again, and none twice.
        vqps.subList(0, IDLE_CONNECTIONS / 2).forEach(VirtualQp::close);
        for (int i = 0; i < IDLE_CONNECTIONS / 2; i++)
        {
            vqps.set(i, pair.client.connect(pair.peer(), listener, SoftPair.TIMEOUT_NS));
        }
        assertThat(vqps).extracting(vqp -> vqp.number() & 0xFFFF).doesNotHaveDuplicates()
            .allMatch(index -> index > 0 && index <= vqps.size());
    }
}
