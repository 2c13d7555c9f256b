package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.GroupPort;
import io.verbena.table.access.MirroredPort;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.allocation.HeldConsumer;
import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.NodeLinks;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.expiry.ExpiryClock;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.EngineGrowth;
import io.verbena.table.growth.GrowthBatch;
import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.PointOperations;
import io.verbena.table.operation.TableRequest;
import io.verbena.table.scan.TableScan;
import io.verbena.table.sweep.ExpirySweep;
import io.verbena.table.sweep.SweptRecords;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.NanoClock;

/**
 * Runs point operations on tables by one-sided verbs. Many operations are under way at once, each a state machine in a
 * preallocated slot with registered scratch memory of its own; nothing is allocated for an operation.
 *
 * <p>Single owner thread: it begins operations, calls {@link #poll()} in its duty cycle, and delivers batch
 * completions. Nothing blocks. Closed by its creator, after the ports.
 */
public final class TableEngine implements AutoCloseable
{
    private final ProtectionDomain protectionDomain;
    private final NanoClock clock;
    private final EpochNanoClock versionClock;
    private final EngineMemory memory;
    private final EpochTracker epochs;
    private final PointOperations operations;
    private final NodeLinks links;
    private final GrowthSource growthSource;
    private final TableScan scan;
    private final ExpirySweep sweep;
    private TableCreator creator;
    private final EngineGrowth growth;
    private boolean closed;

    private TableEngine(
        final ProtectionDomain protectionDomain,
        final DeviceAttributes attributes,
        final NanoClock clock,
        final TableEngineConfiguration configuration)
    {
        this.protectionDomain = protectionDomain;
        this.clock = clock;
        versionClock = configuration.versionClock();
        epochs = new EpochTracker(configuration.initialEpoch());
        links = new NodeLinks(epochs, configuration.maxQuarantineBytes());
        memory = EngineMemory.open(protectionDomain, configuration);
        final ExpiryClock expiryClock = new ExpiryClock(configuration.expiryClock());
        scan = new TableScan(protectionDomain, epochs, expiryClock);
        growthSource = configuration.growthSource();
        operations = new PointOperations(configuration.operationSlots(), memory.scratch(), memory.cache(), epochs,
            attributes.readAfterAtomicNeedsFence(), clock, configuration);
        growth = new EngineGrowth(
            protectionDomain, epochs, operations::emptied, configuration.splitGroupsUnderWay());
        sweep = new ExpirySweep(
            protectionDomain, epochs, expiryClock, new SweptRecords(operations), operations.counters());
        readClocks(clock.nanoTime());
    }

    /**
     * Makes an engine.
     *
     * @param protectionDomain that the ports' queue pairs belong to.
     * @param attributes       of the device.
     * @param clock            of the device; deadlines are instants of this clock.
     * @param configuration    read now, not kept.
     * @return the engine.
     * @throws io.verbena.rdma.verbs.RdmaException when there is not so much memory; nothing is kept of it then.
     */
    public static TableEngine open(
        final ProtectionDomain protectionDomain,
        final DeviceAttributes attributes,
        final NanoClock clock,
        final TableEngineConfiguration configuration)
    {
        configuration.conclude();
        return new TableEngine(protectionDomain, attributes, clock, configuration);
    }

    /** @return the table of a descriptor; several may be open at once. */
    public OpenTable openTable(final TableDescriptor descriptor)
    {
        return new OpenTable(links, growthSource, descriptor);
    }

    /**
     * Gives the engine a (new) port to a memory node; operations that wait for it go on.
     *
     * @param memoryNodeId of the node.
     * @param port         whose completions go to {@link #onBatchComplete(int, int)}.
     */
    public void attach(final int memoryNodeId, final OneSidedPort port)
    {
        attach(memoryNodeId, port, false);
    }

    /**
     * As {@link #attach(int, OneSidedPort)}, to a group of which another port was detached. A member that has come in
     * has what words name, and nothing else: operations, splits, merges and the creation of a table that have written
     * anything that no word names yet write it again, to all members of this port.
     *
     * @param hasNewMember whether the port leads to a memory node that the last one did not lead to.
     */
    public void attach(final int memoryNodeId, final OneSidedPort port, final boolean hasNewMember)
    {
        final NodeLink link = links.get(memoryNodeId);
        operations.drop(link);
        if (hasNewMember)
        {
            writeAgain(memoryNodeId, link);
        }
        link.port = port;
        link.isMirrored = port instanceof MirroredPort;
        link.isOfGroup = GroupPort.isOne(port);
    }

    private void writeAgain(final int memoryNodeId, final NodeLink link)
    {
        operations.writeAgain(link);
        growth.writeAgain(link);
        if (creator != null)
        {
            creator.writeAgain(memoryNodeId);
        }
    }

    /**
     * Forgets the port to a memory node. Batches not answered yet count as failed; their requests must not touch local
     * memory any more (the queue pair beneath has failed or is drained), because slots are used again at once.
     *
     * @param memoryNodeId of the node.
     */
    public void detach(final int memoryNodeId)
    {
        final NodeLink link = links.get(memoryNodeId);
        operations.drop(link);
        link.port = null;
        operations.onDetached(link);
        if (creator != null && creator.isInFlightAt(memoryNodeId))
        {
            creator.onComplete(WorkCompletionStatus.WR_FLUSH_ERR);
        }
        growth.onDetached(link);
        if (scan.isInFlightAt(link))
        {
            scan.onComplete(WorkCompletionStatus.WR_FLUSH_ERR);
        }
        if (sweep.isInFlightAt(link))
        {
            sweep.onComplete(WorkCompletionStatus.WR_FLUSH_ERR);
        }
    }

    /** Reports the completion of a batch posted through a port; an error makes the outcome of its writes unknown. */
    public void onBatchComplete(final int cookie, final int status)
    {
        if (closed)
        {
            // Everything was reported already, and the memory that an answer is about is gone.
            return;
        }
        if (cookie == TableScan.COOKIE)
        {
            scan.onComplete(status);
            return;
        }
        if (cookie == ExpirySweep.COOKIE)
        {
            sweep.onComplete(status);
            return;
        }
        if (GrowthBatch.isCookie(cookie))
        {
            growth.onComplete(cookie, status);
            return;
        }
        if (cookie == TableCreator.COOKIE)
        {
            if (creator != null)
            {
                creator.onComplete(status);
            }
            return;
        }
        operations.onComplete(cookie, status);
    }

    /**
     * Begins a group: the steps of all operations begun until {@link #endGroup()}, as far as they go to one memory
     * node, are posted with one doorbell, and so are their next steps as long as they go on together. Each is still an
     * operation of its own, with its own result. n GETs of cached keys cost one doorbell, of others two; more than fit
     * the connection's longest batch are posted in several, one after the other without waiting. Groups nest.
     */
    public void beginGroup()
    {
        operations.beginGroup();
    }

    /** Ends a group: rings its doorbells. To be called in a finally clause, before {@link #poll()}. */
    public void endGroup()
    {
        operations.endGroup();
    }

    /** @return how long a record's deadline is away by the engine's clock, 1 ms or more; 0 if it has none. */
    public long timeToLiveMs(final long expiryMs)
    {
        return operations.timeToLiveMs(expiryMs);
    }

    /** @return operations that can be begun before one ends. */
    public int freeSlots()
    {
        return operations.freeSlots();
    }

    /**
     * Makes the next operation begun a repetition of one whose outcome was reported as unknown: same kind, table, key,
     * value and operand. Whatever became of the first attempt, the two together take effect once at most. If it took
     * effect, its result is returned; if not, the operation is done now; if that cannot be found out (too late, or
     * hidden behind a delete) the outcome stays {@link OperationResult#OUTCOME_UNKNOWN}, and may be asked for again.
     *
     * @param operationSequence {@code Operation.sequence()} of the first attempt, at this engine.
     */
    public void repeatNext(final long operationSequence)
    {
        operations.repeatNext(operationSequence);
    }

    /**
     * Begins an operation; its listener hears of the end.
     *
     * @param request filled in by the caller, who may use it again when the call returns: key and value are copied.
     * @return false when every slot is taken: poll, and try again.
     * @throws IllegalArgumentException when the request is not complete, or its table is not one of this engine.
     */
    public boolean begin(final TableRequest request)
    {
        final boolean isStaged = stage(request);
        if (isStaged)
        {
            operations.beginStaged();
        }
        return isStaged;
    }

    /**
     * First half of {@link #begin}: copies key and value, and does nothing else that shows. For a caller who learns
     * only behind that whether the operation is to be: {@link #beginStaged} or {@link #withdrawStaged} must follow
     * before anything else is asked of the engine.
     *
     * @return as {@link #begin}.
     * @throws IllegalArgumentException as {@link #begin}.
     */
    public boolean stage(final TableRequest request)
    {
        if (closed)
        {
            throw new IllegalStateException("engine is closed");
        }
        if (!request.table().belongsTo(links))
        {
            throw new IllegalArgumentException("the table was opened by another engine: " +
                request.table().descriptor().name());
        }
        return operations.stage(request);
    }

    /** Begins what was staged. */
    public void beginStaged()
    {
        operations.beginStaged();
    }

    /** Forgets what was staged: there is no operation, and nobody hears of one. */
    public void withdrawStaged()
    {
        operations.withdrawStaged();
    }

    /** As {@link #poll(long)}, now. @return work done. */
    public int poll()
    {
        return poll(clock.nanoTime());
    }

    /** Duty cycle: goes on with operations that waited, ends those whose deadline has passed. @return work done. */
    public int poll(final long nowNs)
    {
        if (closed)
        {
            return 0;
        }
        readClocks(nowNs);
        final int worked = operations.unpark() + scan.poll(nowNs) + operations.expireDue();
        return worked + (creator == null ? 0 : creator.poll(nowNs)) + growth.poll(nowNs) + sweep.poll(nowNs);
    }

    /** @return operations under way, with those that were reported late and still clean up. */
    public int active()
    {
        return operations.active();
    }

    /** Answers {@code ChunkSource.requestChunk}: memory to make blocks of, owned by this engine from now on. */
    public void chunkLeased(final int memoryNodeId, final long offset, final long lengthBytes)
    {
        links.get(memoryNodeId).allocator.chunkLeased(offset, lengthBytes);
    }

    /** Answers {@code ChunkSource.requestChunk}: none to be had now; asked again when an operation needs one. */
    public void chunkRefused(final int memoryNodeId)
    {
        links.get(memoryNodeId).allocator.chunkRefused();
    }

    /**
     * Stops or goes on giving out blocks of a memory node: stop when the connection to it is lost, go on when a new one
     * has shown which chunks are closed by now.
     */
    public void suspend(final int memoryNodeId, final boolean isSuspended)
    {
        links.get(memoryNodeId).allocator.suspend(isSuspended);
    }

    /**
     * Says whether operations may wait for a memory node that has not been attached yet. By default they wait until
     * their deadlines, without holding back the epoch.
     *
     * @param memoryNodeId  of the node.
     * @param isUnreachable whether operations on it end with {@link OperationResult#NODE_UNAVAILABLE}.
     */
    public void unreachable(final int memoryNodeId, final boolean isUnreachable)
    {
        links.get(memoryNodeId).isUnreachable = isUnreachable;
    }

    /** Gives everything this engine holds of a memory node, operations under way included, to a consumer. */
    public void forEachHeld(final int memoryNodeId, final HeldConsumer consumer)
    {
        links.get(memoryNodeId).allocator.forEachHeld(consumer);
        operations.forEachHeld(links.get(memoryNodeId), consumer);
    }

    /** @return bytes of what {@link #forEachHeld} gives; asking costs the same, and allocates nothing, however many. */
    public long heldBytes(final int memoryNodeId)
    {
        final NodeLink link = links.get(memoryNodeId);
        return link.allocator.heldBytes() + operations.heldBytes(link);
    }

    /** @return newest epoch heard. */
    public long epoch()
    {
        return epochs.epoch();
    }

    /** @return whether everything that somebody could still do with what was there in an epoch is over. */
    public boolean isReusable(final long atEpoch)
    {
        return epochs.isReusable(atEpoch);
    }

    /** Tells the epochs of a heartbeat's answer; see {@link EpochTracker}. */
    public void onEpoch(final long epoch, final long safeEpoch)
    {
        epochs.onEpoch(epoch, safeEpoch);
        links.onEpoch();
    }

    /** @return the node's view of the epochs. */
    public EpochTracker epochs()
    {
        return epochs;
    }

    /** @return whether memory waits for epochs, or an operation for memory; see {@link BlockAllocator#wantsEpochs}. */
    public boolean wantsEpochs()
    {
        return links.wantEpochs() || epochs.isAwaited() || operations.wantMemory() || sweep.wantsEpochs();
    }

    /** @return the epoch this node has passed, for its next heartbeat. */
    public long passedEpoch()
    {
        return Math.min(Math.min(epochs.heldEpoch(), operations.heldEpoch()),
            Math.min(Math.min(scan.heldEpoch(), sweep.heldEpoch()), growth.heldEpoch())) - 1;
    }

    /**
     * Begins to format a table; goes on in {@link #poll()}.
     *
     * @param plan       with every chunk placed.
     * @param deadlineNs after which it fails.
     * @return its progress; one at a time.
     */
    public TableCreator createTable(final TablePlan plan, final long deadlineNs)
    {
        if (creator != null && !creator.isFinished())
        {
            throw new IllegalStateException("one table is created at a time: wait for " +
                creator.descriptor().name());
        }
        creator = new TableCreator(links, protectionDomain, plan.descriptor(), deadlineNs);
        return creator;
    }

    /** @return the engine's splits and merges of subtables. */
    public EngineGrowth growth()
    {
        return growth;
    }

    /** @return the engine's one scan. */
    public TableScan scan()
    {
        return scan;
    }

    /** @return the engine's one sweep of records behind their deadline. */
    public ExpirySweep sweep()
    {
        return sweep;
    }

    /** @return running totals, live. */
    public EngineCounters counters()
    {
        return operations.counters();
    }

    /** @return what this engine leaves in a slot that it empties, another word each time. */
    public long emptiedWord()
    {
        return operations.emptied();
    }

    /** @return allocator of a memory node, for its figures. */
    public BlockAllocator allocator(final int memoryNodeId)
    {
        return links.get(memoryNodeId).allocator;
    }

    /**
     * Ends every operation without waiting, as if its connection had failed, and frees the scratch memory. Close the
     * ports first: their requests must not touch local memory any more. Completions that come later are ignored.
     */
    @Override
    public void close()
    {
        if (closed)
        {
            return;
        }
        closed = true;
        operations.endAll();
        if (creator != null)
        {
            creator.close();
        }
        growth.close();
        scan.close();
        sweep.close();
        operations.close();
        memory.close();
    }

    @Override
    public String toString()
    {
        return "TableEngine{" + epochs + ' ' + operations + '}';
    }

    private void readClocks(final long nowNs)
    {
        operations.readClocks(nowNs, versionClock.nanoTime());
    }
}
