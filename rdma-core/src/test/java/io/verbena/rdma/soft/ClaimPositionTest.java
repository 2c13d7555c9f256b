package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.ClaimWord;
import io.verbena.rdma.soft.shared.CompletionInbox;
import io.verbena.rdma.soft.shared.DirectReceive;
import io.verbena.rdma.soft.shared.ReceiveRing;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Rings whose positions pass 2^36, beyond which a claim word has no bits. */
@Timeout(60)
class ClaimPositionTest
{
    private static final long LIMIT = 1L << 36;
    private static final int CAPACITY = 4;
    private static final int VISITOR = 5;

    private SoftFabric fabric;
    private Device device;
    private SoftDevice soft;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
        device = fabric.openDevice("d");
        soft = (SoftDevice)device;
    }

    @AfterEach
    void tearDown()
    {
        device.close();
        fabric.close();
    }

    private SoftReceiveQueue receives(final long firstPosition)
    {
        return new SoftReceiveQueue(soft.host().file(), soft.host().rings(), CAPACITY, firstPosition);
    }

    @Test
    void shouldTellLapsApartAroundTheLimit()
    {
        for (long position = LIMIT - 3; position < LIMIT + 3; position++)
        {
            final long word = ClaimWord.claimed(position, VISITOR, 7);
            assertThat(ClaimWord.isAt(word, position)).isTrue();
            assertThat(ClaimWord.isAt(word, position + CAPACITY)).isFalse();
            assertThat(ClaimWord.isBefore(word, position)).isFalse();
            assertThat(ClaimWord.isBefore(word, position + CAPACITY)).isTrue();
            assertThat(ClaimWord.isBefore(word, position - CAPACITY)).isFalse();
            assertThat(ClaimWord.visitor(word)).isEqualTo(VISITOR);
            assertThat(ClaimWord.queuePairIndex(word)).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {LIMIT - 1, LIMIT - 2, LIMIT - CAPACITY, LIMIT - 2 * CAPACITY - 1, 2 * LIMIT - 3})
    void shouldClaimReceivesInOrder(final long firstPosition)
    {
        final SoftReceiveQueue queue = receives(firstPosition);
        long posted = 0;
        long claimed = 0;
        for (int round = 0; round < 4 * CAPACITY; round++)
        {
            for (int i = round % 3; i < CAPACITY && queue.offer(posted, 0, 0, 0); i++)
            {
                posted++;
            }
            for (long slot = ReceiveRing.claim(queue.ring(), VISITOR, 1); slot != 0;)
            {
                assertThat(SharedWords.getLong(slot + ReceiveRing.WR_ID_OFFSET)).isEqualTo(claimed++);
                assertThat(queue.hasClaimOf(VISITOR)).isTrue();
                queue.release(slot - queue.ring());
                slot = ReceiveRing.claim(queue.ring(), VISITOR, 1);
            }
            assertThat(claimed).isEqualTo(posted);
        }
        assertThat(posted).isGreaterThan(2 * CAPACITY);
        queue.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {LIMIT - 1, LIMIT - 2, LIMIT - CAPACITY, LIMIT - 2 * CAPACITY - 1, 2 * LIMIT - 3})
    void shouldCompleteReceivesInTheirSlots(final long firstPosition)
    {
        final SoftReceiveQueue queue = receives(firstPosition);
        final WorkRequest request = new WorkRequest();
        final WorkCompletions batch = new WorkCompletions(CAPACITY);
        long posted = 0;
        long taken = 0;
        for (int round = 0; round < 4 * CAPACITY; round++)
        {
            for (int i = round % 3; i < CAPACITY && queue.offer(posted, 0, 0, 0); i++)
            {
                posted++;
            }
            for (long slot = DirectReceive.next(queue.ring()); slot != 0; slot = DirectReceive.next(queue.ring()))
            {
                DirectReceive.complete(
                    queue.ring(), slot, request, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECV, 1);
            }
            final int count = queue.drain(batch, 0, 1);
            for (int i = 0; i < count; i++)
            {
                assertThat(batch.wrId(i)).isEqualTo(taken++);
            }
            assertThat(taken).isEqualTo(posted);
            assertThat(queue.hasCompletion()).isFalse();
        }
        queue.close();
    }

    /** A requester died with its head left behind, and the slots went on beyond the limit. */
    @Test
    void shouldMoveHeadThatWasLeftBehindTheLimit()
    {
        final SoftReceiveQueue queue = receives(LIMIT - 2);
        for (int i = 0; i < 2 * CAPACITY; i++)
        {
            assertThat(queue.offer(i, 0, 0, 0)).isTrue();
            queue.release(ReceiveRing.claim(queue.ring(), VISITOR, 1) - queue.ring());
        }
        assertThat(queue.offer(99, 0, 0, 0)).isTrue();
        SharedWords.putLong(queue.ring() + ReceiveRing.HEAD_OFFSET, LIMIT - 2);
        assertThat(ReceiveRing.oldest(queue.ring())).isEqualTo(LIMIT - 2 + 2 * CAPACITY);
        queue.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {LIMIT - 1, LIMIT - 2, LIMIT - CAPACITY, LIMIT - 2 * CAPACITY - 1})
    void shouldTakeCompletionsInOrder(final long firstPosition)
    {
        final SoftCompletionQueue queue = new SoftCompletionQueue(
            soft.host(), CAPACITY, null, closed -> soft.host().childClosed(), firstPosition);
        final Endpoint here = new Endpoint(device);
        final QueuePair queuePair = here.domain.createQueuePair(queue, queue, Endpoint.CAPABILITIES);
        final SoftReceiveQueue receives = ((SoftQueuePair)queuePair).receives();
        final long inbox = soft.host().file().base() + queue.inboxOffset();
        final WorkCompletions batch = new WorkCompletions(CAPACITY);
        long taken = 0;
        for (int i = 0; i < 4 * CAPACITY; i++)
        {
            final long slow = complete(inbox, receives, queuePair, 2 * i);
            final long fast = complete(inbox, receives, queuePair, 2 * i + 1);
            CompletionInbox.publish(fast);
            assertThat(queue.poll(batch)).isZero();
            CompletionInbox.publish(slow);
            assertThat(queue.poll(batch)).isEqualTo(2);
            assertThat(batch.wrId(0)).isEqualTo(taken++);
            assertThat(batch.wrId(1)).isEqualTo(taken++);
        }
        queuePair.close();
        here.close();
    }

    private static long complete(
        final long inbox, final SoftReceiveQueue receives, final QueuePair queuePair, final long wrId)
    {
        assertThat(receives.offer(wrId, 0, 0, 0)).isTrue();
        final long receive = receives.claimForFlush(0);
        final long slot = CompletionInbox.claim(inbox, CompletionInbox.limit(inbox), VISITOR, 1);
        assertThat(slot).isPositive();
        SharedWords.putLong(slot + CompletionInbox.WR_ID_OFFSET, wrId);
        SharedWords.putInt(slot + CompletionInbox.QUEUE_PAIR_OFFSET, queuePair.number());
        SharedWords.putLong(slot + CompletionInbox.RECEIVE_OFFSET, receive - receives.ring());
        return slot;
    }
}
