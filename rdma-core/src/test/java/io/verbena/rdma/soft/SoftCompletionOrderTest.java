package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.CompletionInbox;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Producers of a completion queue that are slow between claiming a slot and filling it. */
class SoftCompletionOrderTest
{
    private static final int SLOW = 5;

    private final WorkCompletions batch = new WorkCompletions(16);
    private SoftFabric fabric;
    private Device device;
    private Endpoint here;
    private QueuePair other;
    private SoftCompletionQueue queue;
    private long inbox;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
        device = fabric.openDevice("d");
        here = new Endpoint(device);
        other = here.domain.createQueuePair(here.completions, here.completions, Endpoint.CAPABILITIES);
        queue = (SoftCompletionQueue)here.completions;
        inbox = ((SoftDevice)device).host().file().base() + queue.inboxOffset();
    }

    @AfterEach
    void tearDown()
    {
        other.close();
        here.close();
        device.close();
        fabric.close();
    }

    private long claim(final QueuePair queuePair, final long wrId)
    {
        final long slot = CompletionInbox.claim(
            inbox, CompletionInbox.limit(inbox), SLOW, queuePair.number() & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1);
        final SoftReceiveQueue receives = ((SoftQueuePair)queuePair).receives();
        receives.offer(wrId, 0, 0, 0);
        final long receive = receives.claimForFlush(0);
        SharedWords.putLong(slot + CompletionInbox.WR_ID_OFFSET, wrId);
        SharedWords.putInt(slot + CompletionInbox.QUEUE_PAIR_OFFSET, queuePair.number());
        SharedWords.putLong(slot + CompletionInbox.RECEIVE_OFFSET, receive - receives.ring());
        return slot;
    }

    private void assertPolled(final long... wrIds)
    {
        final int count = queue.poll(batch);
        assertThat(count).isEqualTo(wrIds.length);
        for (int i = 0; i < count; i++)
        {
            assertThat(batch.wrId(i)).isEqualTo(wrIds[i]);
        }
    }

    @Test
    void shouldPassSlowProducerByButNotWithinItsQueuePair()
    {
        final long slow = claim(here.queuePair, 1);
        CompletionInbox.publish(claim(other, 2));
        CompletionInbox.publish(claim(here.queuePair, 3));
        CompletionInbox.publish(claim(other, 4));
        assertPolled(2, 4);
        assertPolled();
        CompletionInbox.publish(slow);
        assertPolled(1, 3);
        assertPolled();
    }

    /** Laps with a slot passed by in each: nothing is lost, and room comes back. */
    @Test
    void shouldGoRoundWhenEachLapHasSlowProducer()
    {
        for (long i = 0; i < 10L * queue.capacity(); i += 2)
        {
            final long slow = claim(here.queuePair, i);
            CompletionInbox.publish(claim(other, i + 1));
            assertPolled(i + 1);
            CompletionInbox.publish(slow);
            assertPolled(i);
        }
    }

    @Test
    void shouldSkipClaimOfDeadProducer()
    {
        claim(here.queuePair, 1);
        CompletionInbox.publish(claim(here.queuePair, 2));
        assertPolled();
        final SoftDevice soft = (SoftDevice)device;
        final long visitor =
            soft.host().file().base() + DeviceFileDescriptor.VISITORS_OFFSET + (long)SLOW * Long.BYTES;
        final int owner = 0x7EAD_0BAD;
        SharedWords.putLong(visitor, (long)owner << Integer.SIZE | 1);
        SharedWords.putInt(soft.host().file().base() + DeviceFileDescriptor.VISITOR_LIMIT_OFFSET, SLOW + 1);
        soft.host().peers().ownerDied(owner);
        assertPolled(2);
    }
}
