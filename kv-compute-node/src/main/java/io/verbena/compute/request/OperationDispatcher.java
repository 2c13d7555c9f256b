package io.verbena.compute.request;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.figures.DeniedTally;
import io.verbena.compute.figures.JoinTimeline;
import io.verbena.compute.figures.OperationFigures;
import io.verbena.compute.figures.OperationTraces;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.UserRights;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.table.TableEngine;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationListener;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;

import org.agrona.concurrent.NanoClock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/**
 * Carries operations from requests into the engine and answers back. Owned by the node's thread. Allocates nothing but
 * the value that a GET returns.
 */
public final class OperationDispatcher implements OperationListener, TableRegistry.Waiters
{
    private static final VarHandle COUNTER =
        MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int[] ENGINE_KINDS = engineKinds();
    /** Requests taken from the queue in one duty cycle, so that completions are not kept waiting. */
    private static final int MAX_TAKES = 32;
    /** The same where there are users: most of them are only kept then. */
    private static final int MAX_SHARED_TAKES = 256;

    private final TableRequest tableRequest = new TableRequest();
    private final NanoClock clock;
    private final JoinTimeline timeline;
    private final UnexpectedFailures failures;
    private final ScanDispatcher scans;
    private final OperationFigures figures;
    private final DeniedTally denied = new DeniedTally();
    private final OperationTraces traces;
    private final OperationRequest[] inFlight;
    private final long[] beganNs;
    private final long[] waitedNs;
    private final int[] freeSlots;
    private final UserShares shares;
    private final UserShare[] shareOf;
    private final ArrayDeque<OperationRequest> overflow = new ArrayDeque<>();
    private int freeCount;
    private TableEngine engine;
    private TableRegistry tables;
    /** By the node's thread; others read it. */
    private volatile AccessRules access = AccessRules.NONE;

    /**
     * @param slotCount operations under way at a time, at most; 1 or more.
     * @param clock     of the device.
     * @param timeline  takes when the first answer was.
     * @param failures  counts what a request meets unexpectedly.
     * @param figures   counts what is answered.
     */
    public OperationDispatcher(
        final int slotCount, final NanoClock clock, final JoinTimeline timeline, final UnexpectedFailures failures,
        final OperationFigures figures)
    {
        this.failures = failures;
        this.figures = figures;
        traces = figures.traces();
        this.clock = clock;
        this.timeline = timeline;
        scans = new ScanDispatcher(clock, failures, figures);
        inFlight = new OperationRequest[slotCount];
        shares = new UserShares(slotCount);
        shareOf = new UserShare[slotCount];
        beganNs = new long[slotCount];
        waitedNs = new long[slotCount];
        freeSlots = new int[slotCount];
        for (int i = 0; i < slotCount; i++)
        {
            freeSlots[i] = i;
        }
        freeCount = slotCount;
    }

    /** A session begins: operations go to its engine and its tables from now on, until {@link #close}. */
    public void open(final TableEngine engine, final TableRegistry tables)
    {
        this.engine = engine;
        this.tables = tables;
        scans.open(engine, tables);
    }

    /** @return what was denied since it was reported. */
    public DeniedTally denied()
    {
        return denied;
    }

    /** @return who may do what now. Any thread. */
    public AccessRules access()
    {
        return access;
    }

    /** @param rules that count from now on, also for operations that wait. */
    public void access(final AccessRules rules)
    {
        access = rules;
        shares.users(rules, clock.nanoTime());
    }

    private boolean hasRoom()
    {
        return freeCount > 0 && engine.freeSlots() > 0 && overflow.isEmpty();
    }

    /**
     * Where there are users more is taken than can be begun, so that nobody waits behind all that another has left.
     *
     * @param taken since the last look at what has completed.
     * @return true if one more operation can be taken.
     */
    public boolean mayTake(final int taken)
    {
        return shares.isEnforced() ? taken < MAX_SHARED_TAKES && shares.hasPlace() : taken < MAX_TAKES && hasRoom();
    }

    /** @return operations handed to the engine, or kept, and not answered. */
    public int active()
    {
        return inFlight.length - freeCount + overflow.size() + scans.active() + shares.waitingCount();
    }

    /** @return operations answered so far. */
    public long answeredCount()
    {
        return figures.answeredCount();
    }

    /** Begins operations whose table was opened while the engine had no room. */
    public int poll()
    {
        int workCount = scans.poll();
        while (!overflow.isEmpty() && freeCount > 0 && engine.freeSlots() > 0)
        {
            accept(overflow.poll(), clock.nanoTime());
            workCount++;
        }
        return workCount + (0 == shares.waitingCount() ? 0 : beginWaiting(clock.nanoTime()));
    }

    /**
     * Takes an operation out of the queue: begins it; or, where there are users, keeps it until the turn of its user,
     * or refuses what is over a quota. {@link #mayTake} must hold.
     *
     * @param nowNs time now, or a little earlier: the engine keeps the deadline.
     */
    public void take(final OperationRequest request, final long nowNs)
    {
        if (!shares.isEnforced() || NodeRequest.QUEUED != request.state())
        {
            accept(request, nowNs);
            return;
        }
        final UserShare share = shares.of(request.caller());
        if (shares.isOfOthers(share) && null != access.rights(request.caller()))
        {
            accept(request, nowNs); // which denies it: whoever has no right takes no place
            return;
        }
        final boolean isRange = request.kind().isRange();
        final long retryNs = share.overQuotaNs(isRange, nowNs);
        if (0 != retryNs)
        {
            refuseOverQuota(request, retryNs, share.whyOverQuota(isRange, nowNs));
            return;
        }
        share.onTaken(request, nowNs);
        if (isRange || 0 == shares.waitingCount() && hasRoom() && !shares.isAtMost(share))
        {
            accept(request, nowNs);
        }
        else
        {
            shares.add(share, request);
        }
    }

    /**
     * Begins operations of users whose turn it is, as far as there is room.
     *
     * @param nowNs as for {@link #take}.
     * @return how many left the places where they waited.
     */
    public int beginWaiting(final long nowNs)
    {
        int begun = 0;
        OperationRequest next;
        while (shares.waitingCount() > 0 && hasRoom() && null != (next = shares.next()))
        {
            accept(next, nowNs);
            begun++;
        }
        return begun;
    }

    private void refuseOverQuota(final OperationRequest request, final long retryNs, final String detail)
    {
        if (request.start())
        {
            figures.refused(request.kind(), OperationAnswer.QUOTA_EXCEEDED);
            request.answer(OperationAnswer.QUOTA_EXCEEDED, null, retryNs, detail);
            request.complete();
        }
    }

    private void accept(final OperationRequest request, final long nowNs)
    {
        if (NodeRequest.QUEUED != request.state())
        {
            return; // withdrawn
        }
        final OpenTable table;
        try
        {
            table = prepare(request, nowNs);
        }
        catch (final RuntimeException ex)
        {
            // The engine has not seen it: nobody else is harmed.
            refuse(request, OperationAnswer.UNREACHABLE, failures.onFailure(request, ex));
            return;
        }
        if (null != table && request.kind().isRange())
        {
            scans.accept(request, table, shares.isEnforced() ? shares.of(request.caller()) : null);
        }
        else if (null != table)
        {
            begin(request, nowNs);
        }
    }

    /**
     * Answers a request that was not begun, and counts it, unless it was withdrawn.
     *
     * @param request from the queue.
     * @param answer  to it.
     * @param detail  what to say besides; may be null.
     */
    public void refuse(final OperationRequest request, final OperationAnswer answer, final String detail)
    {
        OperationAnswers.refuse(request, answer, detail, figures);
    }

    /** @return the table of an operation that is to begin now, staged by the engine; null when it is not. */
    private OpenTable prepare(final OperationRequest request, final long nowNs)
    {
        if (request.deadlineNs() - nowNs <= 0)
        {
            traces.refused(request, OperationAnswer.TIMED_OUT, request.waitNs(nowNs));
            refuse(request, OperationAnswer.TIMED_OUT, null);
            return null;
        }
        final OpenTable table = tables.find(request.table().id());
        final UserRights rights = access.rights(request.caller());
        if (null != rights && !isAllowed(request, rights, table))
        {
            if (!access.isSuspended())
            {
                // By the name that the table has, as the right was looked for.
                denied.add(request.caller(), request.kind(),
                    null == table ? request.table().name() : table.descriptor().name());
            }
            refuse(request, OperationAnswer.PERMISSION_DENIED, rights.refusal(request.kind(), request.table().name()));
            return null;
        }
        if (null == table)
        {
            await(request, nowNs);
            return null;
        }
        return request.kind().isRange() || stage(request, table) ? table : null;
    }

    private void await(final OperationRequest request, final long nowNs)
    {
        final UserShare share = shares.isEnforced() ? shares.of(request.caller()) : null;
        if (null != share)
        {
            share.onAwaitsTable();
        }
        tables.await(request, share, nowNs);
    }

    /**
     * By the name that the table has: that in the request is what its sender says. A table that is not open here is
     * asked for only when the sender may use one of that name.
     */
    private static boolean isAllowed(final OperationRequest request, final UserRights rights, final OpenTable table)
    {
        final RequestKind kind = request.kind();
        return null == table ? rights.allowsAny(kind.rights(), request.table().name()) :
            rights.allows(kind.rights(), request.table().id(), table.descriptor().name(),
                kind.isRange() ? null : request.key(), request.keyLength());
    }

    /**
     * The engine copies key and value before the node takes the request: until then its submitter is still there, and
     * does not change them, or withdraws the request, which then is not begun; afterwards it may leave at any time.
     *
     * @return whether it is staged; if not the submitter has withdrawn the request.
     */
    private boolean stage(final OperationRequest request, final OpenTable table)
    {
        final byte[] key = request.key();
        final byte[] value = request.value();
        if (null == key)
        {
            return false;
        }
        final int keyLength = request.keyLength();
        final int valueLength = request.valueLength();
        if (0 == keyLength || keyLength > RequestLimits.MAX_KEY_BYTES ||
            null != value && valueLength > RequestLimits.MAX_VALUE_BYTES)
        {
            throw new IllegalArgumentException("keyBytes=" + keyLength + " valueBytes=" + valueLength +
                ": not checked by whoever made the request");
        }
        final long operand = request.operand();
        tableRequest.of(ENGINE_KINDS[request.kind().ordinal()], table, request.deadlineNs(), freeSlots[freeCount - 1])
            .key(key, keyLength).expectedVersion(operand).delta(operand).inDigits(request.isInDigits())
            .expiry(request.expiry());
        if (RequestKind.EXPIRE == request.kind())
        {
            tableRequest.expiryCondition((int)operand);
        }
        if (null != value)
        {
            tableRequest.value(value, valueLength);
        }
        if (!engine.stage(tableRequest))
        {
            throw new IllegalStateException("engine refused an operation although it had free slots: " + request);
        }
        return true;
    }

    private void begin(final OperationRequest request, final long nowNs)
    {
        if (request.start())
        {
            final int slot = freeSlots[--freeCount];
            inFlight[slot] = request;
            beganNs[slot] = nowNs;
            waitedNs[slot] = request.waitNs(nowNs);
            shareOf[slot] = shares.isEnforced() ? shares.of(request.caller()) : null;
            if (null != shareOf[slot])
            {
                shareOf[slot].onBegun();
            }
            engine.beginStaged();
        }
        else
        {
            engine.withdrawStaged();
        }
    }

    /** Lets the engine know the time, which it has from its last poll otherwise. */
    public void tellTime(final long nowNs)
    {
        engine.poll(nowNs);
    }

    /** Operations accepted until {@link #endGroup()} share doorbells. */
    public void beginGroup()
    {
        engine.beginGroup();
    }

    /** Ends what {@link #beginGroup} began. */
    public void endGroup()
    {
        engine.endGroup();
    }

    @Override
    public void onOperationComplete(final Operation operation)
    {
        final int slot = (int)operation.correlationId();
        final OperationRequest request = inFlight[slot];
        inFlight[slot] = null;
        freeSlots[freeCount++] = slot;
        final long nowNs = clock.nanoTime();
        final OperationAnswer result = OperationAnswers.answerOf(operation.result());
        endShare(slot, OperationResult.FOUND == operation.result() ? operation.valueLength() : 0, nowNs);
        if (!figures.isPaused())
        {
            count(request, operation, result, slot, nowNs);
        }
        if (!request.isAbandoned())
        {
            answerOrFail(request, operation);
            request.complete();
        }
    }

    private void count(
        final OperationRequest request, final Operation operation, final OperationAnswer result, final int slot,
        final long nowNs)
    {
        final long durationNs = nowNs - beganNs[slot];
        figures.answered(request.kind(), result, durationNs, waitedNs[slot]);
        traces.answered(request, operation, result, beganNs[slot], durationNs, waitedNs[slot]);
        if (!timeline.hasAnswered())
        {
            timeline.firstAnswer(nowNs);
        }
    }

    private void endShare(final int slot, final int foundBytes, final long nowNs)
    {
        if (null != shareOf[slot])
        {
            shareOf[slot].onEnded(foundBytes, nowNs);
            shareOf[slot] = null;
        }
    }

    /** The engine is done with the operation: an answer that cannot be made fails its request alone. */
    private void answerOrFail(final OperationRequest request, final Operation operation)
    {
        try
        {
            answer(request, operation);
        }
        catch (final RuntimeException ex)
        {
            request.answer(request.kind().isRead() ? OperationAnswer.UNREACHABLE : OperationAnswer.OUTCOME_UNKNOWN,
                null, 0, failures.onFailure(request, ex));
        }
    }

    private void answer(final OperationRequest request, final Operation operation)
    {
        byte[] value = null;
        int length = 0;
        if (RequestKind.GET == request.kind() && OperationResult.FOUND == operation.result())
        {
            length = operation.valueLength();
            value = request.arrayFor(length);
            if (length > 0)
            {
                operation.copyValueTo(value);
            }
        }
        else if (RequestKind.INCREMENT == request.kind() && OperationResult.STORED == operation.result())
        {
            length = Long.BYTES;
            value = request.arrayFor(length);
            COUNTER.set(value, 0, operation.counter());
        }
        final String unreadable = whyUnreadable(tables, request, operation.result());
        if (null == unreadable)
        {
            request.answer(OperationAnswers.answerOf(operation.result()), value, length, operation.version(),
                OperationAnswers.detailOf(operation.result()));
        }
        else
        {
            request.answer(OperationAnswer.UNREACHABLE, value, length, operation.version(), unreadable);
        }
        request.answerExpiry(operation.expiryMs(), engine.timeToLiveMs(operation.expiryMs()));
        request.cost(operation.verbs(), operation.roundTrips(), operation.doorbells());
    }

    /** @return for an operation on a table that was closed because its descriptor cannot be read, why; or null. */
    static String whyUnreadable(final TableRegistry tables, final OperationRequest request, final int result)
    {
        return OperationResult.TABLE_CHANGED == result ? tables.whyUnreadable(request.table().id()) : null;
    }

    @Override
    public void onOpen(final OperationRequest request, final Object holder)
    {
        endAwait(holder);
        if (shares.isEnforced() && !request.kind().isRange() && shares.hasPlace())
        {
            shares.add(shares.of(request.caller()), request);
        }
        else if (freeCount > 0 && engine.freeSlots() > 0)
        {
            accept(request, clock.nanoTime());
        }
        else
        {
            overflow.add(request);
        }
    }

    @Override
    public void onFailure(
        final OperationRequest request, final Object holder, final OperationAnswer answer, final String detail)
    {
        endAwait(holder);
        refuse(request, answer, detail);
    }

    private static void endAwait(final Object holder)
    {
        if (null != holder)
        {
            ((UserShare)holder).onTable();
        }
    }

    /** Answers everything that is left, after the engine was closed: nobody will hear of these operations any more. */
    public void close(final String detail)
    {
        for (int slot = 0; slot < inFlight.length; slot++)
        {
            final OperationRequest request = inFlight[slot];
            if (null != request)
            {
                inFlight[slot] = null;
                freeSlots[freeCount++] = slot;
                endShare(slot, 0, clock.nanoTime());
                figures.answered(request.kind(), OperationAnswer.OUTCOME_UNKNOWN, clock.nanoTime() - beganNs[slot]);
                request.answer(OperationAnswer.OUTCOME_UNKNOWN, null, 0, detail);
                request.complete();
            }
        }
        scans.close(detail);
        shares.drain((request) -> refuse(request, OperationAnswer.NOT_SERVING, detail));
        overflow.forEach((request) -> refuse(request, OperationAnswer.NOT_SERVING, detail));
        overflow.clear();
    }

    private static int[] engineKinds()
    {
        final int[] kinds = new int[RequestKind.values().length];
        for (final RequestKind kind : RequestKind.values())
        {
            kinds[kind.ordinal()] = engineKind(kind);
        }
        return kinds;
    }

    private static int engineKind(final RequestKind kind)
    {
        return switch (kind)
        {
            case GET -> OperationKind.GET;
            case EXISTS -> OperationKind.EXISTS;
            case PUT -> OperationKind.PUT;
            case PUT_IF_ABSENT -> OperationKind.PUT_IF_ABSENT;
            case PUT_IF_PRESENT -> OperationKind.PUT_IF_PRESENT;
            case APPEND -> OperationKind.APPEND;
            case INCREMENT -> OperationKind.INCREMENT;
            case REPLACE -> OperationKind.REPLACE;
            case EXPIRE -> OperationKind.EXPIRE;
            case DELETE -> OperationKind.DELETE;
            case DELETE_BY_VERSION -> OperationKind.DELETE_VERSION;
            case SCAN, COUNT -> -1; // the engine has no such operation: see ScanDispatcher
        };
    }
}
