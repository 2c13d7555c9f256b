package io.verbena.protocol.remote;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.DutyLock;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.agrona.concurrent.NanoClock;

import java.lang.invoke.VarHandle;

/**
 * A compute node in another process, as an endpoint: requests become messages over one virtual queue pair. Any thread
 * submits; one thread at a time, the owner of the context, drives {@link #poll} and everything else: who has the
 * {@link DutyLock}.
 *
 * <p>A request that was not sent when the connection ends is answered NOT_SERVING: another node may take it. One that
 * was sent has an unknown outcome. So that a node's death is noticed although nothing is sent, the node's status word
 * is READ now and then: more often while answers are awaited. Nothing is sent unless the node was seen to serve not
 * long ago ({@link RequestServer#LINGER_NS}): a client that had no processor for a while might else ask a node that has
 * left in order meanwhile, and never know whether it was heard.
 */
public final class RemoteEndpoint implements ComputeEndpoint, AutoCloseable
{
    /** Where it stands. */
    public enum State
    {
        /** Being connected, and looked at for the first time: requests wait. */
        CONNECTING,
        /** Takes requests. */
        READY,
        /** The node answers what it has, and takes nothing new. */
        DRAINING,
        /** Not reached, or lost: requests are answered NOT_SERVING. To be closed. */
        FAILED
    }

    private static final int QUEUE_CAPACITY = 4096;
    private static final long BUSY_PROBE_NS = 20_000_000;
    private static final long IDLE_PROBE_NS = 500_000_000;
    /** How long after a look began that showed a node that serves it may be asked, so that what is sent is in time. */
    private static final long TRUST_NS = RequestServer.LINGER_NS / 2;
    private static final String LEAVES = "node leaves";

    private final RaasContext raas;
    private final NanoClock clock;
    private final int id;
    private final DutyLock dutyLock;
    private final ManyToOneConcurrentArrayQueue<NodeRequest> queue =
        new ManyToOneConcurrentArrayQueue<>(QUEUE_CAPACITY);
    private final VirtualQp vqp;
    private final MemoryRegion statusCopy;
    private final RequestSender sender;
    private final DutyLock.Entrance entrance = this::enter;
    private final DutyLock.Entrance queueing = this::enqueue;
    private volatile boolean isRefusing;
    private State state = State.CONNECTING;
    private String statusProblem = "";
    private long nextProbeNs;
    private long probedNs;
    private long trustedUntilNs;
    private boolean isProbing;

    /**
     * Connects; returns at once.
     *
     * @param raas      of the client, made with {@link #configure}.
     * @param peer      where the node's {@link RequestServer} listens.
     * @param id        see {@link ComputeEndpoint#id()}: the incarnation of the node's registration.
     * @param dutyLock  over the duty cycle that polls this.
     * @param timeoutNs to connect.
     * @throws RdmaException when memory or a queue pair cannot be made; then nothing is left of it.
     */
    public RemoteEndpoint(
        final RaasContext raas, final PeerAddress peer, final int id, final DutyLock dutyLock, final long timeoutNs)
    {
        this.raas = raas;
        this.id = id;
        this.dutyLock = dutyLock;
        clock = raas.clock();
        trustedUntilNs = clock.nanoTime(); // not before it was looked at
        statusCopy = raas.protectionDomain().allocateRegistered(
            ServiceStatusDescriptor.LENGTH_BYTES, AccessFlags.LOCAL_WRITE);
        vqp = connect(peer, timeoutNs);
        sender = new RequestSender(raas, vqp);
    }

    private VirtualQp connect(final PeerAddress peer, final long timeoutNs)
    {
        try
        {
            return raas.connect(peer, this::onProbed, timeoutNs);
        }
        catch (final RuntimeException | Error ex)
        {
            statusCopy.close();
            throw ex;
        }
    }

    /**
     * Settings of a context for endpoints.
     *
     * @param maxNodes that are connected at once.
     * @return settings, to be added to by the caller.
     */
    public static RaasConfiguration configure(final int maxNodes)
    {
        final int sendQueueDepth = 64;
        return new RaasConfiguration()
            .identity(PeerIdentity.CLIENT)
            .rpcCredits(RequestServer.CREDITS)
            .sendQueueDepth(sendQueueDepth)
            .maxChannels(maxNodes)
            .maxCalls(maxNodes * RequestServer.CREDITS)
            .completionQueueCapacity(maxNodes * (sendQueueDepth + 2 * RequestServer.CREDITS + 1));
    }

    @Override
    public int id()
    {
        return id;
    }

    @Override
    public int submit(final NodeRequest request)
    {
        final int status = enqueue(request);
        if (ACCEPTED == status)
        {
            dutyLock.wake();
        }
        return status;
    }

    @Override
    public int submitAndWork(final NodeRequest request)
    {
        if (dutyLock.isMine())
        {
            return NESTED;
        }
        return dutyLock.submit(request, entrance, queueing);
    }

    @Override
    public boolean isFar()
    {
        return raas.device().pollsBySystemCall();
    }

    /** By the holder of the lock: sends it at once, unless others wait already, or it has to wait. */
    private int enter(final NodeRequest request)
    {
        final long nowNs = clock.nanoTime();
        if (State.READY != state || !queue.isEmpty() || !sender.hasRoom() || !isTrusted(nowNs))
        {
            return enqueue(request);
        }
        request.queue();
        send(request, nowNs);
        return ACCEPTED;
    }

    private int enqueue(final NodeRequest request)
    {
        if (isRefusing)
        {
            return CLOSED;
        }
        request.queue();
        if (!queue.offer(request))
        {
            request.unqueue();
            return FULL;
        }
        VarHandle.fullFence(); // the request is in the queue before we look whether its reader has gone
        if (isRefusing && request.withdraw())
        {
            return CLOSED;
        }
        return ACCEPTED;
    }

    /** @return where it stands; by the owner thread, as all that follows. */
    public State state()
    {
        return state;
    }

    /**
     * Has requests wait until the node is looked at anew, as one that is being connected: for a connection that was
     * made long before the first request. The node may have died meanwhile, and what was sent then would never be
     * answered. A look that is under way is enough.
     *
     * @param nowNs time now.
     */
    public void lookAnew(final long nowNs)
    {
        if (State.READY == state)
        {
            state = State.CONNECTING;
        }
        nextProbeNs = nowNs;
    }

    /** @return whether it takes requests no longer, as of now: {@link #poll} may be still to say so. */
    public boolean isEnding()
    {
        return State.DRAINING == state || State.FAILED == state || VirtualQp.State.FAILED == vqp.state();
    }

    /** @return why it FAILED; empty otherwise. */
    public String failure()
    {
        return statusProblem.isEmpty() ? vqp.failure() : statusProblem;
    }

    /** @return requests sent and not answered, or waiting to be sent. */
    public boolean isBusy()
    {
        return sender.isBusy() || !queue.isEmpty() || State.CONNECTING == state;
    }

    /**
     * Sends what waits, and looks after the connection; between two polls of the context.
     *
     * @param nowNs time now.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        int work = followConnection();
        switch (state)
        {
            case READY ->
            {
                work += isTrusted(nowNs) ? sender.poll(nowNs) + sendQueued(nowNs) : 0;
                probe(nowNs);
            }
            case DRAINING ->
            {
                work += sender.poll(nowNs) + refuseQueued(LEAVES);
                probe(nowNs);
            }
            case FAILED -> work += refuseQueued(failure());
            case CONNECTING ->
            {
                if (VirtualQp.State.READY == vqp.state())
                {
                    probe(nowNs); // what is queued waits for the first look
                }
            }
        }
        return work;
    }

    /** The clock is looked at for each: between any two this thread may be without a processor for long. */
    private int sendQueued(final long nowNs)
    {
        int sent = 0;
        NodeRequest request;
        while (sender.hasRoom() && !queue.isEmpty() && isTrusted(clock.nanoTime()) && null != (request = queue.poll()))
        {
            send(request, nowNs);
            sent++;
        }
        return sent;
    }

    private boolean isTrusted(final long nowNs)
    {
        return trustedUntilNs - nowNs > 0;
    }

    private int followConnection()
    {
        if (State.FAILED == state)
        {
            return 0;
        }
        if (VirtualQp.State.FAILED == vqp.state())
        {
            state = State.FAILED;
            stopTaking();
            return 1;
        }
        return 0;
    }

    private void send(final NodeRequest request, final long nowNs)
    {
        if (request instanceof final OperationRequest operation)
        {
            sender.send(operation, nowNs);
        }
        else
        {
            sender.send((ControlRequest)request, nowNs);
        }
    }

    private void probe(final long nowNs)
    {
        final boolean isDue = nextProbeNs - nowNs <= 0 || sender.isBusy() && nextProbeNs - nowNs > BUSY_PROBE_NS ||
            isBusy() && !isTrusted(nowNs);
        if (!isProbing && isDue && vqp.space() > 0)
        {
            probedNs = nowNs;
            nextProbeNs = nowNs + (sender.isBusy() ? BUSY_PROBE_NS : IDLE_PROBE_NS);
            vqp.begin();
            vqp.read(statusCopy, 0, ServiceStatusDescriptor.LENGTH_BYTES, vqp.peerRegions().getFirst(), 0);
            isProbing = PostStatus.OK == vqp.complete(0);
        }
    }

    private void onProbed(final VirtualQp from, final int cookie, final int status)
    {
        isProbing = false;
        if (WorkCompletionStatus.SUCCESS != status || State.READY != state && State.CONNECTING != state)
        {
            return;
        }
        switch (ServiceStatusDescriptor.state(statusCopy))
        {
            case ServiceStatusDescriptor.STATE_SERVING ->
            {
                state = State.READY;
                trustedUntilNs = probedNs + TRUST_NS;
            }
            case ServiceStatusDescriptor.STATE_DRAINING ->
            {
                state = State.DRAINING;
                stopTaking();
                sender.beginNoMore(LEAVES);
            }
            default ->
            {
                statusProblem = ServiceStatusDescriptor.problem(statusCopy);
                state = State.FAILED;
                stopTaking();
            }
        }
    }

    private void stopTaking()
    {
        isRefusing = true;
        VarHandle.fullFence(); // whoever does not see this has enqueued before the polls that follow
    }

    private int refuseQueued(final String detail)
    {
        int refused = 0;
        NodeRequest request;
        while (null != (request = queue.poll()))
        {
            Refusals.refuse(request, detail);
            refused++;
        }
        return refused;
    }

    /**
     * Ends the connection. What was not sent is answered NOT_SERVING now; what was sent ends with an unknown outcome in
     * the next poll of the context.
     */
    @Override
    public void close()
    {
        stopTaking();
        state = State.FAILED;
        raas.retire(vqp, statusCopy);
        raas.forget(vqp.peer()); // a node that leaves waits until it has no connections
        refuseQueued("connection to the compute node is closed");
        sender.close();
    }

    @Override
    public String toString()
    {
        return "RemoteEndpoint{id=" + id + ", peer=" + vqp.peer() + ", state=" + state + '}';
    }
}
