package io.verbena.rdma.conformance.perf;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Goes the whole way from nothing to a first READ, several times, and times each step at the requester; the responder
 * takes the same steps, after it and not timed, in the same process. Nothing is kept between rounds but what the
 * process has loaded by then. Used once, by one thread.
 */
public final class SetupRun
{
    private static final int SERVICE_PORT = 18_516;
    private static final int QUEUE_DEPTH = 64;
    private static final int RESPONDER_DEPTH = 4;
    private static final int READ_BYTES = 64;
    private static final int REGION_BYTES = 4096;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private final String fabricName;
    private final int rounds;
    private final NanoClock clock;
    private final Map<SetupStep, List<Long>> times = new EnumMap<>(SetupStep.class);
    private final WorkCompletions completion = new WorkCompletions(1);

    /**
     * @param fabricName as {@link Fabrics#open} takes it; of a fabric that works in real time.
     * @param rounds     1 or more; the first one is cold.
     * @param clock      measures.
     */
    public SetupRun(final String fabricName, final int rounds, final NanoClock clock)
    {
        this.fabricName = fabricName;
        this.rounds = rounds;
        this.clock = clock;
    }

    /** Asks the provider whether it can be used, which is the first step; to be called before anybody else asks. */
    public void loadLibrary()
    {
        final int colon = fabricName.indexOf(':');
        final String provider = colon < 0 ? fabricName : fabricName.substring(0, colon);
        timed(SetupStep.LIBRARY_LOAD, () -> Fabrics.providers().stream()
            .filter(known -> known.name().equals(provider)).map(known -> known.unavailableReason() == null).toList());
    }

    /**
     * Measures.
     *
     * @return all steps, in order.
     * @throws RdmaException when a step failed, with its reason.
     */
    public List<SetupResult> run()
    {
        for (int round = 0; round < rounds; round++)
        {
            runRound();
        }
        final List<SetupResult> results = new ArrayList<>();
        for (final SetupStep step : SetupStep.values())
        {
            results.add(new SetupResult(
                step, times.getOrDefault(step, List.of()).stream().mapToLong(Long::longValue).toArray()));
        }
        return results;
    }

    private void runRound()
    {
        try (Fabric fabric = timed(SetupStep.FABRIC_OPEN, () -> Fabrics.open(fabricName));
            Device device = timed(SetupStep.DEVICE_OPEN, () -> fabric.openDevice("requester"));
            Device peer = fabric.openDevice("responder");
            ProtectionDomain domain = timed(SetupStep.PROTECTION_DOMAIN, device::allocateProtectionDomain);
            ProtectionDomain peerDomain = peer.allocateProtectionDomain();
            MemoryRegion region = timed(SetupStep.REGION,
                () -> domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE));
            MemoryRegion peerRegion = peerDomain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
            CompletionQueue queue = timed(SetupStep.COMPLETION_QUEUE, () -> device.createCompletionQueue(QUEUE_DEPTH));
            CompletionQueue peerQueue = peer.createCompletionQueue(QUEUE_DEPTH))
        {
            final boolean hasStates = device.attributes().supports(DeviceCapability.QUEUE_PAIR_STATES);
            if (hasStates)
            {
                try (QueuePair own = timed(SetupStep.QUEUE_PAIR, () -> queuePair(domain, queue));
                    QueuePair other = queuePair(peerDomain, peerQueue))
                {
                    bringUp(own, peer, other);
                }
            }
            try (QueuePair own = hasStates ?
                    queuePair(domain, queue) : timed(SetupStep.QUEUE_PAIR, () -> queuePair(domain, queue));
                QueuePair other = queuePair(peerDomain, peerQueue);
                ConnectionListener listener = peer.listen(SERVICE_PORT))
            {
                final long beganNs = clock.nanoTime();
                PairConnection.make(device, own, peer, SERVICE_PORT, listener, other, Thread::onSpinWait);
                note(SetupStep.CONNECT, clock.nanoTime() - beganNs);
                timed(SetupStep.FIRST_READ, () -> read(own, queue, region, peerRegion));
            }
        }
    }

    private QueuePair queuePair(final ProtectionDomain domain, final CompletionQueue queue)
    {
        return domain.createQueuePair(
            queue, queue, new QueuePairCapabilities(QUEUE_DEPTH / 2, QUEUE_DEPTH / 2, 0, RESPONDER_DEPTH));
    }

    private void bringUp(final QueuePair queuePair, final Device peer, final QueuePair other)
    {
        final QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
            .port(peer.port().number()).accessFlags(AccessFlags.ALL_REMOTE);
        final QueuePairAttributes readyToReceive = new QueuePairAttributes().state(QueuePairState.RTR)
            .destination(peer.address()).destinationNumber(other.number()).rqPsn(0).pathMtuBytes(1024)
            .maxDestinationReadAtomic(RESPONDER_DEPTH).minRnrTimer(12);
        final QueuePairAttributes readyToSend = new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0)
            .timeout(14).retryCount(6).rnrRetry(6).maxReadAtomic(RESPONDER_DEPTH);
        modify(SetupStep.INIT, queuePair, init);
        modify(SetupStep.READY_TO_RECEIVE, queuePair, readyToReceive);
        modify(SetupStep.READY_TO_SEND, queuePair, readyToSend);
    }

    private void modify(final SetupStep step, final QueuePair queuePair, final QueuePairAttributes attributes)
    {
        final long beganNs = clock.nanoTime();
        queuePair.modify(attributes);
        note(step, clock.nanoTime() - beganNs);
    }

    private boolean read(
        final QueuePair queuePair, final CompletionQueue queue, final MemoryRegion local, final MemoryRegion remote)
    {
        queuePair.begin();
        queuePair.read(1, SendFlags.SIGNALED,
            local.address(), READ_BYTES, local.localKey(), remote.address(), remote.remoteKey());
        final int status = queuePair.complete();
        if (status != PostStatus.OK)
        {
            throw new RdmaException("posting failed: status=" + status);
        }
        final long deadlineNs = clock.nanoTime() + TIMEOUT_NS;
        while (queue.poll(completion) == 0)
        {
            if (clock.nanoTime() - deadlineNs > 0)
            {
                throw new RdmaException("the first READ did not complete within " + TIMEOUT_NS + " ns");
            }
            Thread.onSpinWait();
        }
        if (completion.status(0) != WorkCompletionStatus.SUCCESS)
        {
            throw new RdmaException("the first READ failed: " + WorkCompletionStatus.text(completion.status(0)));
        }
        return true;
    }

    private <T> T timed(final SetupStep step, final Supplier<T> work)
    {
        final long beganNs = clock.nanoTime();
        final T result = work.get();
        note(step, clock.nanoTime() - beganNs);
        return result;
    }

    private void note(final SetupStep step, final long durationNs)
    {
        times.computeIfAbsent(step, absent -> new ArrayList<>()).add(durationNs);
    }
}
