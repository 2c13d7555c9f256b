package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
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

/** A shared receive queue whose claimers are of this process and of one that can be stopped and killed. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SoftSharedReceivesTest
{
    private static final byte[] NOTHING = {};
    private static final int DEPTH = 4;

    private final Path directory = TestDirectories.next();
    private final WorkCompletions batch = new WorkCompletions(1);
    private SoftFabric fabric;
    private Device device;
    private Device otherDevice;
    private Endpoint here;
    private Endpoint other;
    private SharedReceiveQueue shared;
    private QueuePair first;
    private QueuePair second;
    private Process child;
    private BufferedReader childOutput;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        device = fabric.openDevice("parent");
        otherDevice = fabric.openDevice("other");
        here = new Endpoint(device);
        other = new Endpoint(otherDevice);
        shared = here.domain.createSharedReceiveQueue(DEPTH);
        first = sharing();
        second = sharing();
        SoftConnections.connect(other, other.queuePair, here, first);
    }

    private QueuePair sharing()
    {
        return here.domain.createQueuePair(new QueuePairOptions().completions(here.completions, here.completions)
            .capabilities(Endpoint.CAPABILITIES).sharedReceiveQueue(shared));
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
        shared.close();
        here.close();
        other.close();
        device.close();
        otherDevice.close();
        fabric.close();
        assertThat(directory).doesNotExist();
    }

    private int post(final long wrId)
    {
        return shared.postReceive(wrId, here.address(wrId % 64 * 8), 8, here.key());
    }

    private void send(final long value)
    {
        other.putLong(0, value);
        other.queuePair.begin();
        other.queuePair.send(value, SendFlags.SIGNALED, other.address(0), 8, other.key());
        assertThat(other.queuePair.complete()).isZero();
        SoftConnections.awaitSuccess(other, batch);
    }

    private void assertReceived(final long wrId, final int status, final QueuePair by)
    {
        assertThat(SoftConnections.awaitStatus(here, batch)).isEqualTo(status);
        assertThat(batch.wrId(0)).isEqualTo(wrId);
        assertThat(batch.queuePairNumber(0)).isEqualTo(by.number());
    }

    private void stopChildInClaim() throws Exception
    {
        child = SoftChild.start(directory, "send", device, "guest");
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
            request.accept(second, AccessFlags.ALL_REMOTE, NOTHING);
        }
        goOn();
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

    private AsyncEvent awaitEvent()
    {
        AsyncEvent event = device.pollAsyncEvent();
        while (event == null)
        {
            Thread.yield();
            event = device.pollAsyncEvent();
        }
        return event;
    }

    @Test
    void shouldTellLimitOnceAndCountWhatIsLeftExactly()
    {
        for (int i = 0; i < DEPTH; i++)
        {
            assertThat(post(i)).isZero();
        }
        assertThat(post(9)).isEqualTo(PostStatus.QUEUE_FULL);
        shared.armLimit(3);
        send(1);
        assertThat(device.pollAsyncEvent()).isNull();
        send(2);
        final AsyncEvent event = awaitEvent();
        assertThat(event.type()).isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
        assertThat(event.source()).isEqualTo(shared);
        assertThat(shared.armedLimit()).isZero();
        send(3);
        assertThat(device.pollAsyncEvent()).isNull();
        shared.armLimit(2);
        assertThat(awaitEvent().type()).as("armed with fewer left").isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
    }

    @Test
    void shouldGiveRoomBackWhenQueuePairIsClosedBeforeItsCompletionsArePolled()
    {
        for (int i = 0; i < DEPTH; i++)
        {
            post(i);
        }
        send(1);
        send(2);
        first.close();
        assertThat(here.completions.poll(batch)).isZero();
        assertThat(post(10)).isZero();
        assertThat(post(11)).isZero();
        assertThat(post(12)).isEqualTo(PostStatus.QUEUE_FULL);
    }

    @Test
    void shouldRefuseWhatDoesNotGoTogether()
    {
        assertThatThrownBy(() -> first.postReceive(1, here.address(0), 8, here.key()))
            .isInstanceOf(RdmaException.class).hasMessageContaining("shared");
        assertThatThrownBy(shared::close).isInstanceOf(RdmaException.class).hasMessageContaining("open=2");
        assertThatThrownBy(() -> shared.armLimit(DEPTH + 1)).isInstanceOf(RdmaException.class);
    }

    /** Its ring may be another queue's by then. */
    @Test
    void shouldRefuseToShareReceivesOfClosedQueue()
    {
        final SharedReceiveQueue closed = here.domain.createSharedReceiveQueue(DEPTH);
        closed.close();
        closed.close();
        assertThatThrownBy(() -> here.domain.createQueuePair(new QueuePairOptions()
            .completions(here.completions, here.completions).capabilities(Endpoint.CAPABILITIES)
            .sharedReceiveQueue(closed)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("shared receive queue is closed");
        assertThatThrownBy(() -> here.domain.createDcTarget(
            new DcTargetOptions(here.completions, closed, 1, AccessFlags.ALL_REMOTE, 4)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("shared receive queue is closed");
    }

    /** Many laps with one slot claimed and not filled; then its message arrives as if nothing had been. */
    @Test
    void shouldServeOthersForManyLapsWhenClaimerIsStopped() throws Exception
    {
        post(0);
        stopChildInClaim();
        shared.armLimit(1);
        assertThat(awaitEvent().type()).isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
        for (long i = 1; i <= 20 * DEPTH; i++)
        {
            assertThat(post(i)).isZero();
            send(i);
            assertReceived(i, WorkCompletionStatus.SUCCESS, first);
            assertThat(here.getLong(i % 64 * 8)).isEqualTo(i);
        }
        for (int i = 1; i < DEPTH; i++)
        {
            assertThat(post(100 + i)).isZero();
        }
        assertThat(post(200)).as("the stopped claimer still has one").isEqualTo(PostStatus.QUEUE_FULL);
        signal("CONT");
        goOn();
        assertReceived(0, WorkCompletionStatus.SUCCESS, second);
        assertThat(here.getLong(0)).isEqualTo(-1);
        assertThat(post(200)).isZero();
    }

    /** What a dead claimer had is flushed for its queue pair, once; the others never notice. */
    @Test
    void shouldFlushReceiveOfClaimerThatIsKilled() throws Exception
    {
        for (int i = 0; i < DEPTH; i++)
        {
            post(i);
        }
        stopChildInClaim();
        send(1);
        assertReceived(1, WorkCompletionStatus.SUCCESS, first);
        child.destroyForcibly().waitFor();
        assertReceived(0, WorkCompletionStatus.WR_FLUSH_ERR, second);
        assertThat(second.state()).isEqualTo(QueuePairState.ERR);
        final AsyncEvent event = awaitEvent();
        assertThat(event.type()).isEqualTo(AsyncEventType.QP_LAST_WQE_REACHED);
        assertThat(event.source()).isEqualTo(second);
        assertThat(device.pollAsyncEvent()).isNull();
        for (long i = 2; i < 20 * DEPTH; i++)
        {
            send(i);
            assertReceived(i, WorkCompletionStatus.SUCCESS, first);
            assertThat(post(i + 2)).isZero();
        }
        assertThat(post(4)).isZero();
        assertThat(post(5)).isZero();
        assertThat(post(6)).isEqualTo(PostStatus.QUEUE_FULL);
    }

    /** Closed before anybody noticed that the claimer is dead: its receive is given back without a completion. */
    @Test
    void shouldGiveRoomBackWhenQueuePairOfDeadClaimerIsClosed() throws Exception
    {
        post(0);
        stopChildInClaim();
        child.destroyForcibly().waitFor();
        second.close();
        for (int i = 0; i < DEPTH; i++)
        {
            assertThat(post(i)).isZero();
        }
        assertThat(here.completions.poll(batch)).isZero();
    }
}
