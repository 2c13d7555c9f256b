package io.verbena.compute;

import io.verbena.control.ChunkLease;
import io.verbena.control.ChunkPurpose;
import io.verbena.control.ChunkRun;
import io.verbena.control.ControlCall;
import io.verbena.control.ControlStatus;
import io.verbena.control.MemoryNodeStat;
import io.verbena.control.MetaClient;
import io.verbena.control.TableEntry;
import io.verbena.raas.PeerIdentity;
import io.verbena.request.ControlRequest.Status;
import io.verbena.request.ControlRequest;
import io.verbena.request.TableReference;
import io.verbena.table.TableCreator;
import io.verbena.table.TableEngine;
import io.verbena.table.TablePlan;
import io.verbena.table.format.TableDescriptor;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Creates a table: asks that the name is free, takes a table id, asks the memory nodes how long their chunks are,
 * leases chunks, formats them one-sidedly, and makes the table known. Whatever fails before the last step changes
 * nothing but chunks, which go back by {@link IndexReturns}, and an id, which is not used again. If the last answer is
 * lost, the meta server is asked who owns the name.
 */
final class CreateTableTask extends ControlTask
{
    private enum Step
    {
        CHECK_NAME, TAKE_ID, ASK_NODES, LEASE, FORMAT, PUBLISH, RESOLVE
    }

    /** Most runs that one lease call may bring. */
    private static final int MAX_LEASE = ChunkLease.MAX_RUNS;

    /** A request for chunks. */
    private record Leasing(int memoryNodeId, long requestId, int chunkCount, ControlCall<ChunkLease> call)
    {
    }

    private final MetaLink metaLink;
    private final TableEngine engine;
    private final TableRegistry tables;
    private final List<MemoryLink> memoryLinks;
    private final SplittableRandom random;
    private final SessionParts session;
    private final IndexReturns returns;
    private final boolean grows;
    private final List<ControlCall<MemoryNodeStat>> stats = new ArrayList<>();
    private final List<Leasing> leases = new ArrayList<>();
    private Step step = Step.CHECK_NAME;
    private MetaRead<TableEntry> named;
    private MetaRead<Integer> id;
    private ControlCall<Void> publishCall;
    private TablePlan plan;
    private TableCreator creator;
    private TableEntry entry;
    private int tableId;
    private long publishedNews;

    CreateTableTask(
        final ControlRequest request, final SessionParts session, final TableRegistry tables,
        final IndexReturns returns, final List<MemoryLink> readyLinks, final SplittableRandom random,
        final boolean grows, final long nowNs)
    {
        super(request);
        this.session = session;
        this.returns = returns;
        metaLink = session.metaLink();
        engine = session.engine();
        this.tables = tables;
        this.memoryLinks = readyLinks;
        this.random = random;
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
        else if (memoryLinks.isEmpty())
        {
            end(Status.TIMED_OUT, null, "no memory node is connected");
        }
        else
        {
            id = new MetaRead<>(metaLink, MetaClient::allocateTableId, request().deadlineNs(), nowNs);
            step = Step.TAKE_ID;
        }
        return 1;
    }

    private int pollTakeId(final long nowNs)
    {
        if (!id.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK != id.call().status())
        {
            endAs(id.call());
            return 1;
        }
        tableId = id.call().result();
        for (final MemoryLink link : memoryLinks)
        {
            stats.add(link.client().stat(remainingNs(nowNs)));
        }
        step = Step.ASK_NODES;
        return 1;
    }

    private int pollAskNodes(final long nowNs)
    {
        long chunkBytes = Long.MAX_VALUE;
        for (final ControlCall<MemoryNodeStat> stat : stats)
        {
            if (!stat.isDone())
            {
                return 0;
            }
            if (ControlStatus.OK != stat.status())
            {
                endAs(stat);
                return 1;
            }
            chunkBytes = Math.min(chunkBytes, stat.result().chunkLengthBytes());
        }
        final int[] memoryNodeIds = memoryLinks.stream().mapToInt(MemoryLink::memoryNodeId).toArray();
        try
        {
            plan = TablePlan.forRecords(request().tableName(), tableId, random.nextLong(),
                request().expectedRecords(), memoryNodeIds, chunkBytes);
            plan = grows ? plan.ofWholeChunks(chunkBytes) : plan;
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
            return 1;
        }
        lease(nowNs);
        return 1;
    }

    private void lease(final long nowNs)
    {
        for (final MemoryLink link : memoryLinks)
        {
            int wanted = plan.chunksAt(link.memoryNodeId());
            while (wanted > 0)
            {
                final int count = Math.min(wanted, MAX_LEASE);
                final long requestId = session.numbers().begin();
                leases.add(new Leasing(link.memoryNodeId(), requestId, count, link.client().leaseChunks(
                    requestId, ChunkPurpose.INDEX, count, false, remainingNs(nowNs))));
                wanted -= count;
            }
        }
        step = Step.LEASE;
    }

    private int pollLease(final long nowNs)
    {
        for (final Leasing lease : leases)
        {
            if (!lease.call.isDone())
            {
                return 0;
            }
        }
        for (final Leasing lease : leases)
        {
            if (ControlStatus.OK != lease.call.status())
            {
                returnChunks();
                endAs(lease.call);
                return 1;
            }
        }
        leases.forEach((lease) -> place(lease.memoryNodeId, lease.call.result()));
        memoryLinks.forEach((link) -> leases.stream()
            .filter((lease) -> lease.memoryNodeId == link.memoryNodeId())
            .forEach((lease) -> link.onLeased(lease.call.result())));
        if (plan.descriptor().encode().length > TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            returnChunks();
            end(Status.REFUSED, null, tooManySubtables());
            return 1;
        }
        creator = engine.createTable(plan, request().deadlineNs());
        step = Step.FORMAT;
        return 1;
    }

    private String tooManySubtables()
    {
        return "expectedRecords=" + request().expectedRecords() + " needs " + plan.subtableCount() +
            " subtables, more than a table of this version can name; expect fewer records, or use larger chunks";
    }

    private void place(final int memoryNodeId, final ChunkLease lease)
    {
        for (final ChunkRun run : lease.runs())
        {
            for (int i = 0; i < run.chunkCount(); i++)
            {
                plan.place(memoryNodeId, run.offset() + (long)i * lease.chunkLengthBytes());
            }
        }
    }

    private int pollFormat(final long nowNs)
    {
        if (!creator.isFinished())
        {
            return 0; // what it writes must have landed before the chunks can be somebody else's
        }
        if (TableCreator.State.FAILED == creator.state())
        {
            returnChunks();
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
                returnChunks();
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
        publishCall = metaLink.client().createTable(entry, members, remainingNs(nowNs));
        step = Step.PUBLISH;
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
                returnChunks();
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
        leases.forEach((lease) -> session.numbers().end(lease.requestId));
        tables.openIfFresh(entry, publishedNews);
        end(Status.OK, new TableReference(entry.name(), tableId), null);
    }

    /** Gives back what was leased, or may have been, when this came to nothing. */
    private void returnChunks()
    {
        for (final Leasing lease : leases)
        {
            final ControlStatus status = lease.call.status();
            if (ControlStatus.OK == status)
            {
                returns.addLeased(request().tableName(), lease.memoryNodeId, lease.call.result());
                session.numbers().end(lease.requestId);
            }
            else if (status.isUnknown())
            {
                returns.addRequest(request().tableName(), lease.memoryNodeId, lease.requestId, lease.chunkCount);
            }
            else
            {
                session.numbers().end(lease.requestId); // refused: nothing was leased
            }
        }
    }

    @Override
    void stop()
    {
        if (Step.PUBLISH == step || Step.RESOLVE == step)
        {
            end(Status.OUTCOME_UNKNOWN, null, "node stops");
        }
        else
        {
            end(Status.NOT_SERVING, null, "node stops");
        }
    }
}
