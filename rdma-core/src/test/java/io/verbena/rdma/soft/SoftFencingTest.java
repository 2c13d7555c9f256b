package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/** After close() returns nothing lands, although a requester was stopped between its check and its access. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftFencingTest
{
    private final CountDownLatch isInside = new CountDownLatch(1);
    private final CountDownLatch mayGoOn = new CountDownLatch(1);
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private SoftFabric fabric;
    private Device requesterDevice;
    private Device responderDevice;
    private Endpoint requester;
    private Endpoint responder;
    private int additions;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
        requesterDevice = fabric.openDevice("requester");
        responderDevice = fabric.openDevice("responder");
        requester = new Endpoint(requesterDevice);
        responder = new Endpoint(responderDevice);
        SoftConnections.connect(requester, responder);
        requester.putLong(0, -1);
    }

    @AfterEach
    void tearDown()
    {
        requester.close();
        responder.close();
        requesterDevice.close();
        responderDevice.close();
        fabric.close();
    }

    private void stopBetweenCheckAndAccess()
    {
        ((SoftQueuePair)requester.queuePair).beforeAccess(() ->
        {
            isInside.countDown();
            try
            {
                mayGoOn.await();
            }
            catch (final InterruptedException ex)
            {
                Thread.currentThread().interrupt();
            }
        });
    }

    private Thread start(final Runnable task)
    {
        final Thread thread = new Thread(task, "soft-fencing");
        thread.start();
        return thread;
    }

    private void write(final MemoryRegion target)
    {
        requester.queuePair.begin();
        requester.queuePair.write(
            1, SendFlags.SIGNALED, requester.address(0), 8, requester.key(), target.address(), target.remoteKey());
        requester.queuePair.complete();
    }

    private void assertWaits(final Runnable close) throws InterruptedException
    {
        assertWaits(close, () -> { });
    }

    private void assertWaits(final Runnable close, final Runnable meanwhile) throws InterruptedException
    {
        isInside.await();
        final Thread closer = start(() ->
        {
            close.run();
            isClosed.set(true);
        });
        // The closer reaches its wait: it parks again and again, and does not return.
        for (int parked = 0; parked < 20; )
        {
            parked += closer.getState() == Thread.State.TIMED_WAITING ? 1 : 0;
            Thread.onSpinWait();
            assertThat(isClosed).isFalse();
        }
        meanwhile.run();
        assertThat(isClosed).isFalse();
        mayGoOn.countDown();
        closer.join();
        assertThat(isClosed).isTrue();
    }

    @Test
    void shouldWaitForRequesterInsideWhenResponderQueuePairCloses() throws Exception
    {
        stopBetweenCheckAndAccess();
        final Thread writer = start(() -> write(responder.region));
        assertWaits(() ->
        {
            responder.queuePair.close();
            responder.putLong(0, 7);
        });
        writer.join();
        assertThat(responder.getLong(0)).isEqualTo(7);
    }

    /** The same bytes under two keys: closing one waits for who is inside with it; the other is served meanwhile. */
    @Test
    void shouldWaitForRequesterInsideWithTheKeyThatIsClosedAndServeTheOther() throws Exception
    {
        final MemoryRegion closed = responder.domain.register(responder.region.segment(), AccessFlags.ALL_REMOTE);
        final MemoryRegion kept = responder.domain.register(responder.region.segment(), AccessFlags.ALL_REMOTE);
        try (QueuePair other = requester.domain.createQueuePair(
                requester.completions, requester.completions, Endpoint.CAPABILITIES);
            QueuePair otherEnd = responder.domain.createQueuePair(
                responder.completions, responder.completions, Endpoint.CAPABILITIES))
        {
            SoftConnections.connect(requester, other, responder, otherEnd);
            stopBetweenCheckAndAccess();
            final Thread writer = start(() -> write(closed));
            assertWaits(() ->
            {
                closed.close();
                responder.putLong(0, 7);
            }, () -> add(other, kept));
            writer.join();
            assertThat(responder.getLong(0)).isEqualTo(7);
            assertThat(responder.getLong(8)).as("additions with the other key").isEqualTo(additions).isPositive();
        }
        kept.close();
    }

    private void add(final QueuePair from, final MemoryRegion target)
    {
        from.begin();
        from.fetchAdd(1, SendFlags.SIGNALED, requester.address(8), requester.key(), target.address() + 8,
            target.remoteKey(), 1);
        additions += from.complete() == PostStatus.OK ? 1 : 0;
    }

    @Test
    void shouldWaitForRequesterInsideWhenResponderIsMovedToErrorByState() throws Exception
    {
        assertWaitsWhenModified(new QueuePairAttributes().state(QueuePairState.ERR));
    }

    @Test
    void shouldWaitForRequesterInsideWhenResponderIsMovedToReset() throws Exception
    {
        assertWaitsWhenModified(new QueuePairAttributes().state(QueuePairState.RESET));
    }

    @Test
    void shouldWaitForRequesterInsideWhenItsRightIsTakenAway() throws Exception
    {
        assertWaitsWhenModified(new QueuePairAttributes().accessFlags(AccessFlags.REMOTE_READ));
    }

    private void assertWaitsWhenModified(final QueuePairAttributes change) throws Exception
    {
        stopBetweenCheckAndAccess();
        final Thread writer = start(() -> write(responder.region));
        assertWaits(() ->
        {
            responder.queuePair.modify(change);
            responder.putLong(0, 7);
        });
        writer.join();
        assertThat(responder.getLong(0)).isEqualTo(7);
    }

    @Test
    void shouldWaitForRequesterInsideWhenRegionCloses() throws Exception
    {
        stopBetweenCheckAndAccess();
        final MemoryRegion region = responder.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE);
        final Thread writer = start(() -> write(region));
        assertWaits(region::close);
        writer.join();
        assertThat(SoftConnections.awaitStatus(requester, new WorkCompletions(1)))
            .isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldWaitForRequesterInsideWhenItsOwnRegionCloses() throws Exception
    {
        stopBetweenCheckAndAccess();
        final MemoryRegion local = requester.domain.allocateRegistered(4096, AccessFlags.LOCAL_WRITE);
        final Thread reader = start(() ->
        {
            requester.queuePair.begin();
            requester.queuePair.read(
                1, SendFlags.SIGNALED, local.address(), 8, local.localKey(), responder.address(0), responder.key());
            requester.queuePair.complete();
        });
        assertWaits(local::close);
        reader.join();
    }

    @Test
    void shouldFlushReceivesOnlyWhenPeerIsOutside() throws Exception
    {
        stopBetweenCheckAndAccess();
        responder.queuePair.postReceive(1, responder.address(0), 8, responder.key());
        responder.queuePair.postReceive(2, responder.address(8), 8, responder.key());
        final Thread sender = start(() ->
        {
            requester.queuePair.begin();
            requester.queuePair.send(1, SendFlags.SIGNALED, requester.address(0), 8, requester.key());
            requester.queuePair.complete();
        });
        isInside.await();
        responder.queuePair.moveToError();
        final WorkCompletions completions = new WorkCompletions(4);
        for (int i = 0; i < 1_000; i++)
        {
            assertThat(responder.completions.poll(completions)).isZero();
        }
        mayGoOn.countDown();
        sender.join();
        SoftConnections.awaitStatus(responder, completions);
        assertThat(completions.wrId(0)).isEqualTo(1);
        assertThat(completions.status(0)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(completions.wrId(1)).isEqualTo(2);
        assertThat(completions.status(1)).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
    }

    /** No stop at the worst point, but many closes against a thread at full speed. */
    @Test
    void shouldNeverLandAfterCloseWhenRequesterWritesAllTheTime() throws Exception
    {
        requester.queuePair.close();
        responder.queuePair.close();
        for (int round = 0; round < 300; round++)
        {
            requester.queuePair = requester.domain.createQueuePair(
                requester.completions, requester.completions, Endpoint.CAPABILITIES);
            responder.queuePair = responder.domain.createQueuePair(
                responder.completions, responder.completions, Endpoint.CAPABILITIES);
            SoftConnections.connect(requester, responder);
            final Thread writer = start(() ->
            {
                final WorkCompletions completions = new WorkCompletions(4);
                do
                {
                    write(responder.region);
                }
                while (SoftConnections.awaitStatus(requester, completions) == 0);
                assertThat(completions.status(0)).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
            });
            while (requester.queuePair.state() == QueuePairState.RTS && responder.getLong(0) == 0)
            {
                Thread.onSpinWait();
            }
            responder.queuePair.close();
            responder.putLong(0, 0);
            writer.join();
            assertThat(responder.getLong(0)).isZero();
            requester.queuePair.close();
        }
    }
}
