package io.verbena.compute;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationListener;
import io.verbena.table.operation.OperationResult;

import java.lang.foreign.MemorySegment;

/**
 * A table for a thread that owns its compute node itself: operations go straight into the engine and the calling thread
 * runs the node's duty cycle until they have ended. No hand-over, no other thread, no allocation. For users that want
 * the latency of the fabric and nothing on top.
 *
 * <p>Only the thread that calls {@link ComputeNode#doWork()} may use it, one operation at a time. The node's queue is
 * served meanwhile. Results are {@link OperationResult} codes; deadlines are kept by the engine, and an operation whose
 * node loses its lease meanwhile ends with {@link OperationResult#OUTCOME_UNKNOWN}.
 */
public final class DirectTable implements OperationListener
{
    private final ComputeNode node;
    private final TableReference reference;
    private NodeSession session;
    private OpenTable table;
    private MemorySegment target;
    private long targetOffset;
    private long targetLength;
    private boolean done;
    private int result;
    private int valueLength;
    private long version;
    private long counter;
    private int verbs;
    private int roundTrips;
    private int doorbells;

    private DirectTable(final ComputeNode node, final TableReference reference)
    {
        this.node = node;
        this.reference = reference;
    }

    /**
     * Opens a table.
     *
     * @param node      whose duty cycle only the calling thread runs; serving.
     * @param tableName of an existing table.
     * @param timeoutNs longest wait.
     * @return the table; needs no closing.
     * @throws ComputeNodeException when it could not be found in time; the message says why.
     */
    public static DirectTable open(final ComputeNode node, final String tableName, final long timeoutNs)
    {
        return of(node, ControlRequest.Kind.FIND_TABLE, tableName, 0, timeoutNs);
    }

    /**
     * Creates a table.
     *
     * @param node            whose duty cycle only the calling thread runs; serving.
     * @param tableName       not in use.
     * @param expectedRecords most records it is to hold.
     * @param timeoutNs       longest wait.
     * @return the table; needs no closing.
     * @throws ComputeNodeException when it could not be created in time; the message says why.
     */
    public static DirectTable create(
        final ComputeNode node, final String tableName, final long expectedRecords, final long timeoutNs)
    {
        return of(node, ControlRequest.Kind.CREATE_TABLE, tableName, expectedRecords, timeoutNs);
    }

    /**
     * Reads a record.
     *
     * @param key          holds the key.
     * @param keyOffset    first byte of it.
     * @param keyLength    bytes of it.
     * @param value        takes the value, as far as it has room.
     * @param valueOffset  where it goes.
     * @param timeoutNs    until the deadline.
     * @return a result code; with FOUND {@link #valueLength()} and {@link #version()} are valid.
     */
    public int get(
        final MemorySegment key, final long keyOffset, final int keyLength, final MemorySegment value,
        final long valueOffset, final long timeoutNs)
    {
        target = value;
        targetOffset = valueOffset;
        targetLength = value.byteSize() - valueOffset;
        return run(OperationKind.GET, key, keyOffset, keyLength, null, 0, 0, 0, timeoutNs);
    }

    /**
     * Writes a record.
     *
     * @param key         holds the key.
     * @param keyOffset   first byte of it.
     * @param keyLength   bytes of it.
     * @param value       holds the value.
     * @param valueOffset first byte of it.
     * @param valueLength bytes of it.
     * @param timeoutNs   until the deadline.
     * @return a result code; with STORED {@link #version()} is valid.
     */
    public int put(
        final MemorySegment key, final long keyOffset, final int keyLength, final MemorySegment value,
        final long valueOffset, final int valueLength, final long timeoutNs)
    {
        return run(
            OperationKind.PUT, key, keyOffset, keyLength, value, valueOffset, valueLength, 0, timeoutNs);
    }

    /**
     * Adds to a counter: a value of 8 bytes, a little-endian two's complement number; nothing there counts as 0.
     *
     * @param key       holds the key.
     * @param keyOffset first byte of it.
     * @param keyLength bytes of it.
     * @param delta     what to add.
     * @param timeoutNs until the deadline.
     * @return a result code; with STORED {@link #counter()} and {@link #version()} are valid.
     */
    public int increment(
        final MemorySegment key, final long keyOffset, final int keyLength, final long delta, final long timeoutNs)
    {
        return run(OperationKind.INCREMENT, key, keyOffset, keyLength, null, 0, 0, delta, timeoutNs);
    }

    /**
     * Runs any kind of operation.
     *
     * @param kind            one of {@link OperationKind}.
     * @param key             holds the key.
     * @param keyOffset       first byte of it.
     * @param keyLength       bytes of it.
     * @param value           holds the value for kinds that store one, else null.
     * @param valueOffset     first byte of it.
     * @param valueLength     bytes of it.
     * @param operand         for kinds that compare the expected version, for INCREMENT what to add, else 0.
     * @param timeoutNs       until the deadline.
     * @return a result code.
     */
    public int run(
        final int kind, final MemorySegment key, final long keyOffset, final int keyLength, final MemorySegment value,
        final long valueOffset, final int valueLength, final long operand, final long timeoutNs)
    {
        final long deadlineNs = node.clock().nanoTime() + timeoutNs;
        if (!awaitServing(deadlineNs))
        {
            return OperationResult.TIMED_OUT_NOT_APPLIED;
        }
        done = false;
        node.desk().directListener(this);
        while (!begin(kind, key, keyOffset, keyLength, value, valueOffset, valueLength, operand, deadlineNs))
        {
            node.doWork();
            if (!awaitServing(deadlineNs))
            {
                return OperationResult.TIMED_OUT_NOT_APPLIED;
            }
        }
        while (!done)
        {
            if (0 == node.doWork())
            {
                Thread.onSpinWait();
            }
            if (node.session() != session)
            {
                return OperationResult.OUTCOME_UNKNOWN;
            }
        }
        return result;
    }

    private boolean begin(
        final int kind, final MemorySegment key, final long keyOffset, final int keyLength, final MemorySegment value,
        final long valueOffset, final int valueLength, final long operand, final long deadlineNs)
    {
        if (OperationKind.INCREMENT == kind)
        {
            return session.engine().beginIncrement(
                table, key, keyOffset, keyLength, operand, deadlineNs, OperationDesk.DIRECT);
        }
        return null == value ?
            session.engine().begin(
                kind, table, key, keyOffset, keyLength, operand, deadlineNs, OperationDesk.DIRECT) :
            session.engine().begin(
                kind, table, key, keyOffset, keyLength, value, valueOffset, valueLength, operand, deadlineNs,
                OperationDesk.DIRECT);
    }

    private boolean awaitServing(final long deadlineNs)
    {
        while (ComputeNode.State.SERVING != node.state() || !bind())
        {
            if (node.clock().nanoTime() - deadlineNs >= 0)
            {
                return false;
            }
            node.doWork();
        }
        return true;
    }

    /** A node that has joined again has another engine, in which the table is another object. */
    private boolean bind()
    {
        final NodeSession current = node.session();
        if (current != session || null == table)
        {
            final OpenTable found = null == current ? null : current.tables().find(reference.id());
            if (null == found)
            {
                return false;
            }
            session = current;
            table = found;
        }
        return true;
    }

    @Override
    public void onOperationComplete(final Operation operation)
    {
        done = true;
        result = operation.result();
        version = operation.version();
        counter = operation.counter();
        valueLength = operation.valueLength();
        verbs = operation.verbs();
        roundTrips = operation.roundTrips();
        doorbells = operation.doorbells();
        if (OperationKind.GET == operation.kind() && OperationResult.FOUND == result && valueLength <= targetLength)
        {
            operation.copyValueTo(target, targetOffset);
        }
    }

    /** @return length of the value that the last GET found, which was copied only if it fitted. */
    public int valueLength()
    {
        return valueLength;
    }

    /** @return version that the last result speaks of, else 0. */
    public long version()
    {
        return version;
    }

    /** @return value of the counter after the last INCREMENT, if that stored. */
    public long counter()
    {
        return counter;
    }

    /** @return work requests posted for the last operation. */
    public int verbs()
    {
        return verbs;
    }

    /** @return dependent round trips of the last operation. */
    public int roundTrips()
    {
        return roundTrips;
    }

    /** @return doorbells rung for the last operation. */
    public int doorbells()
    {
        return doorbells;
    }

    private static DirectTable of(
        final ComputeNode node, final ControlRequest.Kind kind, final String tableName, final long expectedRecords,
        final long timeoutNs)
    {
        final long deadlineNs = node.clock().nanoTime() + timeoutNs;
        final ControlRequest request = new ControlRequest(kind, tableName, expectedRecords, deadlineNs)
        {
            @Override
            protected void onDone()
            {
                // polled below, by the same thread
            }
        };
        final int status = node.endpoint().submit(request);
        while (ComputeEndpoint.ACCEPTED == status && NodeRequest.DONE != request.state() &&
            node.clock().nanoTime() - deadlineNs < 0)
        {
            node.doWork();
        }
        if (NodeRequest.DONE != request.state() || ControlRequest.Status.OK != request.status())
        {
            throw new ComputeNodeException(kind + " " + tableName + " failed at " + node + ": status=" +
                request.status() + " " + request.detail());
        }
        final DirectTable table = new DirectTable(node, (TableReference)request.result());
        table.bind();
        return table;
    }
}
