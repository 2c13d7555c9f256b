package io.verbena.rdma.soft;

import io.verbena.rdma.spi.GlobalRoutingHeader;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import static io.verbena.rdma.soft.SoftConnections.QKEY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Datagrams, where soft has ways of its own: who they reach, who is waited for, what a dead sender leaves. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftDatagramTest
{
    private static final int HEADER = GlobalRoutingHeader.LENGTH_BYTES;
    private static final int SENDERS = 3;
    private static final int DATAGRAMS = 20_000;
    private static final int SLOT_BYTES = 64;

    private final WorkCompletions batch = new WorkCompletions(16);
    private Path directory;
    private SoftFabric fabric;
    private Device a;
    private Device b;
    private Endpoint sender;
    private Endpoint receiver;
    private AddressHandle toB;

    @BeforeEach
    void setUp()
    {
        directory = TestDirectories.next();
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        a = fabric.openDevice("a");
        b = fabric.openDevice("b");
        sender = new Endpoint(a);
        receiver = new Endpoint(b);
        use(sender);
        use(receiver);
        toB = sender.domain.createAddressHandle(b.address());
    }

    @AfterEach
    void tearDown()
    {
        toB.close();
        sender.close();
        receiver.close();
        a.close();
        b.close();
        fabric.close();
    }

    private static void use(final Endpoint endpoint)
    {
        endpoint.queuePair.close();
        endpoint.queuePair = SoftConnections.datagrams(endpoint.domain, endpoint.completions);
    }

    private void send(final long wrId, final int lengthBytes, final AddressHandle to, final int qkey)
    {
        send(sender.queuePair, wrId, lengthBytes, to, qkey);
    }

    private void send(
        final QueuePair from, final long wrId, final int lengthBytes, final AddressHandle to, final int qkey)
    {
        from.begin();
        from.send(wrId, SendFlags.SIGNALED, sender.address(0), lengthBytes, sender.key());
        from.toQueuePair(to, receiver.queuePair.number(), qkey);
        assertThat(from.complete()).isEqualTo(PostStatus.OK);
    }

    private void receive(final long wrId)
    {
        assertThat(receiver.queuePair.postReceive(
            wrId, receiver.address(wrId * SLOT_BYTES), SLOT_BYTES, receiver.key())).isEqualTo(PostStatus.OK);
    }

    @Test
    void shouldWriteRoutingHeaderAlsoInFrontOfNothing()
    {
        receive(1);
        send(2, 0, toB, QKEY);
        assertThat(SoftConnections.awaitStatus(receiver, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(batch.byteLength(0)).isEqualTo(HEADER);
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment expected = arena.allocate(HEADER);
            GlobalRoutingHeader.write(expected, a.address(), b.address(), 0);
            assertThat(receiver.region.segment().asSlice(SLOT_BYTES, HEADER).mismatch(expected)).isEqualTo(-1);
        }
    }

    @Test
    void shouldSendOwnKeyWhenHighestBitIsSet()
    {
        receive(1);
        send(2, 8, toB, 1 << 31);
        assertThat(SoftConnections.awaitStatus(receiver, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldDropWithoutAWordWhatGoesToNobody()
    {
        final DeviceAddress nobody = new DeviceAddress(b.address().gidHigh(), b.address().gidLow() + 77);
        final AddressHandle handle = sender.domain.createAddressHandle(nobody);
        receive(1);
        send(2, 8, handle, QKEY);
        assertThat(SoftConnections.awaitStatus(sender, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
        send(3, 8, toB, QKEY);
        assertThat(SoftConnections.awaitStatus(sender, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(SoftConnections.awaitStatus(receiver, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(receiver.completions.poll(batch)).isZero();
        assertThatThrownBy(() -> sender.domain.close()).isInstanceOf(RdmaException.class);
        handle.close();
    }

    @Test
    void shouldLeaveReceiveAloneThatIsTooShort()
    {
        receive(1);
        send(2, SLOT_BYTES - HEADER + 1, toB, QKEY);
        send(3, SLOT_BYTES - HEADER, toB, QKEY);
        assertThat(SoftConnections.awaitStatus(receiver, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(batch.wrId(0)).isEqualTo(1);
        assertThat(batch.byteLength(0)).isEqualTo(SLOT_BYTES);
    }

    @Test
    void shouldFailReceiverWhoseOwnReceiveIsWrong()
    {
        receiver.queuePair.postReceive(1, receiver.address(0), SLOT_BYTES, receiver.key() + 1);
        receive(2);
        send(3, 8, toB, QKEY);
        assertThat(SoftConnections.awaitStatus(sender, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(receiver.completions.poll(batch)).isEqualTo(2);
        assertThat(batch.status(0)).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
        assertThat(batch.status(1)).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(receiver.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(sender.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldKeepDatagramsBackInSendQueueDrainAlsoWhenTheirHandleIsClosedMeanwhile()
    {
        receive(1);
        sender.queuePair.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        assertThat(a.pollAsyncEvent().type()).isEqualTo(AsyncEventType.SQ_DRAINED);
        final AddressHandle handle = sender.domain.createAddressHandle(b.address());
        send(2, 8, handle, QKEY);
        handle.close();
        assertThat(receiver.completions.poll(batch)).isZero();
        sender.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(SoftConnections.awaitStatus(receiver, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldTellOnceThatCommunicationBegan()
    {
        receiver.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        receiver.queuePair.modify(
            new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(QKEY));
        receiver.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        send(1, 8, toB, QKEY + 1);
        assertThat(b.pollAsyncEvent()).isNull();
        receive(1);
        receive(2);
        send(3, 8, toB, QKEY);
        send(4, 8, toB, QKEY);
        assertThat(b.pollAsyncEvent().type()).isEqualTo(AsyncEventType.COMM_EST);
        assertThat(b.pollAsyncEvent()).isNull();
    }

    @Test
    void shouldWaitForAnySenderInsideWhenReceiverCloses() throws Exception
    {
        final CountDownLatch isInside = new CountDownLatch(1);
        final CountDownLatch mayGoOn = new CountDownLatch(1);
        final AtomicBoolean isClosed = new AtomicBoolean();
        ((SoftQueuePair)sender.queuePair).beforeAccess(() ->
        {
            isInside.countDown();
            awaitUninterruptibly(mayGoOn);
        });
        receive(1);
        sender.putLong(0, -1);
        final Thread writer = start(() -> send(2, 8, toB, QKEY));
        isInside.await();
        final Thread closer = start(() ->
        {
            receiver.queuePair.close();
            receiver.putLong(SLOT_BYTES + HEADER, 7);
            isClosed.set(true);
        });
        for (int parked = 0; parked < 20; )
        {
            parked += closer.getState() == Thread.State.TIMED_WAITING ? 1 : 0;
            Thread.onSpinWait();
            assertThat(isClosed).isFalse();
        }
        mayGoOn.countDown();
        closer.join();
        writer.join();
        assertThat(receiver.getLong(SLOT_BYTES + HEADER)).isEqualTo(7);
    }

    /** The receiver's receives are claimed by several senders at once; none is lost, none is filled twice. */
    @Test
    void shouldDeliverEachDatagramWholeOrNotAtAllFromManySenders() throws Exception
    {
        for (int i = 0; i < Endpoint.CAPABILITIES.maxReceiveRequests(); i++)
        {
            receive(i);
        }
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final Thread[] threads = new Thread[SENDERS];
        for (int i = 0; i < SENDERS; i++)
        {
            final int index = i;
            threads[i] = start(() -> sendMany(index, failure));
        }
        long received = 0;
        boolean isOver = false;
        while (!isOver)
        {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            isOver = areOver(threads);
            final int count = receiver.completions.poll(batch);
            isOver &= count == 0;
            for (int i = 0; i < count; i++)
            {
                final long slot = batch.wrId(i) * SLOT_BYTES + HEADER;
                assertThat(batch.status(i)).isZero();
                assertThat(receiver.getLong(slot + 8)).isEqualTo(~receiver.getLong(slot));
                receive(batch.wrId(i));
                received++;
            }
        }
        assertThat(failure).hasValue(null);
        assertThat(received).isPositive().isLessThanOrEqualTo((long)SENDERS * DATAGRAMS);
        // All receives are there again.
        assertThat(receiver.queuePair.postReceive(0, receiver.address(0), SLOT_BYTES, receiver.key()))
            .isEqualTo(PostStatus.QUEUE_FULL);
        receiver.queuePair.moveToError();
        int flushed = 0;
        while (flushed < Endpoint.CAPABILITIES.maxReceiveRequests())
        {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            flushed += receiver.completions.poll(batch);
        }
        assertThat(receiver.completions.poll(batch)).isZero();
    }

    /** A sender that stands or dies over a receive keeps that one receive, and nobody else from sending. */
    @Test
    void shouldWorkOnWhenSenderStandsOverReceiveAndGiveItBackWhenThatDies() throws Exception
    {
        receive(0);
        final Process child =
            SoftChild.start(directory, "datagram", b, "guest", Integer.toString(receiver.queuePair.number()));
        try
        {
            assertThat(child.inputReader().readLine()).isEqualTo("inside");
            for (int i = 1; i < 4 * Endpoint.CAPABILITIES.maxReceiveRequests(); i++)
            {
                receive(i);
                send(i, 8, toB, QKEY);
                assertThat(SoftConnections.awaitStatus(sender, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(SoftConnections.awaitStatus(receiver, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(batch.wrId(0)).isEqualTo(i);
            }
        }
        finally
        {
            child.destroyForcibly().waitFor();
        }
        assertThat(SoftConnections.awaitStatus(receiver, batch)).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(batch.wrId(0)).isZero();
        assertThat(receiver.queuePair.state()).isEqualTo(QueuePairState.RTS);
        for (int i = 0; i < Endpoint.CAPABILITIES.maxReceiveRequests(); i++)
        {
            receive(i);
        }
        send(1, 8, toB, QKEY);
        assertThat(SoftConnections.awaitStatus(receiver, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    private static boolean areOver(final Thread[] threads)
    {
        boolean areOver = true;
        for (final Thread thread : threads)
        {
            areOver &= !thread.isAlive();
        }
        return areOver;
    }

    private void sendMany(final int index, final AtomicReference<Throwable> failure)
    {
        try (CompletionQueue completions = a.createCompletionQueue(64);
            QueuePair from = SoftConnections.datagrams(sender.domain, completions))
        {
            final WorkCompletions own = new WorkCompletions(1);
            final long offset = 1024 + index * 64L;
            for (int i = 0; i < DATAGRAMS; i++)
            {
                final long value = (long)index << 32 | i;
                sender.putLong(offset, value);
                sender.putLong(offset + 8, ~value);
                from.begin();
                from.send(i, SendFlags.SIGNALED, sender.address(offset), 16, sender.key());
                from.toQueuePair(toB, receiver.queuePair.number(), QKEY);
                assertThat(from.complete()).isEqualTo(PostStatus.OK);
                assertThat(completions.poll(own)).isEqualTo(1);
                assertThat(own.status(0)).isZero();
            }
        }
        catch (final RuntimeException | Error ex)
        {
            failure.set(ex);
        }
    }

    private static void awaitUninterruptibly(final CountDownLatch latch)
    {
        try
        {
            latch.await();
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread start(final Runnable task)
    {
        final Thread thread = new Thread(task, "soft-datagrams");
        thread.start();
        return thread;
    }
}
