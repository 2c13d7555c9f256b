package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Completion channels: one notification an arming, solicited ones only when asked so. */
abstract class NotificationContract extends VerbsHarness
{
    private CompletionChannel channel;
    private CompletionQueue notified;

    /** Connects, with the responder's completions on a channel. */
    private void prepare()
    {
        final Device device = b.device;
        channel = own(device.createCompletionChannel());
        notified = own(device.createCompletionQueue(64, channel));
        final QueuePair queuePair =
            own(b.domain.createQueuePair(notified, notified, Endpoint.CAPABILITIES));
        b.queuePair.close();
        b.queuePair = queuePair;
        connect();
        for (int i = 0; i < 8; i++)
        {
            receive(i, 512 + i * 8, 8);
        }
    }

    /** The queue that raised the next event, or null after everything under way has arrived. */
    private CompletionQueue event()
    {
        settle();
        return channel.await(0);
    }

    private void sendAndSettle(final int flags)
    {
        assertThat(execute(send(1, SIGNALED | flags, 0, 8)).status()).isZero();
        settle();
    }

    @Test
    void shouldRaiseNoEventWhenNotArmed()
    {
        prepare();
        sendAndSettle(SendFlags.SOLICITED);
        assertThat(event()).isNull();
    }

    @Test
    void shouldRaiseOneEventForEachArming()
    {
        prepare();
        notified.requestNotification(false);
        sendAndSettle(0);
        assertThat(event()).isEqualTo(notified);
        sendAndSettle(0);
        assertThat(event()).isNull();
        assertThat(poll(notified)).isEqualTo(2);
        notified.requestNotification(false);
        sendAndSettle(0);
        assertThat(event()).isEqualTo(notified);
        assertThat(event()).isNull();
    }

    @Test
    void shouldRaiseEventForSolicitedOnlyWhenSenderAsked()
    {
        prepare();
        notified.requestNotification(true);
        sendAndSettle(0);
        assertThat(event()).isNull();
        sendAndSettle(SendFlags.SOLICITED);
        assertThat(event()).isEqualTo(notified);
    }

    @Test
    void shouldRaiseSolicitedEventForImmediate()
    {
        prepare();
        notified.requestNotification(true);
        assertThat(execute(writeWithImmediate(1, SIGNALED | SendFlags.SOLICITED, 0, 8, 0, 3)).status()).isZero();
        assertThat(event()).isEqualTo(notified);
    }

    @Test
    void shouldRaiseSolicitedEventForAnyError()
    {
        prepare();
        notified.requestNotification(true);
        b.queuePair.moveToError();
        assertThat(event()).isEqualTo(notified);
        final WorkCompletions batch = new WorkCompletions(16);
        assertThat(notified.poll(batch)).isEqualTo(8);
        assertThat(batch.status(0)).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
    }

    @Test
    void shouldMissNothingWhenArmedAndThenPolledOnceMore()
    {
        prepare();
        for (int i = 0; i < 4; i++)
        {
            sendAndSettle(0);
            notified.requestNotification(false);
            final int found = poll(notified);
            assertThat(found == 1 || event() == notified).isTrue();
            while (channel.await(0) != null)
            {
                poll(notified);
            }
        }
    }

    @Test
    void shouldRaiseEventForSendCompletions()
    {
        prepare();
        notified.requestNotification(false);
        a.queuePair.postReceive(1, a.address(512), 8, a.key());
        b.queuePair.begin();
        b.queuePair.send(2, SIGNALED, b.address(0), 8, b.key());
        assertThat(b.queuePair.complete()).isZero();
        assertThat(awaitOne(a).wrId()).isEqualTo(1);
        settle();
        await(() -> channel.await(0) == notified);
        assertThat(poll(notified)).isEqualTo(1);
    }

    @Test
    void shouldSayWhichQueueRaisedTheEvent()
    {
        prepare();
        final CompletionQueue other = own(b.device.createCompletionQueue(8, channel));
        other.requestNotification(false);
        notified.requestNotification(false);
        sendAndSettle(0);
        assertThat(event()).isEqualTo(notified);
        assertThat(event()).isNull();
    }

    @Test
    void shouldGiveUpWaitingWhenTimeIsOver()
    {
        prepare();
        notified.requestNotification(false);
        final long startNs = b.device.clock().nanoTime();
        assertThat(channel.await(TimeUnit.MILLISECONDS.toNanos(30))).isNull();
        assertThat(b.device.clock().nanoTime() - startNs).isGreaterThanOrEqualTo(0);
    }

    @Test
    void shouldRefuseToArmQueueWithoutChannel()
    {
        prepare();
        assertThatThrownBy(() -> b.completions.requestNotification(false)).isInstanceOf(RdmaException.class);
    }

    @Test
    void shouldRefuseToCloseChannelInUse()
    {
        prepare();
        assertThatThrownBy(() -> channel.close())
            .isInstanceOf(RdmaException.class).isNotInstanceOf(UnsupportedVerbException.class);
    }

    @Test
    void shouldCloseQueueWithEventThatNobodyTook()
    {
        prepare();
        notified.requestNotification(false);
        sendAndSettle(0);
        final MemoryRegion region = b.region;
        assertThat(region.lengthBytes()).isEqualTo(Endpoint.REGION_BYTES);
        b.queuePair.close();
        notified.close();
        disown(notified);
        assertThat(event()).isNull();
        b.use(b.options(QueuePairType.RC));
    }

    private int poll(final CompletionQueue queue)
    {
        return queue.poll(new WorkCompletions(16));
    }
}
