package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** DC on soft, where it has ways of its own: contexts that change hands, initiators that stop and die. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SoftDynamicTest
{
    private static final long KEY = 0x0123_4567_89AB_CDEFL;
    private static final int DEPTH = 4;
    private static final int SHORT_TIMEOUT = 8;
    private static final long FENCE_TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(300);

    private final Path directory = TestDirectories.next();
    private final WorkCompletions batch = new WorkCompletions(1);
    private SoftFabric fabric;
    private Device device;
    private Device otherDevice;
    private Endpoint here;
    private Endpoint other;
    private SharedReceiveQueue shared;
    private DcTarget target;
    private AddressHandle handle;
    private QueuePair first;
    private QueuePair second;
    private Process child;
    private BufferedReader childOutput;

    /** Two initiators on one device, and one target on another that serves one initiator at a time. */
    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(
            new SoftFabricOptions().directory(directory).maxDcContexts(1).fenceTimeoutNs(FENCE_TIMEOUT_NS));
        device = fabric.openDevice("parent");
        otherDevice = fabric.openDevice("other");
        here = new Endpoint(device);
        other = new Endpoint(otherDevice);
        shared = here.domain.createSharedReceiveQueue(DEPTH);
        target = here.domain.createDcTarget(
            new DcTargetOptions(here.completions, shared, KEY, AccessFlags.ALL_REMOTE, 4));
        handle = other.domain.createAddressHandle(device.address());
        first = initiator(SHORT_TIMEOUT);
        second = initiator(SHORT_TIMEOUT);
    }

    private QueuePair initiator(final int timeout)
    {
        final QueuePair initiator = other.domain.createQueuePair(new QueuePairOptions()
            .type(QueuePairType.DC_INITIATOR).completions(other.completions, other.completions)
            .capabilities(Endpoint.CAPABILITIES));
        SoftConnections.readyInitiator(initiator, timeout, 7);
        return initiator;
    }

    @AfterEach
    void tearDown() throws Exception
    {
        if (child != null)
        {
            child.destroyForcibly().waitFor();
        }
        first.close();
        second.close();
        handle.close();
        target.close();
        shared.close();
        here.close();
        other.close();
        device.close();
        otherDevice.close();
        fabric.close();
        assertThat(directory).doesNotExist();
    }

    private void write(final QueuePair initiator, final long value)
    {
        other.putLong(0, value);
        initiator.begin();
        initiator.write(
            value, SendFlags.SIGNALED, other.address(0), 8, other.key(), here.address(0), here.region.remoteKey());
        initiator.toDcTarget(handle, target.number(), KEY);
        assertThat(initiator.complete()).isZero();
    }

    private void send(final QueuePair initiator, final long wrId)
    {
        initiator.begin();
        initiator.send(wrId, SendFlags.SIGNALED, other.address(0), 8, other.key());
        initiator.toDcTarget(handle, target.number(), KEY);
        assertThat(initiator.complete()).isZero();
    }

    private void assertSent(final int status, final long wrId)
    {
        assertThat(SoftConnections.awaitStatus(other, batch)).isEqualTo(status);
        assertThat(batch.wrId(0)).isEqualTo(wrId);
    }

    private void assertReceived(final int status, final long wrId)
    {
        assertThat(SoftConnections.awaitStatus(here, batch)).isEqualTo(status);
        assertThat(batch.wrId(0)).isEqualTo(wrId);
        assertThat(batch.queuePairNumber(0)).isEqualTo(target.number());
    }

    private void post(final long wrId)
    {
        assertThat(shared.postReceive(wrId, here.address(512), 8, here.key())).isZero();
    }

    private void stopChildInClaim() throws Exception
    {
        child = SoftChild.start(
            directory, "send-dynamically", device, "guest", Integer.toString(target.number()), Long.toString(KEY));
        childOutput = child.inputReader();
        assertThat(childOutput.readLine()).isEqualTo("inside");
        signal("STOP");
    }

    private void signal(final String name) throws Exception
    {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(child.pid())).start().waitFor()).isZero();
    }

    private void goOn() throws IOException
    {
        child.outputWriter().write("\n");
        child.outputWriter().flush();
    }

    @Test
    void shouldHandOverContextOfInitiatorWithNothingUnderWay()
    {
        for (long i = 1; i < 200; i += 2)
        {
            write(first, i);
            assertSent(WorkCompletionStatus.SUCCESS, i);
            write(second, i + 1);
            assertSent(WorkCompletionStatus.SUCCESS, i + 1);
            assertThat(here.getLong(0)).isEqualTo(i + 1);
        }
    }

    @Test
    void shouldKeepContextWhileSomethingIsUnderWay()
    {
        send(first, 1);
        write(second, 2);
        assertSent(WorkCompletionStatus.RETRY_EXC_ERR, 2);
        assertThat(here.getLong(0)).isZero();
        post(3);
        assertSent(WorkCompletionStatus.SUCCESS, 1);
        assertReceived(WorkCompletionStatus.SUCCESS, 3);
        second.close();
        second = initiator(SHORT_TIMEOUT);
        write(second, 4);
        assertSent(WorkCompletionStatus.SUCCESS, 4);
    }

    @Test
    void shouldFreeContextOfInitiatorThatIsClosed()
    {
        send(first, 1);
        assertThat(other.completions.poll(batch)).isZero();
        first.close();
        write(second, 2);
        assertSent(WorkCompletionStatus.SUCCESS, 2);
    }

    @Test
    void shouldRefuseEverythingOfClosedTarget()
    {
        write(first, 1);
        assertSent(WorkCompletionStatus.SUCCESS, 1);
        target.close();
        assertThat(target.state()).isEqualTo(QueuePairState.RESET);
        write(first, 2);
        assertSent(WorkCompletionStatus.RETRY_EXC_ERR, 2);
        assertThat(here.getLong(0)).isEqualTo(1);
    }

    /** After close returns nothing lands; while somebody is inside it does not return. */
    @Test
    void shouldNotCloseTargetWhileStoppedInitiatorIsInside() throws Exception
    {
        post(0);
        stopChildInClaim();
        assertThatThrownBy(target::close)
            .isInstanceOf(RdmaException.class).hasMessageContaining("pid=" + child.pid());
        signal("CONT");
        goOn();
        assertThat(childOutput.readLine()).startsWith("status ");
        target.close();
        assertThat(shared.postReceive(1, here.address(512), 8, here.key())).isZero();
    }

    /** Its context is free, its receive is flushed, and the target goes on for others. */
    @Test
    void shouldServeOthersWhenInitiatorIsKilledInClaim() throws Exception
    {
        for (int i = 0; i < DEPTH; i++)
        {
            post(i);
        }
        stopChildInClaim();
        child.destroyForcibly().waitFor();
        assertReceived(WorkCompletionStatus.WR_FLUSH_ERR, 0);
        assertThat(target.state()).isEqualTo(QueuePairState.RTR);
        for (int i = 1; i < 20; i++)
        {
            send(first, 100 + i);
            assertSent(WorkCompletionStatus.SUCCESS, 100 + i);
            assertReceived(WorkCompletionStatus.SUCCESS, i);
            post(DEPTH - 1 + i);
        }
    }

    /** An interrupted closer maps the file of a process it has not met before as any other does. */
    @Test
    void shouldWaitForInitiatorInsideWhenCloserIsInterrupted() throws Exception
    {
        post(1);
        stopChildInClaim();
        Thread.currentThread().interrupt();
        try
        {
            assertThatThrownBy(target::close)
                .isInstanceOf(RdmaException.class).hasMessageContaining("does not leave");
            assertThatThrownBy(here.region::close)
                .isInstanceOf(RdmaException.class).hasMessageContaining("does not leave");
        }
        finally
        {
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
