package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;
import io.verbena.table.access.Scratch;
import io.verbena.table.operation.Operation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;

/** A port that is one simulated queue pair, without the layers between: each verb of an engine is one of the fabric. */
public final class SimQueuePairPort implements OneSidedPort
{
    private static final int DEPTH = 64;
    private static final int COOKIE_BITS = 12;
    private static final int OPERATION_BITS = 30;
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(DEPTH, 1, 0, 16);
    private static final byte[] NOTHING = {};

    /** Takes completions. */
    interface Completions
    {
        /** Takes one. */
        void onComplete(int cookie, int status);
    }

    private final QueuePair queuePair;
    private final QueuePair accepted;
    private final CompletionQueue completions;
    private final WorkCompletions polled = new WorkCompletions(DEPTH);
    private final MemoryRegion remote;
    private Runnable staged;
    private int flags;
    private int nextFlags;
    /** Of the batches under way, by the operation that is their first: numbers that do not count on. */
    private final int[] cookies = new int[1 << COOKIE_BITS];
    private int wrId;
    private boolean isForgetful;
    private boolean isStopped;
    /** Where the results of the batch under way, or the last one, go. */
    private final List<UnsafeBuffer> results = new ArrayList<>();
    /** By operation: where what the latest batch brings it goes. */
    private final Map<Long, List<UnsafeBuffer>> brought = new HashMap<>();
    private final Set<Long> batched = new HashSet<>();
    /** By address of its result: what a swap of the batch under way, or the last one, expects and leaves. */
    private final Map<Long, long[]> swaps = new HashMap<>();

    SimQueuePairPort(
        final SimFabric fabric,
        final SimDevice device,
        final ProtectionDomain domain,
        final SimDevice target,
        final ProtectionDomain targetDomain,
        final MemoryRegion remote)
    {
        this.remote = remote;
        completions = device.createCompletionQueue(DEPTH);
        queuePair = domain.createQueuePair(completions, completions, CAPABILITIES);
        final CompletionQueue targetCompletions = target.createCompletionQueue(DEPTH);
        try (ConnectionListener listener = target.listen(1))
        {
            final ConnectionAttempt attempt =
                device.connect(queuePair, target.address(), 1, NOTHING, Long.MAX_VALUE / 2);
            ConnectionRequest request = listener.poll();
            while (request == null)
            {
                fabric.step();
                request = listener.poll();
            }
            accepted = targetDomain.createQueuePair(targetCompletions, targetCompletions, CAPABILITIES);
            request.accept(accepted, AccessFlags.ALL_REMOTE, NOTHING);
            while (attempt.poll() == ConnectionAttempt.State.PENDING)
            {
                fabric.step();
            }
        }
    }

    /**
     * From now on memory that a request will write to is empty until then, and results of swaps are gone when the next
     * batch begins: for owners that have one batch under way, and look at its results when it is complete.
     */
    void forgetsResults()
    {
        isForgetful = true;
    }

    private void clear(final MemoryRegion local, final long localOffset, final int lengthBytes, final boolean isResult)
    {
        final UnsafeBuffer target = new UnsafeBuffer(local.segment().address() + localOffset, lengthBytes);
        target.setMemory(0, lengthBytes, (byte)0);
        final long operation = localOffset / Scratch.SLOT_STRIDE;
        if (batched.add(operation))
        {
            brought.put(operation, new ArrayList<>());
        }
        brought.get(operation).add(target);
        if (isResult && isForgetful)
        {
            results.add(target);
        }
    }

    /** @return memory of an operation that its latest batch writes to, or has written to. */
    public List<UnsafeBuffer> brought(final Operation op)
    {
        return brought.getOrDefault((long)op.index, List.of());
    }

    /**
     * @param address of a word of local memory.
     * @return what is in the place that a swap has brought this word from, if it has: the same whoever swapped first.
     */
    public long left(final long address, final long word)
    {
        final long[] swap = swaps.get(address);
        return swap != null && word == swap[0] ? swap[1] : word;
    }

    /** Reports completions. @return how many. */
    int poll(final TableEngine engine)
    {
        return poll(engine::onBatchComplete);
    }

    /** Takes its rights away at the target: nothing of it lands any more. */
    void cutOff()
    {
        accepted.close();
    }

    /** Takes no further batch; completions of those under way come. */
    void stop()
    {
        isStopped = true;
    }

    int poll(final Completions listener)
    {
        final int count = completions.poll(polled);
        for (int i = 0; i < count; i++)
        {
            final int number = (int)polled.wrId(i);
            listener.onComplete(
                number >= 0 && number < cookies.length ? cookies[number] : number, polled.status(i));
        }
        return count;
    }

    @Override
    public boolean isReady()
    {
        return !isStopped && queuePair.state() == QueuePairState.RTS;
    }

    @Override
    public boolean isFailed()
    {
        return queuePair.state() == QueuePairState.ERR;
    }

    @Override
    public long regionLengthBytes()
    {
        return remote.lengthBytes();
    }

    @Override
    public void abort()
    {
        staged = null;
        flags = 0;
        nextFlags = 0;
        queuePair.abort();
    }

    @Override
    public int space()
    {
        return DEPTH / 2;
    }

    @Override
    public void begin()
    {
        results.forEach(result -> result.setMemory(0, result.capacity(), (byte)0));
        results.clear();
        batched.clear();
        swaps.clear();
        queuePair.begin();
    }

    @Override
    public void read(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        clear(local, localOffset, lengthBytes, false);
        stage(() -> queuePair.read(wrId, flags, local.address() + localOffset, lengthBytes, local.localKey(),
            remote.address() + remoteOffset, remote.remoteKey()));
    }

    @Override
    public void write(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        stage(() -> queuePair.write(wrId, flags, local.address() + localOffset, lengthBytes, local.localKey(),
            remote.address() + remoteOffset, remote.remoteKey()));
    }

    @Override
    public void compareSwap(
        final MemoryRegion local,
        final long localOffset,
        final long remoteOffset,
        final long expected,
        final long desired)
    {
        clear(local, localOffset, Long.BYTES, true);
        swaps.put(local.segment().address() + localOffset, new long[]{expected, desired});
        stage(() -> queuePair.compareSwap(wrId, flags, local.address() + localOffset, local.localKey(),
            remote.address() + remoteOffset, remote.remoteKey(), expected, desired));
    }

    @Override
    public void fenceNext()
    {
        nextFlags = SendFlags.FENCE;
    }

    @Override
    public int complete(final int newCookie)
    {
        // What splits and scans post keeps its number.
        wrId = newCookie >>> OPERATION_BITS == 0 ? newCookie & cookies.length - 1 : newCookie;
        if (newCookie >>> OPERATION_BITS == 0)
        {
            cookies[wrId] = newCookie;
        }
        post(SendFlags.SIGNALED);
        return queuePair.complete();
    }

    /** Each request waits for the next one, because only the last is signaled. */
    private void stage(final Runnable request)
    {
        final int ownFlags = nextFlags;
        nextFlags = 0;
        post(0);
        staged = () ->
        {
            flags |= ownFlags;
            request.run();
        };
    }

    private void post(final int newFlags)
    {
        if (staged != null)
        {
            flags = newFlags;
            staged.run();
            staged = null;
        }
    }
}
