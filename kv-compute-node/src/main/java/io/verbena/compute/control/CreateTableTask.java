package io.verbena.compute.control;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.memory.IndexReturns;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.TableDescriptor;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;

/**
 * Creates a table of which there is one copy, spread over all memory nodes: asks these how long their chunks are, and
 * leases chunks.
 *
 * <p>Where a memory node has too few chunks, it gives everything back, the slot included, and tries again until its
 * deadline as long as chunks may be on their way back: while this node returns or reclaims some there, and until every
 * node has passed the epochs that what was being returned at the first refusal waits for.
 */
final class CreateTableTask extends NewTableTask
{
    private enum Wait
    {
        SLOT, STATS, LEASES
    }

    /** Of a plan by which chunks are leased. */
    private static final int NO_ID_YET = 1;

    private final MemoryLinks links;
    private final CreationMemory memory;
    private final boolean grows;
    private final List<ControlCall<MemoryNodeStat>> stats = new ArrayList<>();
    private List<MemoryLink> memoryLinks = List.of();
    private long chunkBytes;
    private Wait wait = Wait.SLOT;
    private TablePlan plan;
    private String absence = "";

    /**
     * @param slot          of the session.
     * @param links         to the memory nodes, of which those that can be reached are used at each try.
     * @param mayFindMemory whether memory of a memory node is being returned or reclaimed, as far as this node knows.
     * @param grows         whether subtables will be split.
     */
    CreateTableTask(
        final ControlRequest request, final SessionParts session, final TableRegistry tables,
        final IndexReturns returns, final CreationSlot slot, final MemoryLinks links,
        final IntPredicate mayFindMemory, final SplittableRandom random, final boolean grows, final long nowNs)
    {
        super(request, session, tables, slot, random, nowNs);
        memory = new CreationMemory(session.engine(), session.numbers(), returns, mayFindMemory, request.tableName(),
            session.metaLink().retryBackoff(), nowNs);
        this.links = links;
        this.grows = grows;
    }

    @Override
    int pollLease(final long nowNs)
    {
        return switch (wait)
        {
            case SLOT -> pollSlot(nowNs);
            case STATS -> pollStats(nowNs);
            case LEASES -> pollLeases(nowNs);
        };
    }

    private int pollSlot(final long nowNs)
    {
        if (request().deadlineNs() - nowNs <= 0)
        {
            endAtDeadline();
            return 1;
        }
        if (!memory.isDue(nowNs) || !mayLease())
        {
            return 0;
        }
        memoryLinks = links.ready();
        if (memoryLinks.isEmpty())
        {
            // They may all be on their way back, as after a change of the leader of the meta servers.
            leaseLater(links.absence(), nowNs);
            return 1;
        }
        for (final MemoryLink link : memoryLinks)
        {
            stats.add(link.client().stat(remainingNs(nowNs)));
        }
        wait = Wait.STATS;
        return 1;
    }

    private void endAtDeadline()
    {
        final String shortage = memory.shortage();
        if (memory.wasRefused())
        {
            end(Status.NO_MEMORY, null, shortage + "; memory was being returned, but not enough until the deadline");
        }
        else
        {
            end(Status.TIMED_OUT, null, null == shortage ?
                "it waited for other creations of this compute node until its deadline" : shortage);
        }
    }

    private int pollStats(final long nowNs)
    {
        if (!stats.stream().allMatch(ControlCall::isDone))
        {
            return 0;
        }
        chunkBytes = Long.MAX_VALUE;
        for (final ControlCall<MemoryNodeStat> stat : stats)
        {
            if (MetaRead.mayBeAskedAgain(stat.status()))
            {
                leaseLater(stat.failure(), nowNs);
                return 1;
            }
            if (ControlStatus.OK != stat.status())
            {
                endAs(stat);
                return 1;
            }
            chunkBytes = Math.min(chunkBytes, stat.result().chunkLengthBytes());
        }
        return plan(nowNs);
    }

    private int plan(final long nowNs)
    {
        final int[] memoryNodeIds = memoryLinks.stream().mapToInt(MemoryLink::memoryNodeId).toArray();
        try
        {
            plan = planOf(NO_ID_YET);
        }
        catch (final IllegalArgumentException ex)
        {
            end(Status.REFUSED, null, ex.getMessage());
            return 1;
        }
        final int nameBytes = request().tableName().getBytes(StandardCharsets.UTF_8).length;
        final int offsetBits =
            Integer.SIZE - Integer.numberOfLeadingZeros(plan.subtableCount() / memoryNodeIds.length - 1);
        if (TableDescriptor.lengthBytes(nameBytes, plan.subtableCount(), memoryNodeIds.length, offsetBits) >
            TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            end(Status.REFUSED, null, tooManySubtables(plan));
        }
        else
        {
            leaseUnlessTooLarge(nowNs);
        }
        return 1;
    }

    private TablePlan planOf(final int id)
    {
        final TablePlan shortest = TablePlan.forRecords(request().tableName(), id, hashSeed(),
            request().expectedRecords(), memoryLinks.stream().mapToInt(MemoryLink::memoryNodeId).toArray(), chunkBytes);
        return grows ? shortest.ofWholeChunks(chunkBytes) : shortest;
    }

    /** More than a memory node ever has is not waited for. */
    private void leaseUnlessTooLarge(final long nowNs)
    {
        for (int i = 0; i < stats.size(); i++)
        {
            final int memoryNodeId = memoryLinks.get(i).memoryNodeId();
            final int wanted = plan.chunksAt(memoryNodeId);
            if (wanted > stats.get(i).result().chunkCount())
            {
                end(Status.NO_MEMORY, null, "it needs " + wanted + " chunks of memory node " + memoryNodeId +
                    ", which has " + stats.get(i).result().chunkCount());
                return;
            }
        }
        lease(nowNs);
    }

    private void lease(final long nowNs)
    {
        for (final MemoryLink link : memoryLinks)
        {
            memory.lease(link.memoryNodeId(), link.client(), plan.chunksAt(link.memoryNodeId()), remainingNs(nowNs));
        }
        wait = Wait.LEASES;
    }

    private int pollLeases(final long nowNs)
    {
        if (!memory.isAnswered())
        {
            return 0;
        }
        final CreationMemory.Leasing refused = memory.worst();
        if (null != refused)
        {
            onRefused(refused, nowNs);
            return 1;
        }
        memoryLinks.forEach((link) -> memory.leased(link.memoryNodeId()).forEach(link.maintenance()::onLeased));
        onLeased(nowNs);
        return 1;
    }

    private void onRefused(final CreationMemory.Leasing refused, final long nowNs)
    {
        // Before its own chunks go back: those were too few.
        final boolean isWorthWaiting = memory.isWorthWaiting(refused, this::onFirstRefusal);
        memory.giveBack();
        if (!isWorthWaiting)
        {
            endAs(refused.call());
            return;
        }
        leaseLater(refused.call().failure(), nowNs);
    }

    /** Whatever nobody uses is swept, but not each time: that reads everything. */
    private void onFirstRefusal(final int memoryNodeId)
    {
        memoryLinks.stream().filter((link) -> memoryNodeId == link.memoryNodeId())
            .forEach((link) -> link.maintenance().onIndexRefused());
    }

    @Override
    void leaseLater(final String why, final long nowNs)
    {
        memory.tryLater(why, nowNs);
        stats.clear();
        giveSlotBack();
        wait = Wait.SLOT;
    }

    @Override
    TablePlan placed(final int tableId)
    {
        plan = planOf(tableId);
        memoryLinks.forEach((link) ->
            memory.leased(link.memoryNodeId()).forEach((lease) ->
                lease.forEachChunk((offset) -> plan.place(link.memoryNodeId(), offset))));
        return plan;
    }

    @Override
    List<PeerIdentity> members()
    {
        final List<PeerIdentity> members = new ArrayList<>();
        for (final MemoryLink link : memoryLinks)
        {
            if (plan.chunksAt(link.memoryNodeId()) > 0 && !link.isReady())
            {
                absence = "memory node " + link.memoryNodeId() + " went away: " + link.failure();
                return null;
            }
            if (plan.chunksAt(link.memoryNodeId()) > 0)
            {
                members.add(link.identity());
            }
        }
        // What this node has leased is returned by others once it has ended: then it makes no table known.
        members.add(session().identity());
        return members;
    }

    @Override
    String absence()
    {
        return absence;
    }

    @Override
    void giveBack()
    {
        memory.giveBack();
    }

    @Override
    void giveBackAnswered()
    {
        final boolean isLeased = !isLeasing() || Wait.LEASES == wait;
        if (isLeased && memory.isAnswered())
        {
            memory.giveBack();
        }
    }

    @Override
    void keep()
    {
        memory.keep();
    }

    @Override
    boolean isPausing()
    {
        return isLeasing() && Wait.SLOT == wait;
    }

    @Override
    boolean wantsEpochs()
    {
        return isPausing() && memory.wantsEpochs();
    }
}
