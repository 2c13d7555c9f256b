package io.verbena.rdma.conformance.perf;

import io.verbena.rdma.conformance.VerbsRig;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * A sequencer: one counter, whose numbers clients ask for, by one variant (A. Kalia, M. Kaminsky, D. Andersen, Design
 * Guidelines for High Performance RDMA Systems, USENIX ATC 2016, section 4, as far as connected queue pairs go). One
 * thread plays clients and server in turn, so what is measured is the work of both. Used once.
 */
public final class SequencerRun implements AutoCloseable
{
    private static final int SERVICE_PORT = 18_517;
    private static final int WARM_UP_SHARE = 10;
    private static final int BATCH = 64;
    private static final long STALL_NS = TimeUnit.SECONDS.toNanos(10);

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final VerbsRig rig;
    private final SequencerOptions options;
    private final SequencerVariant variant;
    private final Deque<AutoCloseable> closeables = new ArrayDeque<>();
    private final WorkCompletions batch = new WorkCompletions(BATCH);
    private final SequencerClient[] clients;
    private final SequencerServer server;
    private final CompletionQueue requesterSends;
    private final CompletionQueue requesterReceives;
    private final CompletionQueue responderSends;
    private final CompletionQueue responderReceives;
    private long sendCompletionsCount;
    private NumberCheck check;
    private int arrivedCount;
    private int issuedCount;
    private long movedNs;

    /**
     * Makes everything the measurement needs.
     *
     * @param rig     closed by the caller, afterwards.
     * @param options how much.
     * @param variant what to measure.
     * @throws RdmaException when the devices cannot do that; one line that says why.
     */
    public SequencerRun(final VerbsRig rig, final SequencerOptions options, final SequencerVariant variant)
    {
        this.rig = rig;
        this.options = options;
        this.variant = variant;
        clients = new SequencerClient[options.clients()];
        final int depth = 2 * options.window() + 2 * SequencerClient.SIGNAL_EVERY;
        final int completions = depth * options.clients();
        checkLimits(depth, completions);
        try
        {
            final ProtectionDomain from = own(rig.requester().allocateProtectionDomain());
            final ProtectionDomain to = own(rig.responder().allocateProtectionDomain());
            requesterSends = own(rig.requester().createCompletionQueue(completions));
            requesterReceives = own(rig.requester().createCompletionQueue(completions));
            responderSends = own(rig.responder().createCompletionQueue(completions));
            responderReceives = own(rig.responder().createCompletionQueue(completions));
            final long bytes = SequencerClient.bytes(options);
            final MemoryRegion local = own(from.allocateRegistered(bytes, AccessFlags.ALL_REMOTE));
            final MemoryRegion remote = own(to.allocateRegistered(bytes, AccessFlags.ALL_REMOTE));
            final QueuePair[] responders = new QueuePair[options.clients()];
            server = new SequencerServer(responders, remote, options, variant, this::freeSends);
            final int inline = variant.has(SequencerVariant.INLINE) ? Long.BYTES : 0;
            connect(from, to, local, remote, responders, new QueuePairCapabilities(depth, depth, inline,
                Math.min(options.window(), rig.requester().attributes().maxReadAtomic())));
        }
        catch (final RuntimeException ex)
        {
            close();
            throw ex;
        }
    }

    private void connect(
        final ProtectionDomain from,
        final ProtectionDomain to,
        final MemoryRegion local,
        final MemoryRegion remote,
        final QueuePair[] responders,
        final QueuePairCapabilities capabilities)
    {
        try (ConnectionListener listener = rig.responder().listen(SERVICE_PORT))
        {
            for (int i = 0; i < clients.length; i++)
            {
                final QueuePair requester =
                    own(from.createQueuePair(requesterSends, requesterReceives, capabilities));
                responders[i] = own(to.createQueuePair(responderSends, responderReceives, capabilities));
                PairConnection.make(rig.requester(), requester, rig.responder(), SERVICE_PORT, listener,
                    responders[i], rig::progress);
                clients[i] = new SequencerClient(i, requester, local, remote, options, variant);
                server.postReceives(i);
            }
        }
    }

    /**
     * Measures.
     *
     * @return the figures, and whether the numbers are right.
     * @throws RdmaException when a request failed or nothing moves any more.
     */
    public SequencerResult run()
    {
        handOut(Math.max(1, options.numbersCount() / WARM_UP_SHARE));
        final VerbCounters before = counters();
        sendCompletionsCount = 0;
        final long processorBeganNs = threads.getCurrentThreadCpuTime();
        final long beganNs = now();
        handOut(options.numbersCount());
        final long durationNs = Math.max(1, now() - beganNs);
        final long processorNs = threads.getCurrentThreadCpuTime() - processorBeganNs;
        final VerbCounters after = counters();
        return new SequencerResult(variant, options.numbersCount(), durationNs, processorNs,
            after.verbs() - before.verbs(), after.doorbells - before.doorbells, sendCompletionsCount, check.problem());
    }

    private void handOut(final int count)
    {
        server.restart();
        check = new NumberCheck(count, clients.length);
        arrivedCount = 0;
        issuedCount = 0;
        int arrivedBefore = 0;
        movedNs = now();
        while (arrivedCount < count)
        {
            for (final SequencerClient client : clients)
            {
                issuedCount += client.ask(count - issuedCount);
            }
            rig.progress();
            server.serve(responderReceives);
            rig.progress();
            pollSends();
            pollReceives();
            if (arrivedCount > arrivedBefore)
            {
                arrivedBefore = arrivedCount;
                movedNs = now();
            }
            else
            {
                checkMoving();
            }
        }
    }

    private void checkMoving()
    {
        if (now() - movedNs > STALL_NS)
        {
            throw new RdmaException(variant.text() + ": nothing came for " + STALL_NS + " ns, after " + arrivedCount +
                " numbers");
        }
    }

    /** The server has no room for answers: what it sent before has to complete first. */
    private void freeSends()
    {
        rig.progress();
        pollSends();
        checkMoving();
    }

    /** Send queues of both sides; with atomics this is where numbers arrive. */
    private void pollSends()
    {
        int count = poll(requesterSends);
        for (int i = 0; i < count && variant == SequencerVariant.ATOMICS; i++)
        {
            arrive((int)batch.wrId(i), i);
        }
        sendCompletionsCount += count;
        count = poll(responderSends);
        sendCompletionsCount += count;
    }

    private void pollReceives()
    {
        final int count = poll(requesterReceives);
        for (int i = 0; i < count; i++)
        {
            arrive((int)batch.wrId(i), i);
        }
    }

    private void arrive(final int wrId, final int index)
    {
        final SequencerClient client = clients[wrId / options.window()];
        check.add(client.index(), client.take(wrId % options.window(), batch.immediate(index)));
        arrivedCount++;
    }

    private int poll(final CompletionQueue queue)
    {
        final int count = queue.poll(batch);
        for (int i = 0; i < count; i++)
        {
            SequencerServer.check(batch.status(i));
        }
        return count;
    }

    private VerbCounters counters()
    {
        final VerbCounters counters = new VerbCounters();
        for (final SequencerClient client : clients)
        {
            counters.add(client.counters());
        }
        return server.addCounters(counters);
    }

    private void checkLimits(final int depth, final int completions)
    {
        final DeviceAttributes attributes = rig.requester().attributes();
        if (depth > attributes.maxQueuePairRequests() || completions > attributes.maxCompletions())
        {
            throw new RdmaException("too much for this device: clients=" + options.clients() + ", window=" +
                options.window() + " need queues of " + depth + " of " + attributes.maxQueuePairRequests() +
                " and completion queues of " + completions + " of " + attributes.maxCompletions());
        }
        if (variant.has(SequencerVariant.INLINE) && attributes.maxInlineBytes() < Long.BYTES)
        {
            throw new RdmaException("the device takes only " + attributes.maxInlineBytes() + " bytes inline");
        }
    }

    private long now()
    {
        return rig.requester().clock().nanoTime();
    }

    private <T extends AutoCloseable> T own(final T closeable)
    {
        closeables.push(closeable);
        return closeable;
    }

    /** Closes what the measurement made, the rig left alone. */
    @Override
    public void close()
    {
        while (!closeables.isEmpty())
        {
            try
            {
                closeables.pop().close();
            }
            catch (final Exception ex)
            {
                throw new RdmaException("cannot close after the measurement: " + ex.getMessage(), ex);
            }
        }
    }
}
