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
import io.verbena.protocol.request.TableReference;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.TableDescriptor;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;

/**
 * Creates a table: asks that the name is free, asks the memory nodes how long their chunks are, leases chunks, takes a
 * table id, formats the chunks one-sidedly, and makes the table known. Whatever fails before the last step changes
 * nothing but chunks, which go back by {@link IndexReturns}, and an id, which is not used again. If the last answer is
 * lost, the meta server is asked who owns the name.
 *
 * <p>From the leases to the end of the formatting it holds the {@link CreationSlot}. Where a memory node has too few
 * chunks, it gives everything back, the slot included, and tries again until its deadline as long as chunks may be on
 * their way back: while this node returns or reclaims some there, and until every node has passed the epochs that
 * what was being returned at the first refusal waits for.
 */
final class CreateTableTask extends ControlTask
{
    private enum Step
    {
        CHECK_NAME, AWAIT_SLOT, ASK_NODES, LEASE, TAKE_ID, FORMAT, PUBLISH, RESOLVE
    }

    /** Of a plan by which chunks are leased. */
    private static final int NO_ID_YET = 1;

    private final MetaLink metaLink;
    private final TableRegistry tables;
    private final MemoryLinks links;
    private final long hashSeed;
    private final SessionParts session;
    private final CreationMemory memory;
    private final CreationSlot slot;
    private final boolean grows;
    private final List<ControlCall<MemoryNodeStat>> stats = new ArrayList<>();
    private List<MemoryLink> memoryLinks = List.of();
    private long chunkBytes;
    private Step step = Step.CHECK_NAME;
    private MetaRead<TableEntry> named;
    private MetaRead<Integer> id;
    private ControlCall<Void> publishCall;
    private TablePlan plan;
    private TableCreator creator;
    private TableEntry entry;
    private int tableId;
    private long publishedNews;

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
        super(request);
        this.session = session;
        this.slot = slot;
        metaLink = session.metaLink();
        memory = new CreationMemory(session.engine(), session.numbers(), returns, mayFindMemory, request.tableName(),
            metaLink.retryBackoff(), nowNs);
        this.tables = tables;
        this.links = links;
        hashSeed = random.nextLong();
        this.grows = grows;
        named = whoHasTheName(nowNs);
    }

    private MetaRead<TableEntry> whoHasTheName(final long nowNs)
    {
        return new MetaRead<>(metaLink, (client, timeoutNs) -> client.table(request().tableName(), timeoutNs),
            request().deadlineNs(), nowNs);
    }

    @Override
    int poll(final long nowNs)
    {
        return switch (step)
        {
            case CHECK_NAME -> pollCheckName(nowNs);
            case AWAIT_SLOT -> pollAwaitSlot(nowNs);
            case TAKE_ID -> pollTakeId(nowNs);
            case ASK_NODES -> pollAskNodes(nowNs);
            case LEASE -> pollLease(nowNs);
            case FORMAT -> pollFormat(nowNs);
            case PUBLISH -> pollPublish(nowNs);
            case RESOLVE -> pollResolve(nowNs);
        };
    }

    private int pollCheckName(final long nowNs)
    {
        if (!named.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK == named.call().status())
        {
            end(Status.ALREADY_EXISTS, null, null);
        }
        else if (ControlStatus.NO_SUCH_TABLE != named.call().status())
        {
            endAs(named.call());
        }
        else
        {
            step = Step.AWAIT_SLOT;
        }
        return 1;
    }

    private int pollAwaitSlot(final long nowNs)
    {
        if (request().deadlineNs() - nowNs <= 0)
        {
            endAtDeadline();
            return 1;
        }
        if (!memory.isDue(nowNs) || !slot.tryTake(this))
        {
            return 0;
        }
        memoryLinks = links.ready();
        if (memoryLinks.isEmpty())
        {
            // They may all be on their way back, as after a change of the leader of the meta servers.
            tryLater(links.absence(), nowNs);
            return 1;
        }
        for (final MemoryLink link : memoryLinks)
        {
            stats.add(link.client().stat(remainingNs(nowNs)));
        }
        step = Step.ASK_NODES;
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

    private int pollAskNodes(final long nowNs)
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
                tryLater(stat.failure(), nowNs);
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
            end(Status.REFUSED, null, tooManySubtables());
        }
        else
        {
            leaseUnlessTooLarge(nowNs);
        }
        return 1;
    }

    private TablePlan planOf(final int id)
    {
        final TablePlan shortest = TablePlan.forRecords(request().tableName(), id, hashSeed,
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
        step = Step.LEASE;
    }

    private int pollLease(final long nowNs)
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
        id = new MetaRead<>(metaLink, (client, timeoutNs) -> client.allocateTableId(userNumber(), timeoutNs),
            request().deadlineNs(), nowNs);
        step = Step.TAKE_ID;
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
        tryLater(refused.call().failure(), nowNs);
    }

    /** Whatever nobody uses is swept, but not each time: that reads everything. */
    private void onFirstRefusal(final int memoryNodeId)
    {
        memoryLinks.stream().filter((link) -> memoryNodeId == link.memoryNodeId())
            .forEach((link) -> link.maintenance().onIndexRefused());
    }

    private void tryLater(final String why, final long nowNs)
    {
        memory.tryLater(why, nowNs);
        stats.clear();
        slot.giveBack(this);
        step = Step.AWAIT_SLOT;
    }

    private int pollTakeId(final long nowNs)
    {
        if (!id.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK != id.call().status())
        {
            memory.giveBack();
            endAs(id.call());
            return 1;
        }
        tableId = id.call().result();
        plan = planOf(tableId);
        memoryLinks.forEach((link) ->
            memory.leased(link.memoryNodeId()).forEach((lease) ->
                lease.forEachChunk((offset) -> plan.place(link.memoryNodeId(), offset))));
        if (plan.descriptor().encode().length > TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            memory.giveBack();
            end(Status.REFUSED, null, tooManySubtables());
            return 1;
        }
        creator = session.engine().createTable(plan, request().deadlineNs());
        slot.onFormat(creator);
        step = Step.FORMAT;
        return 1;
    }

    private String tooManySubtables()
    {
        return "expectedRecords=" + request().expectedRecords() + " needs " + plan.subtableCount() +
            " subtables, more than a table of this version can name; expect fewer records, or use larger chunks";
    }

    private int pollFormat(final long nowNs)
    {
        if (!creator.isFinished())
        {
            return 0; // what it writes must have landed before the chunks can be somebody else's
        }
        slot.giveBack(this);
        if (TableCreator.State.FAILED == creator.state())
        {
            memory.giveBack();
            end(Status.TIMED_OUT, null, creator.failure());
            return 1;
        }
        publish(nowNs);
        return 1;
    }

    /** The table is made known only if its memory is still the one that was written. */
    private void publish(final long nowNs)
    {
        final List<PeerIdentity> members = new ArrayList<>();
        for (final MemoryLink link : memoryLinks)
        {
            if (plan.chunksAt(link.memoryNodeId()) > 0 && !link.isReady())
            {
                memory.giveBack();
                end(Status.TIMED_OUT, null, "memory node " + link.memoryNodeId() + " went away: " + link.failure());
                return;
            }
            if (plan.chunksAt(link.memoryNodeId()) > 0)
            {
                members.add(link.identity());
            }
        }
        // What this node has leased is returned by others once it has ended: then it makes no table known.
        members.add(session.identity());
        entry = new TableEntry(request().tableName(), tableId, creator.descriptor().encode());
        publishedNews = tables.news();
        publishCall = metaLink.client().createTable(entry, members, userNumber(), remainingNs(nowNs));
        step = Step.PUBLISH;
    }

    /** The meta server keeps the quota of tables: other nodes make some, too. */
    private int userNumber()
    {
        final PeerIdentity caller = request().caller();
        return null == caller ? 0 : caller.userNumber();
    }

    private int pollPublish(final long nowNs)
    {
        if (!publishCall.isDone())
        {
            return 0;
        }
        switch (publishCall.status())
        {
            case OK -> endCreated();
            case TIMED_OUT, PEER_FAILED, MALFORMED_REPLY ->
            {
                named = whoHasTheName(nowNs);
                step = Step.RESOLVE;
            }
            default ->
            {
                memory.giveBack();
                endAs(publishCall);
            }
        }
        return 1;
    }

    private int pollResolve(final long nowNs)
    {
        if (!named.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK == named.call().status() && tableId == named.call().result().tableId())
        {
            endCreated();
        }
        else
        {
            end(Status.OUTCOME_UNKNOWN, null, publishCall.failure());
        }
        return 1;
    }

    private void endCreated()
    {
        memory.keep();
        tables.openIfFresh(entry, publishedNews);
        end(Status.OK, new TableReference(entry.name(), tableId), null);
    }

    @Override
    boolean mayHaveChanged()
    {
        return Step.PUBLISH == step || Step.RESOLVE == step;
    }

    @Override
    boolean isPausing()
    {
        return Step.AWAIT_SLOT == step;
    }

    @Override
    boolean wantsEpochs()
    {
        return Step.AWAIT_SLOT == step && memory.wantsEpochs();
    }

    /** What was leased goes back if nothing was written there. */
    @Override
    void onUnexpected()
    {
        final boolean isLeasing = Step.LEASE == step || Step.TAKE_ID == step;
        if (isLeasing && null == creator && memory.isAnswered())
        {
            memory.giveBack();
        }
    }

    @Override
    void onEnd()
    {
        slot.giveBack(this);
    }
}
