package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.DirectReceive;
import io.verbena.rdma.soft.shared.ReceiveRing;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Completions that are left in the slots of receives, and the change from there to the completion queue's inbox. */
@Timeout(60)
class SoftDirectReceiveTest
{
    /** As many as one queue pair can have there. */
    private static final int CAPACITY =
        Endpoint.CAPABILITIES.maxSendRequests() + Endpoint.CAPABILITIES.maxReceiveRequests();

    private SoftFabric fabric;
    private Device a;
    private Device b;
    private Endpoint sender;
    private Endpoint receiver;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
        a = fabric.openDevice("a");
        b = fabric.openDevice("b");
        sender = new Endpoint(a);
        receiver = new Endpoint(b, AccessFlags.ALL_REMOTE, CAPACITY, Endpoint.CAPABILITIES);
        SoftConnections.connect(sender, receiver);
    }

    @AfterEach
    void tearDown()
    {
        sender.close();
        receiver.close();
        a.close();
        b.close();
        fabric.close();
    }

    private void post(final int firstWrId, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            assertThat(receiver.queuePair.postReceive(
                firstWrId + i, receiver.address(0), Long.BYTES, receiver.key())).isEqualTo(PostStatus.OK);
        }
    }

    private void send(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            send(sender.queuePair);
        }
    }

    private void send(final QueuePair source)
    {
        source.begin();
        source.send(0, SendFlags.SIGNALED, sender.address(0), Long.BYTES, sender.key());
        assertThat(source.complete()).isEqualTo(PostStatus.OK);
        SoftConnections.awaitSuccess(sender, new WorkCompletions(1));
    }

    private List<Long> poll(final int batch)
    {
        final WorkCompletions completions = new WorkCompletions(batch);
        final List<Long> wrIds = new ArrayList<>();
        for (int count = receiver.completions.poll(completions); count > 0;)
        {
            for (int i = 0; i < count; i++)
            {
                wrIds.add(completions.wrId(i));
            }
            count = receiver.completions.poll(completions);
        }
        return wrIds;
    }

    private SoftReceiveQueue receives()
    {
        return ((SoftQueuePair)receiver.queuePair).receives();
    }

    private boolean isDirect()
    {
        return DirectReceive.isDirect(receives().ring());
    }

    @Test
    void shouldCompleteInSlots()
    {
        post(1, 3);
        send(2);
        assertThat(isDirect()).isTrue();
        assertThat(receives().hasCompletion()).isTrue();
        assertThat(poll(1)).containsExactly(1L, 2L);
        assertThat(receives().hasCompletion()).isFalse();
    }

    @Test
    void shouldKeepOrderWhenCompletionQueueBecomesTooSmallForSlots()
    {
        post(1, 16);
        send(2);
        final QueuePair other =
            receiver.domain.createQueuePair(receiver.completions, receiver.completions, Endpoint.CAPABILITIES);
        assertThat(isDirect()).isFalse();
        send(2);
        assertThat(poll(1)).containsExactly(1L, 2L, 3L, 4L);
        send(2);
        assertThat(poll(16)).containsExactly(5L, 6L);
        post(17, 6);
        send(16);
        assertThat(poll(3)).hasSize(16).isSorted().startsWith(7L);
        other.close();
    }

    /** Requests that saw the slots complete there while the owner looks on: the inbox's are younger. */
    @Test
    void shouldNotTakeFromInboxWhatIsYoungerThanTheSlots()
    {
        post(1, 16);
        final QueuePair other =
            receiver.domain.createQueuePair(receiver.completions, receiver.completions, Endpoint.CAPABILITIES);
        final QueuePair source =
            sender.domain.createQueuePair(sender.completions, sender.completions, Endpoint.CAPABILITIES);
        SoftConnections.connect(sender, source, receiver, other);
        assertThat(other.postReceive(100, receiver.address(0), Long.BYTES, receiver.key())).isEqualTo(PostStatus.OK);
        send(source);
        ((SoftCompletionQueue)receiver.completions).beforeInbox = () ->
        {
            ((SoftCompletionQueue)receiver.completions).beforeInbox = null;
            receives().direct(true);
            send(1);
            receives().direct(false);
            send(1);
        };
        assertThat(poll(16)).containsExactly(100L, 1L, 2L);
        source.close();
        other.close();
    }

    @Test
    void shouldUseInboxAndOverrunWhenQueueIsTooSmall()
    {
        final Endpoint small = new Endpoint(b, AccessFlags.ALL_REMOTE, 4, Endpoint.CAPABILITIES);
        final QueuePair source =
            sender.domain.createQueuePair(sender.completions, sender.completions, Endpoint.CAPABILITIES);
        SoftConnections.connect(sender, source, small, small.queuePair);
        for (int i = 0; i < 5; i++)
        {
            assertThat(small.queuePair.postReceive(i, small.address(0), Long.BYTES, small.key()))
                .isEqualTo(PostStatus.OK);
            send(source);
        }
        assertThat(small.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.pollAsyncEvent().type()).isEqualTo(AsyncEventType.CQ_ERR);
        source.close();
        small.close();
    }

    /** A requester that dies between completing and moving the head leaves it behind, for a lap or more. */
    @Test
    void shouldMoveHeadThatWasLeftBehind()
    {
        final long ring = receives().ring();
        post(1, 16);
        final long head = SharedWords.getLong(ring + ReceiveRing.HEAD_OFFSET);
        send(4);
        SharedWords.putLong(ring + ReceiveRing.HEAD_OFFSET, head);
        assertThat(ReceiveRing.oldest(ring)).isEqualTo(head + 4);
        assertThat(poll(4)).containsExactly(1L, 2L, 3L, 4L);
        post(17, 4);
        SharedWords.putLong(ring + ReceiveRing.HEAD_OFFSET, head);
        assertThat(ReceiveRing.oldest(ring)).isEqualTo(head + 4);
    }

    /** A requester that dies before the slot's word says so has taken nothing: the receive is flushed, once. */
    @Test
    void shouldFlushWhatWasNotCompleted()
    {
        post(1, 3);
        send(1);
        final long slot = DirectReceive.next(receives().ring());
        SharedWords.putInt(slot + ReceiveRing.BYTE_LENGTH_OFFSET, 4711);
        ((SoftQueuePair)receiver.queuePair).moveToError();
        final WorkCompletions completions = new WorkCompletions(16);
        assertThat(receiver.completions.poll(completions)).isEqualTo(3);
        assertThat(completions.wrId(0)).isEqualTo(1);
        assertThat(completions.status(0)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(completions.wrId(1)).isEqualTo(2);
        assertThat(completions.status(1)).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(completions.wrId(2)).isEqualTo(3);
        assertThat(receiver.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }
}
