package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.soft.shared.WatchPace;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@code soft} between this process and one that can be stopped and killed. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SoftProcessesTest
{
    private static final long MOST_IDLE_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final byte[] NOTHING = {};
    private static final long FENCE_TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(300);

    private final Path directory = TestDirectories.next();
    private final WorkCompletions batch = new WorkCompletions(1);
    private SoftFabric fabric;
    private Device device;
    private Endpoint here;
    private Process child;
    private BufferedReader childOutput;
    private long childAddress;
    private int childKey;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(
            new SoftFabricOptions().directory(directory).fenceTimeoutNs(FENCE_TIMEOUT_NS));
        device = fabric.openDevice("parent");
        here = new Endpoint(device);
    }

    @AfterEach
    void tearDown() throws Exception
    {
        if (child != null)
        {
            child.destroyForcibly().waitFor();
        }
        here.close();
        device.close();
        fabric.close();
        assertThat(directory).doesNotExist();
    }

    private void connect(final String what, final String kind, final String... more) throws IOException
    {
        child = SoftChild.start(directory, what, device, kind, more);
        childOutput = child.inputReader();
        try (ConnectionListener listener = device.listen(SoftChild.PORT))
        {
            ConnectionRequest request = listener.poll();
            while (request == null)
            {
                assertThat(child.isAlive()).isTrue();
                Thread.onSpinWait();
                request = listener.poll();
            }
            final ByteBuffer data = ByteBuffer.wrap(request.privateData());
            childAddress = data.getLong();
            childKey = data.getInt();
            request.accept(here.queuePair, AccessFlags.ALL_REMOTE, NOTHING);
        }
        assertThat(here.queuePair.transport()).isEqualTo("shared-memory");
    }

    private void signal(final String name) throws Exception
    {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(child.pid())).start().waitFor()).isZero();
    }

    private void goOn() throws IOException
    {
        tell("");
    }

    private void tell(final String line) throws IOException
    {
        child.outputWriter().write(line + "\n");
        child.outputWriter().flush();
    }

    private void awaitStatus(final int status)
    {
        assertThat(SoftConnections.awaitStatus(here, batch)).isEqualTo(status);
    }

    private void read(final long wrId)
    {
        here.queuePair.begin();
        here.queuePair.read(wrId, SendFlags.SIGNALED, here.address(0), 8, here.key(), childAddress + 64, childKey);
        here.queuePair.complete();
    }

    @Test
    void shouldReadWriteAndCountInMemoryOfOtherProcess() throws Exception
    {
        connect("serve", "guest");
        here.putLong(8, 41);
        here.queuePair.begin();
        here.queuePair.write(1, 0, here.address(8), 8, here.key(), childAddress + 64, childKey);
        here.queuePair.fetchAdd(2, 0, here.address(16), here.key(), childAddress + 64, childKey, 1);
        here.queuePair.compareSwap(3, 0, here.address(24), here.key(), childAddress + 64, childKey, 42, 43);
        here.queuePair.complete();
        read(4);
        awaitStatus(WorkCompletionStatus.SUCCESS);
        assertThat(here.getLong(16)).isEqualTo(41);
        assertThat(here.getLong(24)).isEqualTo(42);
        assertThat(here.getLong(0)).isEqualTo(43);
        assertThat(fabric.deviceNames()).containsExactly("child", "parent");
    }

    @Test
    void shouldRefuseKeyOfOtherProcessWhenItIsWrong() throws Exception
    {
        connect("serve", "guest");
        childKey++;
        read(1);
        awaitStatus(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(here.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void shouldExchangeMessagesWithOtherProcess() throws Exception
    {
        connect("echo", "guest");
        exchange(500);
    }

    /** A peer that sleeps is woken by each message, and uses no processor time while there is none. */
    @Test
    void shouldWakeOtherProcessThatSleeps() throws Exception
    {
        connect("sleep-echo", "guest");
        exchange(100);
        // A compiler that has work left over from the messages may use time in the first second.
        long usedNs = Long.MAX_VALUE;
        for (int second = 0; second < 5 && usedNs >= MOST_IDLE_NS; second++)
        {
            final long beforeNs = cpuNs();
            final long untilNs = SystemNanoClock.INSTANCE.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            while (SystemNanoClock.INSTANCE.nanoTime() - untilNs < 0)
            {
                Thread.onSpinWait();
            }
            usedNs = cpuNs() - beforeNs;
        }
        assertThat(usedNs).isLessThan(MOST_IDLE_NS);
        exchange(1);
    }

    private long cpuNs()
    {
        return child.info().totalCpuDuration().orElseThrow().toNanos();
    }

    private void exchange(final int rounds) throws IOException
    {
        if (rounds > 1)
        {
            assertThat(childOutput.readLine()).isEqualTo("ready");
        }
        for (int i = 0; i < rounds; i++)
        {
            here.putLong(0, i);
            here.queuePair.postReceive(1, here.address(4096), 4096, here.key());
            here.queuePair.begin();
            here.queuePair.sendWithImmediate(2, SendFlags.SIGNALED, here.address(0), 8, here.key(), i);
            assertThat(here.queuePair.complete()).isZero();
            awaitStatus(WorkCompletionStatus.SUCCESS);
            if (batch.wrId(0) == 2)
            {
                awaitStatus(WorkCompletionStatus.SUCCESS);
            }
            assertThat(batch.wrId(0)).isEqualTo(1);
            assertThat(batch.immediate(0)).isEqualTo(i);
            assertThat(here.getLong(4096)).isEqualTo(i);
        }
    }

    @Test
    void shouldFailAsRetryExceededWhenPeerProcessIsKilled() throws Exception
    {
        connect("serve", "guest");
        assertThat(childOutput.readLine()).isEqualTo("ready");
        read(1);
        awaitStatus(WorkCompletionStatus.SUCCESS);
        child.destroyForcibly().waitFor();
        final long beforeLooks = fabric.watch().looks();
        long survivedLooks = 0;
        int status;
        do
        {
            final long looks = fabric.watch().looks() - beforeLooks;
            read(2);
            status = SoftConnections.awaitStatus(here, batch);
            survivedLooks = WorkCompletionStatus.SUCCESS == status ? looks : survivedLooks;
        }
        while (WorkCompletionStatus.SUCCESS == status);
        assertThat(status).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        // One may have been under way when it died. How often there is one is WatchPace's.
        assertThat(survivedLooks).as("looks before an access that succeeded").isLessThanOrEqualTo(1);
    }

    /** An own requester that stays inside keeps mappings from being tidied away, and nothing else from being done. */
    @Test
    void shouldFindOutAboutDeathsAfterTidyingFailed() throws Exception
    {
        connect("free", "guest");
        assertThat(childOutput.readLine()).isEqualTo("ready");
        read(1);
        awaitStatus(WorkCompletionStatus.SUCCESS);
        final Endpoint inside = new Endpoint(device);
        final AccessMark mark =
            new AccessMark(
                ((SoftDevice)device).host().file().queuePairEntry(inside.queuePair.number()), new WatchPace());
        mark.enter();
        goOn();
        assertThat(childOutput.readLine()).isEqualTo("freed");
        // Tidied twice a second, and awaited for the fence timeout.
        Thread.sleep(TimeUnit.NANOSECONDS.toMillis(3 * FENCE_TIMEOUT_NS) + 500);
        mark.leave();
        inside.close();
        child.destroyForcibly().waitFor();
        here.close();
        here = new Endpoint(device);
        connect("serve", "guest");
        read(2);
        awaitStatus(WorkCompletionStatus.SUCCESS);
        child.destroyForcibly().waitFor();
        int status = WorkCompletionStatus.SUCCESS;
        while (status == WorkCompletionStatus.SUCCESS)
        {
            read(3);
            status = SoftConnections.awaitStatus(here, batch);
        }
        assertThat(status).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
    }

    /** A SEND that waits for a receive ends when the process that would post it is gone. */
    @Test
    void shouldFailWaitingSendWhenPeerProcessIsKilled() throws Exception
    {
        connect("serve", "guest");
        here.queuePair.begin();
        for (int i = 0; i < 9; i++)
        {
            here.queuePair.send(i, i == 7 ? SendFlags.SIGNALED : 0, here.address(0), 8, here.key());
        }
        here.queuePair.complete();
        awaitStatus(WorkCompletionStatus.SUCCESS);
        child.destroyForcibly().waitFor();
        awaitStatus(WorkCompletionStatus.RETRY_EXC_ERR);
    }

    private MemoryRegion stopInside(final String kind) throws Exception
    {
        final MemoryRegion region = here.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE);
        connect("write", kind, Long.toString(region.address()), Integer.toString(region.remoteKey()));
        goOn();
        assertThat(childOutput.readLine()).isEqualTo("inside");
        signal("STOP");
        return region;
    }

    /** The very point: checked, not yet written. Nothing is freed, until the process goes on. */
    @Test
    void shouldRefuseToCloseRegionWhileStoppedProcessIsInside() throws Exception
    {
        final MemoryRegion region = stopInside("guest");
        assertThatThrownBy(region::close)
            .isInstanceOf(RdmaException.class).hasMessageContaining("pid=" + child.pid());
        assertThat(region.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0)).isZero();
        signal("CONT");
        goOn();
        assertThat(childOutput.readLine()).isEqualTo("status 0");
        assertThat(region.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0)).isEqualTo(-1);
        region.close();
    }

    @Test
    void shouldKillStoppedNodeThatHoldsUpClose() throws Exception
    {
        final MemoryRegion region = stopInside("node");
        region.close();
        assertThat(child.waitFor()).isEqualTo(128 + 9);
    }

    @Test
    void shouldKillStoppedNodeThatHoldsUpCloseOfQueuePair() throws Exception
    {
        final MemoryRegion region = stopInside("node");
        here.queuePair.close();
        assertThat(child.waitFor()).isEqualTo(128 + 9);
        assertThat(region.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0)).isZero();
        region.close();
    }

    @Test
    void shouldCloseAtOnceWhenProcessDiedInside() throws Exception
    {
        final MemoryRegion region = stopInside("guest");
        child.destroyForcibly().waitFor();
        region.close();
    }

    /** SIGTERM runs shutdown hooks while the process's threads go on: it must not pass for dead before they stop. */
    @Test
    void shouldKeepFilesOfEndingProcessWhileItIsInside() throws Exception
    {
        final MemoryRegion region = here.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE);
        connect("write", "guest", Long.toString(region.address()), Integer.toString(region.remoteKey()));
        goOn();
        assertThat(childOutput.readLine()).isEqualTo("inside");
        signal("TERM");
        assertThat(child.waitFor(200, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(fabric.files().deviceFiles()).hasSize(2);
        goOn();
        assertThat(child.waitFor()).isEqualTo(128 + 15);
        assertThat(fabric.files().deviceFiles()).hasSize(1);
        assertThat(region.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0)).isEqualTo(-1);
        region.close();
    }

    @Test
    void shouldEndProcessThatStaysInsideAndCloseAfterIt() throws Exception
    {
        final MemoryRegion region = here.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE);
        connect("write", "guest", Long.toString(region.address()), Integer.toString(region.remoteKey()));
        goOn();
        assertThat(childOutput.readLine()).isEqualTo("inside");
        signal("TERM");
        assertThatThrownBy(region::close)
            .isInstanceOf(RdmaException.class).hasMessageContaining("pid=" + child.pid());
        assertThat(child.waitFor()).isEqualTo(128 + 15);
        assertThat(region.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0)).isZero();
        region.close();
    }

    /** A window of ours, bound, through which the child has checked its WRITE and not yet done it; it is stopped. */
    private MemoryWindow stopInsideWindow(final MemoryRegion region, final String kind) throws Exception
    {
        connect("write-window", kind);
        assertThat(childOutput.readLine()).isEqualTo("ready");
        final MemoryWindow window = here.domain.allocateMemoryWindow();
        here.queuePair.begin();
        here.queuePair.bindMemoryWindow(
            1, SendFlags.SIGNALED, window, window.nextRemoteKey(), region, region.address(), 64,
            AccessFlags.REMOTE_WRITE);
        here.queuePair.complete();
        awaitStatus(WorkCompletionStatus.SUCCESS);
        tell(region.address() + " " + window.remoteKey());
        assertThat(childOutput.readLine()).isEqualTo("inside");
        signal("STOP");
        return window;
    }

    private MemoryRegion regionOfWindows()
    {
        return here.domain.allocateRegistered(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
    }

    private void invalidate(final MemoryWindow window)
    {
        here.queuePair.begin();
        here.queuePair.localInvalidate(2, SendFlags.SIGNALED, window.remoteKey());
        here.queuePair.complete();
    }

    private static long firstWord(final MemoryRegion region)
    {
        return region.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0);
    }

    /** The invalidation fails, and neither window nor region can be closed until the process goes on. */
    @Test
    void shouldFailInvalidationWhileStoppedProcessIsInsideWindow() throws Exception
    {
        final MemoryRegion region = regionOfWindows();
        final MemoryWindow window = stopInsideWindow(region, "guest");
        final long startNs = SystemNanoClock.INSTANCE.nanoTime();
        invalidate(window);
        awaitStatus(WorkCompletionStatus.GENERAL_ERR);
        assertThat(SystemNanoClock.INSTANCE.nanoTime() - startNs).isGreaterThan(FENCE_TIMEOUT_NS);
        assertThat(here.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThatThrownBy(region::close).isInstanceOf(RdmaException.class).hasMessageContaining("windows");
        assertThatThrownBy(window::close)
            .isInstanceOf(RdmaException.class).hasMessageContaining("pid=" + child.pid());
        assertThat(firstWord(region)).isZero();
        signal("CONT");
        goOn();
        assertThat(childOutput.readLine()).isEqualTo("status 0");
        assertThat(firstWord(region)).isEqualTo(-1);
        window.close();
        region.close();
    }

    @Test
    void shouldKillStoppedNodeThatHoldsUpInvalidation() throws Exception
    {
        final MemoryRegion region = regionOfWindows();
        final MemoryWindow window = stopInsideWindow(region, "node");
        invalidate(window);
        awaitStatus(WorkCompletionStatus.SUCCESS);
        assertThat(child.waitFor()).isEqualTo(128 + 9);
        assertThat(firstWord(region)).isZero();
        region.close();
        window.close();
    }

    @Test
    void shouldCompleteInvalidationWhenProcessDiedInsideWindow() throws Exception
    {
        final MemoryRegion region = regionOfWindows();
        final MemoryWindow window = stopInsideWindow(region, "guest");
        child.destroyForcibly().waitFor();
        invalidate(window);
        awaitStatus(WorkCompletionStatus.SUCCESS);
        window.close();
        region.close();
    }

    @Test
    void shouldKillStoppedNodeThatHoldsUpCloseOfWindow() throws Exception
    {
        final MemoryRegion region = regionOfWindows();
        final MemoryWindow window = stopInsideWindow(region, "node");
        window.close();
        assertThat(child.waitFor()).isEqualTo(128 + 9);
        assertThat(firstWord(region)).isZero();
        region.close();
    }

    @Test
    void shouldBeUnreachableWhenNetworkNamespaceIsAnother()
    {
        final long namespace = device.address().gidLow();
        final SoftDevice other = (SoftDevice)fabric.openDevice("other");
        final long inode = other.host().file().base() + DeviceFileDescriptor.NETWORK_NAMESPACE_OFFSET;
        SharedWords.putLong(inode, SharedWords.getLong(inode) + 1);
        assertThat(other.host().usePeer(namespace)).isNull();
        assertThat(((SoftDevice)device).host().usePeer(other.address().gidLow())).isNull();
        other.close();
        assertThat(new DeviceAddress(0, namespace)).isNotEqualTo(device.address());
    }
}
