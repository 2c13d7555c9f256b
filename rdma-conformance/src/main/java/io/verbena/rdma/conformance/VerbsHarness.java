package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.ConnectionAttempt.State;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/** Two connected endpoints over the provider under test, and short ways to post, to wait and to look. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
public abstract class VerbsHarness
{
    protected static final int PORT = 4711;
    protected static final byte[] NOTHING = {};
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int PROGRESS_STRIDE = 1;

    /** What the rules run on; set before each. */
    ConformancePath path;
    protected VerbsRig rig;
    protected Endpoint a;
    protected Endpoint b;
    private final List<AutoCloseable> closeables = new ArrayList<>();

    /** One completion, copied out of the batch. */
    protected record Completion(long wrId, int status, int opcode, int byteLength, int immediate, int queuePair)
    {
        @Override
        public String toString()
        {
            return "Completion{wrId=" + wrId + ", status=" + WorkCompletionStatus.text(status) + ", opcode=" + opcode +
                ", byteLength=" + byteLength + ", immediate=" + immediate + '}';
        }
    }

    @BeforeEach
    protected final void setUp()
    {
        rig = path.rigs().get();
        a = own(new Endpoint(rig.requester()));
        b = own(new Endpoint(rig.responder()));
    }

    @AfterEach
    protected final void tearDown() throws Exception
    {
        final List<AutoCloseable> toClose = new ArrayList<>(closeables);
        closeables.clear();
        toClose.addFirst(rig);
        Exception first = null;
        for (final AutoCloseable closeable : toClose.reversed())
        {
            try
            {
                closeable.close();
            }
            catch (final RuntimeException ex)
            {
                first = first == null ? ex : first;
            }
        }
        if (first != null)
        {
            throw first;
        }
    }

    protected final <T extends AutoCloseable> T own(final T closeable)
    {
        closeables.add(closeable);
        return closeable;
    }

    /** For what the test has closed itself. */
    protected final void disown(final AutoCloseable closeable)
    {
        closeables.remove(closeable);
    }

    protected final void connect()
    {
        connect(a, b, AccessFlags.ALL_REMOTE);
    }

    /** Connects both queue pairs by their states. */
    protected final void connectBySteps(final QueuePairSteps steps)
    {
        connectBySteps(a.queuePair, b.queuePair, steps);
    }

    /** Connects two queue pairs, the first of the requester, the second of the responder. */
    protected final void connectBySteps(final QueuePair from, final QueuePair to, final QueuePairSteps steps)
    {
        steps.bringUp(to, rig.requester().address(from), from.number());
        steps.bringUp(from, rig.responder().address(to), to.number());
    }

    /** Waits for an asynchronous event of a type and takes those before it too. */
    protected final AsyncEvent awaitEvent(final Device device, final AsyncEventType type)
    {
        final AtomicReference<AsyncEvent> found = new AtomicReference<>();
        await(() ->
        {
            final AsyncEvent event = device.pollAsyncEvent();
            if (event != null && event.type() == type)
            {
                found.set(event);
            }
            return found.get() != null;
        });
        assertThat(found.get()).as("asynchronous event " + type).isNotNull();
        return found.get();
    }

    /** The asynchronous events that are there once everything under way has arrived. */
    protected final List<AsyncEvent> events(final Device device)
    {
        settle();
        final List<AsyncEvent> events = new ArrayList<>();
        for (AsyncEvent event = device.pollAsyncEvent(); event != null; event = device.pollAsyncEvent())
        {
            events.add(event);
        }
        return events;
    }

    /** Waits until the responder's queue pair has noticed what happened to it. */
    protected final void awaitState(final QueuePair queuePair, final QueuePairState state)
    {
        await(() -> queuePair.state() == state);
        assertThat(queuePair.state()).isEqualTo(state);
    }

    /** The device of an endpoint refuses what is staged: by throwing, or by completing as an operation error. */
    protected final void assertRefused(final Runnable request)
    {
        a.queuePair.begin();
        try
        {
            request.run();
        }
        catch (final UnsupportedVerbException ex)
        {
            a.queuePair.abort();
            throw ex;
        }
        catch (final RdmaException ex)
        {
            a.queuePair.abort();
            return;
        }
        assertThat(a.queuePair.complete()).isEqualTo(PostStatus.OK);
        assertThat(awaitOne(a).status()).isEqualTo(WorkCompletionStatus.LOC_QP_OP_ERR);
    }

    protected final void connect(final Endpoint from, final Endpoint to, final int rights)
    {
        try (ConnectionListener listener = to.device.listen(PORT))
        {
            final ConnectionAttempt attempt =
                from.device.connect(from.queuePair, to.device.address(), PORT, NOTHING, rig.connectTimeoutNs());
            awaitRequest(listener).accept(to.queuePair, rights, NOTHING);
            assertThat(await(attempt)).isEqualTo(State.ESTABLISHED);
        }
    }

    protected final ConnectionRequest awaitRequest(final ConnectionListener listener)
    {
        ConnectionRequest request = listener.poll();
        final long deadlineNs = deadlineNs();
        while (request == null && isBefore(deadlineNs))
        {
            request = listener.poll();
        }
        assertThat(request).as("connection request").isNotNull();
        return request;
    }

    protected final State await(final ConnectionAttempt attempt)
    {
        await(() -> attempt.poll() != State.PENDING);
        return attempt.poll();
    }

    protected final List<Completion> poll(final Endpoint endpoint)
    {
        final WorkCompletions batch = new WorkCompletions(32);
        final List<Completion> result = new ArrayList<>();
        int count;
        do
        {
            count = endpoint.completions.poll(batch);
            for (int i = 0; i < count; i++)
            {
                result.add(new Completion(
                    batch.wrId(i), batch.status(i), batch.opcode(i), batch.byteLength(i), batch.immediate(i),
                    batch.queuePairNumber(i)));
            }
        }
        while (count > 0);
        return result;
    }

    protected final List<Completion> await(final Endpoint endpoint, final int count)
    {
        final List<Completion> result = new ArrayList<>();
        await(() ->
        {
            result.addAll(poll(endpoint));
            return result.size() >= count;
        });
        assertThat(result).as("completions").hasSize(count);
        return result;
    }

    protected final Completion awaitOne(final Endpoint endpoint)
    {
        return await(endpoint, 1).get(0);
    }

    /** Lets the fabric work until something holds or the patience of the test is over. */
    protected final void await(final BooleanSupplier condition)
    {
        final long deadlineNs = deadlineNs();
        while (!condition.getAsBoolean() && isBefore(deadlineNs))
        {
            continue;
        }
    }

    private long deadlineNs()
    {
        return rig.requester().clock().nanoTime() + PATIENCE_NS;
    }

    /** Some progress, and whether there is time left. */
    private boolean isBefore(final long deadlineNs)
    {
        for (int i = 0; i < PROGRESS_STRIDE; i++)
        {
            rig.progress();
        }
        return rig.requester().clock().nanoTime() - deadlineNs < 0;
    }

    protected final void settle()
    {
        rig.settle();
    }

    protected final int post(final Endpoint endpoint, final Runnable... requests)
    {
        endpoint.queuePair.begin();
        for (final Runnable request : requests)
        {
            request.run();
        }
        return endpoint.queuePair.complete();
    }

    protected final Runnable read(
        final long wrId, final int flags, final long local, final int length, final long remote)
    {
        return () -> a.queuePair.read(
            wrId, flags, a.address(local), length, a.key(), b.address(remote), b.region.remoteKey());
    }

    protected final Runnable write(
        final long wrId, final int flags, final long local, final int length, final long remote)
    {
        return () -> a.queuePair.write(
            wrId, flags, a.address(local), length, a.key(), b.address(remote), b.region.remoteKey());
    }

    protected final Runnable writeWithImmediate(
        final long wrId, final int flags, final long local, final int length, final long remote, final int immediate)
    {
        return () -> a.queuePair.writeWithImmediate(
            wrId, flags, a.address(local), length, a.key(), b.address(remote), b.region.remoteKey(), immediate);
    }

    protected final Runnable compareSwap(
        final long wrId, final int flags, final long local, final long remote, final long expected, final long desired)
    {
        return () -> a.queuePair.compareSwap(
            wrId, flags, a.address(local), a.key(), b.address(remote), b.region.remoteKey(), expected, desired);
    }

    protected final Runnable fetchAdd(
        final long wrId, final int flags, final long local, final long remote, final long addend)
    {
        return () -> a.queuePair.fetchAdd(
            wrId, flags, a.address(local), a.key(), b.address(remote), b.region.remoteKey(), addend);
    }

    protected final Runnable send(final long wrId, final int flags, final long local, final int length)
    {
        return () -> a.queuePair.send(wrId, flags, a.address(local), length, a.key());
    }

    protected final int receive(final long wrId, final long offset, final int length)
    {
        return b.queuePair.postReceive(wrId, b.address(offset), length, b.key());
    }

    protected final Completion execute(final Runnable request)
    {
        assertThat(post(a, request)).isEqualTo(PostStatus.OK);
        return awaitOne(a);
    }
}
