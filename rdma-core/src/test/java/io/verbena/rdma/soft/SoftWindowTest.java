package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static io.verbena.rdma.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Windows of {@code soft} beyond the contract: what is taken away from a requester that is inside, stale entries. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftWindowTest
{
    private static final int READ_WRITE = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

    private final CountDownLatch isInside = new CountDownLatch(1);
    private final CountDownLatch mayGoOn = new CountDownLatch(1);
    private final WorkCompletions batch = new WorkCompletions(1);
    private SoftFabric fabric;
    private Device requesterDevice;
    private Device responderDevice;
    private Endpoint requester;
    private Endpoint responder;
    private MemoryRegion region;
    private MemoryWindow window;

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
        region = responder.domain.allocateRegistered(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
        window = responder.domain.allocateMemoryWindow();
    }

    @AfterEach
    void tearDown()
    {
        window.close();
        region.close();
        requester.close();
        responder.close();
        requesterDevice.close();
        responderDevice.close();
        fabric.close();
    }

    private int bind(final QueuePair queuePair, final int key, final long offset, final long lengthBytes)
    {
        queuePair.begin();
        queuePair.bindMemoryWindow(
            1, SendFlags.SIGNALED, window, key, region, region.address() + offset, lengthBytes, READ_WRITE);
        queuePair.complete();
        return SoftConnections.awaitStatus(responder, batch);
    }

    private int bind(final long offset, final long lengthBytes)
    {
        final int key = window.nextRemoteKey();
        assertThat(bind(responder.queuePair, key, offset, lengthBytes)).isEqualTo(SUCCESS);
        return key;
    }

    private void postInvalidate(final int key)
    {
        responder.queuePair.begin();
        responder.queuePair.localInvalidate(2, SendFlags.SIGNALED, key);
        responder.queuePair.complete();
    }

    private void invalidate(final int key)
    {
        postInvalidate(key);
        assertThat(SoftConnections.awaitStatus(responder, batch)).isEqualTo(SUCCESS);
    }

    private void postWrite(final QueuePair queuePair, final long address, final int key)
    {
        queuePair.begin();
        queuePair.write(1, SendFlags.SIGNALED, requester.address(0), 8, requester.key(), address, key);
        queuePair.complete();
    }

    private int write(final long address, final int key)
    {
        postWrite(requester.queuePair, address, key);
        return SoftConnections.awaitStatus(requester, new WorkCompletions(1));
    }

    private long word(final long offset)
    {
        return region.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, offset);
    }

    private Thread writeAndStopInside(final int key)
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
        final Thread writer = new Thread(() -> postWrite(requester.queuePair, region.address(), key), "soft-window");
        writer.start();
        return writer;
    }

    @Test
    void shouldCompleteInvalidationOnlyWhenRequesterIsOutside() throws Exception
    {
        final int key = bind(0, 64);
        final Thread writer = writeAndStopInside(key);
        isInside.await();
        postInvalidate(key);
        responder.queuePair.begin();
        responder.queuePair.bindMemoryWindow(
            3, SendFlags.SIGNALED, window, window.nextRemoteKey(), region, region.address() + 64, 64, READ_WRITE);
        responder.queuePair.complete();
        for (int i = 0; i < 1_000; i++)
        {
            assertThat(responder.completions.poll(batch)).isZero();
        }
        assertThat(word(0)).isZero();
        mayGoOn.countDown();
        SoftConnections.awaitSuccess(responder, batch);
        assertThat(batch.wrId(0)).isEqualTo(2);
        assertThat(word(0)).as("written before the completion").isEqualTo(-1);
        SoftConnections.awaitSuccess(responder, batch);
        assertThat(batch.wrId(0)).isEqualTo(3);
        writer.join();
        SoftConnections.awaitSuccess(requester, new WorkCompletions(1));
        assertThat(write(region.address() + 64, window.remoteKey())).isEqualTo(SUCCESS);
        assertThat(write(region.address(), key)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void shouldCloseWindowOnlyWhenRequesterIsOutside() throws Exception
    {
        final Thread writer = writeAndStopInside(bind(0, 64));
        isInside.await();
        final Thread closer = new Thread(window::close, "soft-window-closer");
        closer.start();
        for (int parked = 0; parked < 20; )
        {
            parked += closer.getState() == Thread.State.TIMED_WAITING ? 1 : 0;
            assertThat(closer.isAlive()).isTrue();
            Thread.onSpinWait();
        }
        mayGoOn.countDown();
        closer.join();
        assertThat(word(0)).isEqualTo(-1);
        writer.join();
    }

    /** Both sides at once: neither may wait for the other while it is inside itself. */
    @Test
    void shouldNotBlockWhenBothSidesInvalidateAllTheTime() throws Exception
    {
        final MemoryRegion other =
            requester.domain.allocateRegistered(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
        final MemoryWindow otherWindow = requester.domain.allocateMemoryWindow();
        final Thread peer = new Thread(() -> bindAndInvalidate(requester, otherWindow, other), "soft-window-peer");
        peer.start();
        bindAndInvalidate(responder, window, region);
        peer.join();
        otherWindow.close();
        other.close();
    }

    private static void bindAndInvalidate(
        final Endpoint endpoint, final MemoryWindow window, final MemoryRegion region)
    {
        final WorkCompletions completions = new WorkCompletions(1);
        for (int i = 0; i < 20_000; i++)
        {
            final int key = window.nextRemoteKey();
            endpoint.queuePair.begin();
            endpoint.queuePair.bindMemoryWindow(1, 0, window, key, region, region.address(), 64, READ_WRITE);
            endpoint.queuePair.localInvalidate(2, SendFlags.SIGNALED, key);
            endpoint.queuePair.complete();
            SoftConnections.awaitSuccess(endpoint, completions);
        }
    }

    /** The user may give a window a key that it had before; what the requester remembers of it is of no use then. */
    @Test
    void shouldLookAtNewBindingWhenKeyIsUsedAgain()
    {
        final int key = bind(0, 64);
        assertThat(write(region.address(), key)).isEqualTo(SUCCESS);
        invalidate(key);
        final int between = bind(0, 64);
        invalidate(between);
        assertThat(bind(responder.queuePair, key, 128, 64)).isEqualTo(SUCCESS);
        assertThat(write(region.address() + 128, key)).isEqualTo(SUCCESS);
        assertThat(word(128)).isEqualTo(-1);
        assertThat(write(region.address(), key)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void shouldServeOnlyPeerOfQueuePairThatBoundIt()
    {
        final QueuePair source = requester.domain.createQueuePair(
            requester.completions, requester.completions, Endpoint.CAPABILITIES);
        final QueuePair target = responder.domain.createQueuePair(
            responder.completions, responder.completions, Endpoint.CAPABILITIES);
        SoftConnections.connect(requester, source, responder, target);
        final int key = window.nextRemoteKey();
        assertThat(bind(target, key, 0, 64)).isEqualTo(SUCCESS);
        postWrite(source, region.address(), key);
        SoftConnections.awaitSuccess(requester, batch);
        assertThat(write(region.address(), key)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        source.close();
        target.close();
        // Not bound any more.
        region.close();
    }

    /** Nobody has polled the completion that tells of it. */
    @Test
    void shouldCloseRegionAndBindAnewAfterPeerInvalidated()
    {
        final int key = bind(0, 64);
        assertThatThrownBy(region::close).isInstanceOf(RdmaException.class);
        responder.queuePair.postReceive(9, responder.address(0), 8, responder.key());
        requester.queuePair.begin();
        requester.queuePair.sendWithInvalidate(1, SendFlags.SIGNALED, requester.address(0), 0, requester.key(), key);
        requester.queuePair.complete();
        SoftConnections.awaitSuccess(requester, batch);
        region.close();
        region = responder.domain.allocateRegistered(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
        SoftConnections.awaitSuccess(responder, batch);
        assertThat(batch.invalidatedKey(0)).isEqualTo(key);
        assertThat(write(region.address(), bind(0, 64))).isEqualTo(SUCCESS);
    }
}
