package io.verbena.rdma.sim;

import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.List;

/**
 * The requesting side of a simulated queue pair. A posted request is launched when fence and READ/atomic limit allow,
 * arrives at the responder after a delay and in order, is executed there in one or more steps ({@link SimResponder}),
 * and its response comes back after another delay. Completions appear in posting order.
 */
final class SimQueuePair extends StagedQueuePair
{
    static final int REQUEST = 0;
    static final int RESPONSE = 1;
    static final int CONNECT = 2;

    private final SimDevice device;
    private final SimFabric fabric;
    private final SimProtectionDomain protectionDomain;
    private final SimCompletionQueue sendCompletions;
    private final SimCompletionQueue receiveCompletions;
    private final ReceiveQueue receives;
    private final SimResponder responder;
    private final int number;
    private final int maxReadAtomic;
    /** Launched and not completed, in posting order. */
    private final ArrayDeque<SimRequest> launched = new ArrayDeque<>();
    /** Sent and not arrived. */
    private final ArrayDeque<SimRequest> travelling = new ArrayDeque<>();
    private QueuePairState state = QueuePairState.RESET;
    private SimQueuePair peer;
    private SimConnectionAttempt attempt;
    private int accessFlags;
    private long launchHead;
    private long lastArrivalNs;
    private long lastSendNs;
    private long lastResponseNs;
    private int outstandingReadAtomic;
    private int heldArrivals;
    private boolean isLaunchScheduled;
    private boolean isLaunchBlocked;
    private boolean isCut;
    private boolean isHeld;
    private boolean isClosed;

    SimQueuePair(
        final SimProtectionDomain protectionDomain,
        final SimCompletionQueue sendCompletions,
        final SimCompletionQueue receiveCompletions,
        final QueuePairCapabilities capabilities,
        final int number)
    {
        super(capabilities, SimDevice.MAX_MESSAGE_BYTES);
        this.device = protectionDomain.device();
        this.fabric = device.fabric();
        this.protectionDomain = protectionDomain;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.receives = new ReceiveQueue(capabilities.maxReceiveRequests());
        this.responder = new SimResponder(this);
        this.maxReadAtomic = capabilities.maxReadAtomic();
        this.number = number;
    }

    SimDevice device()
    {
        return device;
    }

    SimProtectionDomain protectionDomain()
    {
        return protectionDomain;
    }

    SimCompletionQueue receiveCompletions()
    {
        return receiveCompletions;
    }

    ReceiveQueue receives()
    {
        return receives;
    }

    SimQueuePair peer()
    {
        return peer;
    }

    int accessFlags()
    {
        return accessFlags;
    }

    int maxReadAtomic()
    {
        return maxReadAtomic;
    }

    /** Where decisions about messages of this queue pair belong. */
    long lane(final int direction)
    {
        return SimDecisions.lane(device.index(), number, direction);
    }

    /** What has arrived from the peer and is not executed. */
    List<SimRequest> inbound()
    {
        return responder.inbound();
    }

    /** How many posted requests have not set out. */
    long unlaunched()
    {
        return sendTail() - launchHead;
    }

    long decide(final SimDecision what, final long bound)
    {
        return fabric.decisions().next(what, lane(REQUEST), bound);
    }

    boolean isClosed()
    {
        return isClosed;
    }

    /** Whether no message passes between this side and its peer any more. */
    boolean isCut()
    {
        return isCut;
    }

    void cut()
    {
        isCut = true;
    }

    void hold(final boolean isHeld)
    {
        this.isHeld = isHeld;
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public QueuePairState state()
    {
        return state;
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        if (state == QueuePairState.RESET)
        {
            return PostStatus.INVALID_STATE;
        }
        if (!receives.offer(wrId, localAddress, lengthBytes, localKey))
        {
            return PostStatus.QUEUE_FULL;
        }
        if (state == QueuePairState.ERR)
        {
            flushReceives();
        }
        return PostStatus.OK;
    }

    void releaseReceive()
    {
        receives.release();
    }

    @Override
    public void moveToError()
    {
        if (state != QueuePairState.ERR && state != QueuePairState.RESET)
        {
            state = QueuePairState.ERR;
            responder.dropAll();
            flushSends();
            flushReceives();
        }
    }

    @Override
    public void close()
    {
        if (isClosed)
        {
            return;
        }
        if (attempt != null)
        {
            attempt.cancel();
        }
        isClosed = true;
        state = QueuePairState.RESET;
        responder.dropAll();
        launched.clear();
        sendCompletions.detach(this);
        receiveCompletions.detach(this);
        protectionDomain.queuePairClosed(this);
    }

    void toInit()
    {
        if (state != QueuePairState.RESET || isClosed)
        {
            throw new RdmaException("queue pair must be open and in state RESET: " + this);
        }
        state = QueuePairState.INIT;
    }

    void attempt(final SimConnectionAttempt attempt)
    {
        this.attempt = attempt;
    }

    void toReset(final SimConnectionAttempt failed)
    {
        if (attempt == failed && state == QueuePairState.INIT)
        {
            state = QueuePairState.RESET;
            receives.clear();
            responder.dropAll();
        }
    }

    void establish(final SimQueuePair peer, final int accessFlags)
    {
        this.peer = peer;
        this.accessFlags = accessFlags;
        if (state == QueuePairState.INIT)
        {
            state = QueuePairState.RTS;
            responder.serveSoon();
        }
    }

    @Override
    protected long inlineSource(final long localAddress, final int lengthBytes)
    {
        final RegisteredRegion region =
            lengthBytes == 0 ? null : device.keys().findContaining(localAddress, lengthBytes);
        if (region == null && lengthBytes != 0)
        {
            throw new RdmaException(
                "INLINE payload is not in memory of this device: localAddress=0x" + Long.toHexString(localAddress) +
                ", lengthBytes=" + lengthBytes + "; addresses of sim are those of MemoryRegion.address()");
        }
        return region == null ? 0 : region.rawAddress(localAddress);
    }

    @Override
    protected void onDoorbell()
    {
        if (state == QueuePairState.ERR)
        {
            flushSends();
        }
        else
        {
            launchSoon();
        }
    }

    @Override
    public String toString()
    {
        return "SimQueuePair{device=" + device.name() + ", number=" + number + ", state=" + state +
            ", isClosed=" + isClosed + ", isCut=" + isCut + '}';
    }

    private void launchSoon()
    {
        if (!isLaunchScheduled)
        {
            isLaunchScheduled = true;
            fabric.schedule(fabric.nowNs(), SimStep.Kind.LAUNCH, device.index(), number, this::launch);
        }
    }

    private void launch()
    {
        isLaunchScheduled = false;
        while (launchHead < sendTail() && state == QueuePairState.RTS && !isLaunchBlocked && !device.isKilled())
        {
            final WorkRequest posted = request(launchHead);
            if (mustWait(posted))
            {
                return;
            }
            final SimRequest request = new SimRequest(this, launchHead, posted, fabric.nowNs());
            launchHead++;
            launched.add(request);
            outstandingReadAtomic += request.isReadOrAtomic() ? 1 : 0;
            if (!takePayload(request, posted))
            {
                isLaunchBlocked = true;
                request.status = WorkCompletionStatus.LOC_PROT_ERR;
                request.isDone = true;
                retire();
                return;
            }
            send(request);
        }
    }

    private boolean mustWait(final WorkRequest posted)
    {
        if (outstandingReadAtomic == 0)
        {
            return false;
        }
        return (posted.flags & SendFlags.FENCE) != 0 ||
            posted.operation >= WorkRequest.READ &&
            outstandingReadAtomic >= Math.min(maxReadAtomic, peer.maxReadAtomic);
    }

    private boolean takePayload(final SimRequest request, final WorkRequest posted)
    {
        if (request.lengthBytes == 0)
        {
            return true;
        }
        if ((request.flags & SendFlags.INLINE) != 0)
        {
            MemorySegment.copy(
                inlinePayload(posted), ValueLayout.JAVA_BYTE, 0, request.payload, 0, request.lengthBytes);
            return true;
        }
        final MemorySegment local =
            localMemory(request, request.isReadOrAtomic() ? AccessFlags.LOCAL_WRITE : 0);
        if (local != null && !request.isReadOrAtomic())
        {
            MemorySegment.copy(local, ValueLayout.JAVA_BYTE, 0, request.payload, 0, request.lengthBytes);
        }
        return local != null;
    }

    private MemorySegment localMemory(final SimRequest request, final int neededFlags)
    {
        final RegisteredRegion region = device.keys().find(request.localKey);
        if (region == null ||
            !region.allows(protectionDomain, neededFlags, request.localAddress, request.lengthBytes))
        {
            return null;
        }
        return region.segment().asSlice(request.localAddress - region.address(), request.lengthBytes);
    }

    /** Requests whose arrival came during a pause set out again, in order. */
    void sendHeld()
    {
        for (; heldArrivals > 0; heldArrivals--)
        {
            scheduleArrival();
        }
    }

    private void send(final SimRequest request)
    {
        travelling.add(request);
        if (device.rnic() == null)
        {
            scheduleArrival();
            return;
        }
        final boolean isFirstOfDoorbell = lastSendNs != fabric.nowNs();
        lastSendNs = fabric.nowNs();
        device.rnic().send(request, isFirstOfDoorbell);
    }

    private void scheduleArrival()
    {
        scheduleArrival(fabric.nowNs() + fabric.drawDelayNs(device, number, REQUEST));
    }

    /** The oldest travelling request that has no time yet gets this one. */
    void scheduleArrival(final long timeNs)
    {
        // Never before an earlier one, so that one long delay holds up all that follow on this queue pair.
        lastArrivalNs = Math.max(lastArrivalNs + 1, timeNs);
        fabric.schedule(lastArrivalNs, SimStep.Kind.ARRIVE, device.index(), number, this::arrive);
    }

    /** The oldest travelling request arrives: whichever step brings it, order is kept. */
    private void arrive()
    {
        if (isHeld && device.isPaused())
        {
            heldArrivals++;
            return;
        }
        final SimRequest request = travelling.poll();
        if (isCut || device.isSilenced() || !peer.responder.offer(request))
        {
            giveUp(request);
        }
    }

    /** The responder, or the lack of one: sends the outcome back. */
    void respond(final SimRequest request, final int status)
    {
        request.status = status;
        if (device.rnic() == null)
        {
            scheduleResponse(request, fabric.nowNs() + fabric.drawDelayNs(device, number, RESPONSE));
        }
        else
        {
            peer.device.rnic().respond(request, peer.number);
        }
    }

    /** The NIC has all of a response. */
    void responseIsHere(final SimRequest request)
    {
        scheduleResponse(request, fabric.nowNs());
    }

    private void scheduleResponse(final SimRequest request, final long timeNs)
    {
        lastResponseNs = Math.max(lastResponseNs + 1, timeNs);
        fabric.schedule(lastResponseNs, SimStep.Kind.RESPOND, device.index(), number, () -> onResponse(request));
    }

    /** Nobody will answer: after the retry time the request fails. */
    void giveUp(final SimRequest request)
    {
        request.status = WorkCompletionStatus.RETRY_EXC_ERR;
        final long timeNs = Math.max(fabric.nowNs(), request.launchedNs + fabric.options().retryTimeoutNs());
        fabric.schedule(timeNs, SimStep.Kind.GIVE_UP, device.index(), number, () -> finish(request));
    }

    private void onResponse(final SimRequest request)
    {
        if (isCut)
        {
            giveUp(request);
        }
        else
        {
            finish(request);
        }
    }

    private void finish(final SimRequest request)
    {
        if (state != QueuePairState.RTS || request.isDone || device.isKilled())
        {
            return;
        }
        if (request.status == WorkCompletionStatus.SUCCESS && request.isReadOrAtomic())
        {
            land(request);
        }
        fabric.observer().onCompleted(request);
        request.isDone = true;
        retire();
    }

    private void land(final SimRequest request)
    {
        if (request.lengthBytes == 0)
        {
            return;
        }
        final MemorySegment local = localMemory(request, AccessFlags.LOCAL_WRITE);
        if (local == null)
        {
            request.status = WorkCompletionStatus.LOC_PROT_ERR;
        }
        else if (request.isAtomic())
        {
            local.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, request.found);
        }
        else
        {
            MemorySegment.copy(request.payload, 0, local, ValueLayout.JAVA_BYTE, 0, request.lengthBytes);
        }
    }

    private void retire()
    {
        while (!launched.isEmpty() && launched.peek().isDone && state == QueuePairState.RTS)
        {
            final SimRequest request = launched.poll();
            outstandingReadAtomic -= request.isReadOrAtomic() ? 1 : 0;
            if (request.status != WorkCompletionStatus.SUCCESS)
            {
                sendCompletions.pushSend(this, request.wrId, request.status, 0, 0, request.position + 1);
                moveToError();
            }
            else if ((request.flags & SendFlags.SIGNALED) != 0)
            {
                sendCompletions.pushSend(
                    this, request.wrId, request.status, request.operation, request.lengthBytes, request.position + 1);
            }
        }
        if (launchHead < sendTail() && state == QueuePairState.RTS)
        {
            launchSoon();
        }
    }

    private void flushSends()
    {
        while (!launched.isEmpty())
        {
            final SimRequest request = launched.poll();
            sendCompletions.pushSend(
                this, request.wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, request.position + 1);
        }
        while (launchHead < sendTail())
        {
            final WorkRequest posted = request(launchHead);
            launchHead++;
            sendCompletions.pushSend(this, posted.wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, launchHead);
        }
    }

    private void flushReceives()
    {
        while (!receives.isEmpty())
        {
            final long wrId = receives.wrId();
            receives.remove();
            receiveCompletions.pushReceive(this, wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, 0);
        }
    }
}
