package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.QueuePairStates;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The responding side of a connection, for one requester: executes what has arrived, in order except where the contract
 * lets a later request overtake, one piece of one request in each step.
 */
public final class SimResponder implements SimChoice, SimRequest.Executor
{
    private static final long MAX_PIECE_NS = 40;
    private static final int LINGER_ONE_IN = 4;
    /** How many requests are searched for one that may overtake. */
    private static final int OVERTAKING_WINDOW = 4;

    private final SimTarget target;
    private final boolean isReliable;
    private final SimNetwork network;
    private final SimTimeline timeline;
    private final IntConsumer onRefused;
    private final List<SimRequest> inbound = new ArrayList<>();
    /** When the next piece is executed; an earlier plan is void. */
    private long nextServeNs = Long.MAX_VALUE;
    /** A request ran out of RNR retries: what the requester sent after it is out of sequence and never executes. */
    private boolean isOutOfSequence;
    /** The latest atomic executed. */
    private long lastAtomic = -1;

    /** @param onRefused called with the status when a request is refused in a way that ends the connection. */
    SimResponder(final SimNetwork network, final SimTarget target, final IntConsumer onRefused)
    {
        this.network = network;
        this.target = target;
        this.onRefused = onRefused;
        this.isReliable = AccessChecks.answersRefusals(target.type());
        this.timeline = network.timeline();
    }

    @Override
    public SimHost host()
    {
        return target.host();
    }

    @Override
    public int number()
    {
        return target.number();
    }

    @Override
    public QueuePairState state()
    {
        return target.state();
    }

    @Override
    public boolean accepts(final SimRequest request)
    {
        return target.accepts(request);
    }

    @Override
    public boolean offer(final SimRequest request)
    {
        if (!isThere(request) || isOutOfSequence)
        {
            // A dead device may still serve what comes later; in order that never executes.
            isOutOfSequence |= target.host().isKilled();
            return false;
        }
        if (mayLinger(request))
        {
            request.retries.notBefore(
                timeline.nowNs() + target.decide(SimDecision.LINGER_NS, timeline.options().maxDelayNs()));
        }
        inbound.add(request);
        serveSoon();
        return true;
    }

    /** In INIT a request is dropped as long as the requester repeats it: here it waits for RTR instead. */
    private boolean isThere(final SimRequest request)
    {
        final QueuePairState state = target.state();
        return serves(request) &&
            (QueuePairStates.servesInbound(state) || state == QueuePairState.INIT && isReliable);
    }

    @Override
    public boolean withdraw(final SimRequest request)
    {
        return target.state() == QueuePairState.INIT && inbound.remove(request);
    }

    void reset()
    {
        dropAll();
        isOutOfSequence = false;
    }

    /** Arrived and not wholly executed. */
    List<SimRequest> inbound()
    {
        return inbound;
    }

    @Override
    public SimHost requester()
    {
        return inbound.get(0).requester.host();
    }

    @Override
    public SimHost at()
    {
        return target.host();
    }

    @Override
    public boolean isVoid()
    {
        return inbound.isEmpty();
    }

    @Override
    public boolean isResponse()
    {
        return false;
    }

    /** The oldest request in words. */
    @Override
    public String toString()
    {
        return inbound.isEmpty() ? "nothing" : inbound.get(0).toString();
    }

    @Override
    public long readyNs()
    {
        return earliestNs();
    }

    @Override
    public void describe(final StateWords words)
    {
        words.accept(isOutOfSequence);
        words.accept(inbound.size());
        for (final SimRequest request : inbound)
        {
            words.accept(target.accepts(request));
            request.describe(words);
        }
    }

    public boolean isReliable()
    {
        return isReliable;
    }

    /** Whether its next step commutes with that of another one, both {@link #touchesMemoryOnly()}. */
    public boolean commutesWith(final SimResponder other)
    {
        final MemorySegment memory = SimAccess.memory(target, inbound.get(0));
        final MemorySegment otherMemory = SimAccess.memory(other.target, other.inbound.get(0));
        final boolean isApart = memory.address() + memory.byteSize() <= otherMemory.address() ||
            otherMemory.address() + otherMemory.byteSize() <= memory.address();
        return isApart || !writes(memory) && !other.writes(otherMemory);
    }

    /** Whether its next step is an access that will succeed to memory, and concerns nobody else by anything else. */
    public boolean touchesMemoryOnly()
    {
        final SimRequest request = inbound.get(0);
        final boolean isMove = request.operation == WorkRequest.READ || request.isAtomic() ||
            request.operation == WorkRequest.WRITE && !request.hasImmediate;
        return isMove && request.lengthBytes > 0 && isReliable && !target.host().isKilled() &&
            !request.requester.host().isSilenced() && target.accepts(request) &&
            QueuePairStates.servesInbound(target.state()) && !WindowTable.isWindowKey(request.remoteKey) &&
            SimAccess.check(target, request) == WorkCompletionStatus.SUCCESS;
    }

    /** A swap that would not take place now only reads. */
    private boolean writes(final MemorySegment memory)
    {
        final SimRequest request = inbound.get(0);
        final boolean isVain = request.operation == WorkRequest.COMPARE_SWAP &&
            memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 0) != request.operand;
        return request.operation != WorkRequest.READ && !isVain;
    }

    /**
     * A request that succeeded comes again, because its response was lost: it is answered as before. What a READ brings
     * is read anew, unless a later atomic could show in it.
     */
    @Override
    public boolean repeat(final SimRequest request)
    {
        if (!isThere(request) || isOutOfSequence)
        {
            return false;
        }
        if (!timeline.options().repeatsRecognised())
        {
            request.beginAgain();
            return offer(request);
        }
        final boolean isRead = request.operation == WorkRequest.READ && request.lengthBytes > 0;
        if (isRead && request.launch.sequence() > lastAtomic &&
            SimAccess.check(target, request) == WorkCompletionStatus.SUCCESS)
        {
            MemorySegment.copy(
                SimAccess.memory(target, request), ValueLayout.JAVA_BYTE, 0, request.payload.bytes, 0,
                request.lengthBytes);
        }
        request.requester.respond(request, request.status);
        return true;
    }

    /** The oldest request never comes; for unreliable ones. */
    public void lose()
    {
        inbound.remove(0);
        nextServeNs = Long.MAX_VALUE;
        serveSoon();
    }

    void serveSoon()
    {
        serveAt(timeline.nowNs());
    }

    /** The queue pair takes nothing any more; what is half executed stays so. */
    void dropAll()
    {
        for (final SimRequest request : inbound)
        {
            request.requester.giveUp(request);
        }
        inbound.clear();
    }

    /** The device died: what it does not serve any more goes, and what came behind it in order. */
    private void dropUnserved()
    {
        for (int i = 0; i < inbound.size(); i++)
        {
            if (!serves(inbound.get(i)))
            {
                final List<SimRequest> dropped = inbound.subList(i, inbound.size());
                dropped.forEach(request -> request.requester.giveUp(request));
                dropped.clear();
                isOutOfSequence = true;
            }
        }
    }

    private void serveAt(final long timeNs)
    {
        if (timeNs < nextServeNs && !inbound.isEmpty() && QueuePairStates.servesInbound(target.state()))
        {
            nextServeNs = timeNs;
            timeline.schedule(
                timeNs, SimStep.Kind.SERVE, target.host().index(), target.number(), this,
                () -> serve(timeNs));
        }
    }

    private void serve(final long plannedNs)
    {
        if (plannedNs != nextServeNs)
        {
            return;
        }
        nextServeNs = Long.MAX_VALUE;
        if (target.host().isKilled())
        {
            dropUnserved();
        }
        if (inbound.isEmpty() || !QueuePairStates.servesInbound(target.state()))
        {
            return;
        }
        final SimRequest request = choose();
        if (request == null)
        {
            serveAt(earliestNs());
        }
        else if (request.requester.host().isSilenced() || !target.accepts(request))
        {
            inbound.remove(request);
            request.requester.giveUp(request);
            serveSoon();
        }
        else
        {
            target.serving();
            final int before = request.progress();
            final int status = executePiece(request);
            if (status != SimRequest.PENDING || request.progress() > before)
            {
                network.observer().onExecuted(target.host(), request);
            }
            if (status != SimRequest.PENDING)
            {
                answer(request, status);
            }
            serveAt(timeline.nowNs() + target.decide(SimDecision.PIECE_NS, MAX_PIECE_NS + 1));
        }
    }

    private void answer(final SimRequest request, final int status)
    {
        inbound.remove(request);
        final SimRequest.Requester requester = request.requester;
        if (isReliable)
        {
            requester.respond(request, status);
        }
        if (status == WorkCompletionStatus.SUCCESS)
        {
            requester.host().onExecuted();
        }
        else if (isReliable && status == WorkCompletionStatus.RNR_RETRY_EXC_ERR)
        {
            isOutOfSequence = true;
            dropAll();
        }
        else if (isReliable || status == WorkCompletionStatus.REM_OP_ERR)
        {
            // Of what is refused on an unreliable queue pair only a receive of its own that is wrong fails it.
            onRefused.accept(status);
        }
    }

    /**
     * The oldest request, or by chance one that may overtake all before it; null when those have to wait. What would
     * fail overtakes nothing, because a refusal acknowledges everything before it; nor is it overtaken, as
     * nothing behind it is executed.
     */
    private SimRequest choose()
    {
        for (int i = window() - 1; i >= 0; i--)
        {
            final SimRequest candidate = inbound.get(i);
            if (candidate.retries.notBeforeNs() <= timeline.nowNs() && mayOvertakeAllBefore(i) &&
                (i == 0 || target.decide(SimDecision.OVERTAKE, 2) > 0 && willSucceed(candidate)))
            {
                return candidate;
            }
        }
        return null;
    }

    private long earliestNs()
    {
        long earliestNs = Math.max(inbound.get(0).retries.notBeforeNs(), timeline.nowNs());
        for (int i = 1; i < window(); i++)
        {
            if (mayOvertakeAllBefore(i))
            {
                earliestNs = Math.min(earliestNs, Math.max(inbound.get(i).retries.notBeforeNs(), timeline.nowNs() + 1));
            }
        }
        return earliestNs;
    }

    private int window()
    {
        return Math.min(inbound.size(), OVERTAKING_WINDOW);
    }

    private boolean mayOvertakeAllBefore(final int index)
    {
        for (int i = 0; i < index; i++)
        {
            if (!mayOvertake(inbound.get(index), inbound.get(i)) || !willSucceed(inbound.get(i)))
            {
                return false;
            }
        }
        return true;
    }

    /** A request that others may overtake is sometimes slow to begin. */
    private boolean mayLinger(final SimRequest request)
    {
        final boolean canBeOvertaken = request.isAtomic() ?
            timeline.options().readAfterAtomicNeedsFence() :
            request.operation == WorkRequest.READ && timeline.options().readOvertakenByWrite();
        return canBeOvertaken && target.decide(SimDecision.LINGER, LINGER_ONE_IN) == LINGER_ONE_IN - 1;
    }

    private boolean mayOvertake(final SimRequest later, final SimRequest earlier)
    {
        if ((later.flags & SendFlags.FENCE) != 0)
        {
            return false;
        }
        if (later.operation == WorkRequest.READ)
        {
            return earlier.isAtomic() && timeline.options().readAfterAtomicNeedsFence();
        }
        return !later.isAtomic() && earlier.operation == WorkRequest.READ && timeline.options().readOvertakenByWrite();
    }

    private boolean willSucceed(final SimRequest request)
    {
        if (request.consumesReceive() &&
            (target.receives().isEmpty() || SimReceiver.check(target, request) != WorkCompletionStatus.SUCCESS))
        {
            return false;
        }
        return request.isSend() || SimAccess.check(target, request) == WorkCompletionStatus.SUCCESS;
    }

    private int executePiece(final SimRequest request)
    {
        return switch (request.operation)
        {
            case WorkRequest.SEND -> consumeReceive(request);
            case WorkRequest.READ -> movePiece(request);
            case WorkRequest.WRITE -> write(request);
            default -> executeAtomic(request);
        };
    }

    private int write(final SimRequest request)
    {
        if (!request.payload.isPlaced())
        {
            final int status = movePiece(request);
            if (status != WorkCompletionStatus.SUCCESS || !request.hasImmediate)
            {
                return status;
            }
            // Only the last packet meets the missing receive: the payload is not written again.
            request.payload.placed();
        }
        return consumeReceive(request);
    }

    private int movePiece(final SimRequest request)
    {
        final int status = SimAccess.check(target, request);
        if (status != WorkCompletionStatus.SUCCESS || request.lengthBytes == 0)
        {
            return status;
        }
        request.payload.cut(
            timeline.options().tearing(), timeline.decisions(), request.requester.lane(SimRequest.REQUEST));
        final boolean isLast = request.payload.moveNextPiece(
            SimAccess.memory(target, request), request.operation == WorkRequest.READ, timeline.trace());
        return isLast ? WorkCompletionStatus.SUCCESS : SimRequest.PENDING;
    }

    private int executeAtomic(final SimRequest request)
    {
        final int status = SimAccess.check(target, request);
        if (status == WorkCompletionStatus.SUCCESS)
        {
            final long address = SimAccess.memory(target, request).address();
            request.payload.found = request.operation == WorkRequest.COMPARE_SWAP ?
                RawMemory.compareSwap(address, request.operand, request.desired) :
                RawMemory.fetchAdd(address, request.operand);
            timeline.trace().mix(request.payload.found);
            lastAtomic = Math.max(lastAtomic, request.launch.sequence());
        }
        return status;
    }

    private int consumeReceive(final SimRequest request)
    {
        if (target.receives().isEmpty())
        {
            return isReliable ? awaitReceive(request) : WorkCompletionStatus.RNR_RETRY_EXC_ERR;
        }
        if (!isReliable && SimReceiver.check(target, request) == WorkCompletionStatus.LOC_LEN_ERR)
        {
            return WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        return SimReceiver.consume(target, request);
    }

    /** Receiver not ready: tried again after the time that this side names, as often as the requester may. */
    private int awaitReceive(final SimRequest request)
    {
        final int retries = request.requester.rnrRetries();
        final boolean isWaiting = retries == SimRequest.RNR_BY_TIME ?
            request.retries.awaitReceive(timeline.nowNs(), timeline.options().rnrTimeoutNs()) :
            request.retries.awaitReceiveUntil(timeline.nowNs() + target.rnrWaitNs(), retries);
        return isWaiting ? SimRequest.PENDING : WorkCompletionStatus.RNR_RETRY_EXC_ERR;
    }

    @Override
    public void placePart(final SimRequest request, final int arrivedBytes)
    {
        if (!QueuePairStates.servesInbound(target.state()) || target.host().isKilled() || !target.accepts(request))
        {
            return;
        }
        if (request.operation != WorkRequest.WRITE)
        {
            SimReceiver.spoil(target, request, arrivedBytes);
        }
        else if (SimAccess.check(target, request) == WorkCompletionStatus.SUCCESS)
        {
            MemorySegment.copy(
                request.payload.bytes, 0, SimAccess.memory(target, request), ValueLayout.JAVA_BYTE, 0, arrivedBytes);
            timeline.trace().mix(request.payload.bytes, 0, arrivedBytes);
        }
    }

    private boolean serves(final SimRequest request)
    {
        return target.host().serves(request.isSend() || request.hasImmediate, request.remoteKey);
    }
}
