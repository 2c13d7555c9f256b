package io.verbena.rdma.roce.request;

import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** The queue of answers against a plain one, up to its bound and past each size that its slots had. */
class ReplyQueueTest
{
    private static final int DEPTH = 128;
    private static final int STEPS = 20_000;

    /** What was asked for; addresses count up with the bytes that were sent. */
    private static final class Expected
    {
        final boolean isNew;
        final boolean isRead;
        final int sequence;
        final int packets;
        int sent;

        Expected(final boolean isNew, final boolean isRead, final int sequence, final int packets)
        {
            this.isNew = isNew;
            this.isRead = isRead;
            this.sequence = sequence;
            this.packets = packets;
        }

        long address()
        {
            return isRead ? sequence * 1_000L + sent * 100L : -sequence;
        }
    }

    private final ReplyQueue queue = new ReplyQueue(DEPTH);
    private final ArrayDeque<Expected> expected = new ArrayDeque<>();
    private int sequence;

    @Test
    void shouldKeepOrderAndContentsWhileItGrowsAndWraps()
    {
        final Random random = new Random(7);
        int most = 0;
        for (int step = 0; step < STEPS; step++)
        {
            // Fills and empties in turn, so that each growth finds the oldest somewhere in the middle.
            final boolean isFilling = step / 700 % 2 == 0;
            if (!queue.isFull() && random.nextInt(10) < (isFilling ? 7 : 3))
            {
                add(random);
            }
            else if (!queue.isEmpty())
            {
                answer();
            }
            assertThat(queue.isEmpty()).isEqualTo(expected.isEmpty());
            assertThat(queue.isFull()).isEqualTo(expected.size() == 2 * DEPTH);
            assertThat(queue.newCount()).isEqualTo((int)expected.stream().filter(reply -> reply.isNew).count());
            most = Math.max(most, expected.size());
        }
        assertThat(most).isEqualTo(2 * DEPTH);
    }

    private void add(final Random random)
    {
        final Expected added =
            new Expected(random.nextBoolean(), random.nextInt(4) > 0, ++sequence, 1 + random.nextInt(2));
        if (added.isRead)
        {
            queue.addRead(added.isNew, added.sequence, ~added.sequence, added.packets, added.address(),
                added.sequence + 1, added.packets * 100L);
            expected.add(added);
        }
        else
        {
            queue.addAtomic(added.isNew, added.sequence, ~added.sequence, added.address());
            expected.add(new Expected(added.isNew, false, added.sequence, 1));
        }
    }

    private void answer()
    {
        final Expected oldest = expected.peek();
        assertThat(queue.isNew()).isEqualTo(oldest.isNew);
        assertThat(queue.isRead()).isEqualTo(oldest.isRead);
        assertThat(queue.sequence()).isEqualTo(oldest.sequence + oldest.sent);
        assertThat(queue.messageSequence()).isEqualTo(~oldest.sequence);
        assertThat(queue.isFirst()).isEqualTo(oldest.sent == 0);
        assertThat(queue.isLast()).isEqualTo(oldest.sent + 1 == oldest.packets);
        if (oldest.isRead)
        {
            assertThat(queue.key()).isEqualTo(oldest.sequence + 1);
            assertThat(queue.address()).isEqualTo(oldest.address());
            assertThat(queue.bytesLeft()).isEqualTo((oldest.packets - oldest.sent) * 100L);
        }
        else
        {
            assertThat(queue.original()).isEqualTo(oldest.address());
        }
        queue.advance(oldest.isRead ? 100 : 0);
        if (++oldest.sent == oldest.packets)
        {
            expected.remove();
        }
    }
}
