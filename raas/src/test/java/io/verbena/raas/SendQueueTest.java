package io.verbena.raas;

import io.verbena.raas.batch.BatchPool;
import io.verbena.raas.batch.Doorbells;
import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.completion.RequestId;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What a send queue does when its queue pair takes nothing. */
class SendQueueTest
{
    private final Doorbells doorbells = new Doorbells();
    private final BatchPool batches = new BatchPool(8, 8);
    private final List<String> calls = new ArrayList<>();
    private int status = PostStatus.OK;
    private int refusals;
    private SendQueue queue;

    @BeforeEach
    void open()
    {
        final QueuePair queuePair = (QueuePair)Proxy.newProxyInstance(
            QueuePair.class.getClassLoader(), new Class<?>[]{QueuePair.class}, (proxy, method, arguments) ->
            {
                calls.add(method.getName());
                return "complete".equals(method.getName()) ? (Object)status : null;
            });
        queue = new SendQueue(
            doorbells, batches, null, new SendQueue.Limits(32, 2, 16_384, 16), () -> refusals++);
        queue.queuePair(queuePair);
        queue.open(true);
    }

    private int post(final int cookie)
    {
        final int number = batches.lend();
        final StagedBatch batch = batches.batch(number);
        batch.add(StagedBatch.READ, 0, 0, 8, 0, 0, 0);
        final int posted = queue.postBatch(null, batch, BatchPool.NONE, RequestId.encode(7, cookie));
        batches.giveBack(number);
        return posted;
    }

    @Test
    void shouldSayAtOnceThatABrokenQueuePairTookNothing()
    {
        status = PostStatus.INVALID_STATE;
        assertThat(post(1)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(queue.outstanding().isEmpty()).isTrue();
        assertThat(queue.dataSpace()).isEqualTo(32);
        doorbells.ring();
        assertThat(refusals).isZero();
    }

    @Test
    void shouldReportABrokenQueuePairThatTookNothingOfWhatWasGathered()
    {
        doorbells.gather();
        assertThat(post(1)).isEqualTo(PostStatus.OK);
        assertThat(post(2)).isEqualTo(PostStatus.OK);
        assertThat(queue.gathered()).isEqualTo(2);
        status = PostStatus.INVALID_STATE;
        doorbells.ring();
        assertThat(refusals).isOne();
        assertThat(queue.gathered()).isEqualTo(2);
        assertThat(calls).containsExactly("begin", "read", "read", "complete");
    }

    @Test
    void shouldLeaveTheCauseToTheCompletionOfWhatWasPostedBefore()
    {
        assertThat(post(1)).isEqualTo(PostStatus.OK);
        doorbells.gather();
        assertThat(post(2)).isEqualTo(PostStatus.OK);
        status = PostStatus.INVALID_STATE;
        doorbells.ring();
        assertThat(refusals).isZero();
        assertThat(queue.gathered()).isOne();
        assertThat(queue.outstanding().size()).isEqualTo(2);
    }

    @Test
    void shouldReportWhatWasGatheredBeforeABatchThatWasRefused()
    {
        doorbells.gather();
        assertThat(post(1)).isEqualTo(PostStatus.OK);
        doorbells.ring();
        doorbells.gather();
        queue.removeOldest();
        assertThat(post(2)).isEqualTo(PostStatus.OK);
        doorbells.ring();
        assertThat(refusals).isZero();

        calls.clear();
        doorbells.gather();
        for (int i = 1; i < SendQueue.MAX_GATHERED; i++)
        {
            assertThat(post(2 + i)).isEqualTo(PostStatus.OK);
        }
        status = PostStatus.INVALID_STATE;
        assertThat(post(99)).isEqualTo(PostStatus.INVALID_STATE);
        queue.removeOldest();
        doorbells.ring();
        assertThat(refusals).isOne();
        assertThat(calls.stream().filter("complete"::equals)).hasSize(1);
        assertThat(queue.gathered()).isEqualTo(SendQueue.MAX_GATHERED - 1);
    }

    @Test
    void shouldPostNothingOnceItsQueuePairIsClosed()
    {
        doorbells.gather();
        assertThat(post(1)).isEqualTo(PostStatus.OK);
        queue.stop();
        doorbells.ring();
        assertThat(calls).containsExactly("begin", "read");
        assertThat(refusals).isZero();
    }
}
