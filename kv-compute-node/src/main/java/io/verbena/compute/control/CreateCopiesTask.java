package io.verbena.compute.control;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.group.GroupChunks;
import io.verbena.compute.group.GroupLink;
import io.verbena.compute.group.GroupLinks;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.protocol.view.View;
import io.verbena.raas.failure.Backoff;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import io.verbena.table.mirror.MirrorGroup;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import org.agrona.collections.Int2IntCounterMap;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * Creates a table with several copies, on a group of memory nodes: chooses those that are in the fewest groups, in
 * different failure domains while there are any, has the meta server make a group of them, and leases chunks at all of
 * its members.
 */
final class CreateCopiesTask extends NewTableTask
{
    private enum Wait
    {
        SLOT, DOMAINS, CONNECTIONS, GROUP, PORT, CHUNKS
    }

    /** For memory nodes that were just started to be heard of and connected: 1 s. */
    private static final long CONNECT_PATIENCE_NS = 1_000_000_000;
    /** Of a plan by which chunks are leased. */
    private static final int NO_ID_YET = 1;

    private final MemoryLinks links;
    private final GroupLinks groups;
    private final long begunNs;
    /** A table in fewer failure domains is better than none. */
    private final long domainPatienceNs;
    private final Backoff backoff;
    private long triesAtNs;
    /** Why it tries again; null where it is the first time. */
    private String loss;
    private Wait wait = Wait.SLOT;
    private final Int2ObjectHashMap<String> domains = new Int2ObjectHashMap<>();
    private MetaRead<FailureDomainPage> asking;
    private ControlCall<View> making;
    private GroupLink group;
    private View view;
    private long chunkBytes;
    private TablePlan plan;
    private GroupChunks.IndexRequest chunks;

    /**
     * @param links  to the memory nodes.
     * @param groups of which one is made, or used.
     */
    CreateCopiesTask(
        final ControlRequest request, final SessionParts session, final TableRegistry tables, final CreationSlot slot,
        final MemoryLinks links, final GroupLinks groups, final SplittableRandom random, final long nowNs)
    {
        super(request, session, tables, slot, random, nowNs);
        this.links = links;
        this.groups = groups;
        begunNs = nowNs;
        backoff = session.metaLink().retryBackoff();
        triesAtNs = nowNs;
        domainPatienceNs = Math.min(CONNECT_PATIENCE_NS, (request.deadlineNs() - nowNs) / 2);
    }

    @Override
    int pollLease(final long nowNs)
    {
        if (request().deadlineNs() - nowNs <= 0)
        {
            endAtDeadline();
            return 1;
        }
        return switch (wait)
        {
            case SLOT -> pollSlot(nowNs);
            case DOMAINS -> pollDomains(nowNs);
            case CONNECTIONS -> makeGroup(nowNs);
            case GROUP -> pollGroup(nowNs);
            case PORT -> pollPort(nowNs);
            case CHUNKS -> pollChunks(nowNs);
        };
    }

    private void endAtDeadline()
    {
        giveBack();
        end(Status.TIMED_OUT, null, switch (wait)
        {
            case SLOT -> null != loss ? loss :
                links.ready().size() < request().copies() ? tooFew(links.ready().size()) :
                "it waited for other creations of this compute node until its deadline";
            case DOMAINS -> "the meta server did not list failure domains in time: " + asking.call().failure();
            case CONNECTIONS -> "no group of memory nodes was made in time";
            case GROUP -> "the meta server did not make a group of memory nodes in time";
            case PORT -> "its group of memory nodes cannot be used: " + group.failure();
            case CHUNKS -> "not all chunks were leased in time";
        });
    }

    private String tooFew(final int memoryNodes)
    {
        return request().copies() + " copies need as many memory nodes, and " + memoryNodes +
            (memoryNodes == 1 ? " is" : " are") + " connected to this compute node: start more, or ask for fewer";
    }

    private int pollSlot(final long nowNs)
    {
        if (triesAtNs - nowNs > 0)
        {
            return 0;
        }
        final List<MemoryLink> ready = links.ready();
        if (ready.size() < request().copies())
        {
            if (nowNs - begunNs < CONNECT_PATIENCE_NS)
            {
                return 0;
            }
            end(Status.REFUSED, null, tooFew(ready.size()));
            return 1;
        }
        if (!mayLease())
        {
            return 0;
        }
        askForDomains(0, nowNs);
        wait = Wait.DOMAINS;
        return 1;
    }

    private void askForDomains(final int afterNodeId, final long nowNs)
    {
        asking = new MetaRead<>(session().metaLink(), (client, timeoutNs) ->
            client.failureDomains(afterNodeId, timeoutNs), request().deadlineNs(), nowNs);
    }

    private int pollDomains(final long nowNs)
    {
        if (!asking.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK != asking.call().status())
        {
            endAs(asking.call());
            return 1;
        }
        final FailureDomainPage page = asking.call().result();
        page.domains().forEach((domain) -> domains.put(domain.nodeId(), domain.label()));
        if (page.hasMore() && !page.domains().isEmpty())
        {
            askForDomains(page.domains().getLast().nodeId(), nowNs);
        }
        else
        {
            wait = Wait.CONNECTIONS;
        }
        return 1;
    }

    private int makeGroup(final long nowNs)
    {
        final List<MemoryLink> ready = new ArrayList<>(links.ready());
        if (ready.size() < request().copies())
        {
            end(Status.REFUSED, null, tooFew(ready.size()));
            return 1;
        }
        if (nowNs - begunNs < domainPatienceNs && lacksFailureDomain(ready))
        {
            return 0;
        }
        final Int2IntCounterMap uses = new Int2IntCounterMap(0);
        for (final View known : session().views().views().all())
        {
            known.members().forEach((member) -> uses.incrementAndGet(member.nodeId()));
        }
        ready.sort((one, other) -> uses.get(one.memoryNodeId()) != uses.get(other.memoryNodeId()) ?
            Integer.compare(uses.get(one.memoryNodeId()), uses.get(other.memoryNodeId())) :
            Integer.compare(one.memoryNodeId(), other.memoryNodeId()));
        final List<MemoryLink> members =
            FailureDomains.spread(ready, (link) -> domains.get(link.memoryNodeId()), request().copies());
        if (isOfOneLayout(members))
        {
            final List<Integer> ids = members.stream().map(MemoryLink::memoryNodeId).toList();
            making = session().metaLink().client().makeGroup(ids, remainingNs(nowNs));
            wait = Wait.GROUP;
        }
        return 1;
    }

    /** Whether copies would be lost together, and a memory node lives that is not connected and would prevent that. */
    private boolean lacksFailureDomain(final List<MemoryLink> ready)
    {
        final Set<String> reached = new HashSet<>();
        int nodesWithoutLabel = 0;
        for (final MemoryLink link : ready)
        {
            final String label = domains.get(link.memoryNodeId());
            if (null == label)
            {
                nodesWithoutLabel++;
            }
            else
            {
                reached.add(label);
            }
        }
        return reached.size() + nodesWithoutLabel < request().copies() && !reached.containsAll(domains.values());
    }

    private boolean isOfOneLayout(final List<MemoryLink> members)
    {
        final List<Superblock> superblocks = members.stream().map(MemoryLink::superblock).toList();
        try
        {
            new MirrorGroup(1, members.stream().map(MemoryLink::memoryNodeId).toList()).check(superblocks);
        }
        catch (final FormatException ex)
        {
            end(Status.REFUSED, null, ex.getMessage());
            return false;
        }
        chunkBytes = superblocks.getFirst().chunkLengthBytes();
        return true;
    }

    private int pollGroup(final long nowNs)
    {
        if (!making.isDone())
        {
            return 0;
        }
        if (MetaRead.mayBeAskedAgain(making.status()) || ControlStatus.UNKNOWN_NODE == making.status())
        {
            leaseLater(making.failure(), nowNs); // one of the memory nodes has ended, and is not known here to have
            return 1;
        }
        if (ControlStatus.OK != making.status())
        {
            endAs(making);
            return 1;
        }
        session().views().hear(making.result());
        group = groups.link(making.result().group());
        wait = Wait.PORT;
        return 1;
    }

    private int pollPort(final long nowNs)
    {
        if (!group.isReady())
        {
            return 0;
        }
        if (group.view().members().size() < request().copies())
        {
            leaseLater("its group of memory nodes has " + group.view().members().size() + " of " + request().copies() +
                " members", nowNs);
            return 1;
        }
        try
        {
            plan = planOf(NO_ID_YET);
        }
        catch (final IllegalArgumentException ex)
        {
            end(Status.REFUSED, null, ex.getMessage());
            return 1;
        }
        view = group.view();
        chunks = group.chunks().requestIndex(plan.subtableCount());
        wait = Wait.CHUNKS;
        return 1;
    }

    private TablePlan planOf(final int tableId)
    {
        return TablePlan.forRecords(request().tableName(), tableId, hashSeed(), request().expectedRecords(),
            new int[]{group.group()}, chunkBytes);
    }

    private int pollChunks(final long nowNs)
    {
        if (!chunks.isDone())
        {
            return 0;
        }
        if (chunks.failure().isEmpty())
        {
            onLeased(nowNs);
            return 1;
        }
        final boolean isExhausted = chunks.isExhausted();
        final String failure = chunks.failure();
        giveBack();
        if (isExhausted)
        {
            end(Status.NO_MEMORY, null, failure);
        }
        else
        {
            leaseLater(failure, nowNs);
        }
        return 1;
    }

    @Override
    void leaseLater(final String why, final long nowNs)
    {
        loss = why;
        triesAtNs = nowNs + backoff.nextPauseNs();
        chunks = null;
        domains.clear();
        giveSlotBack();
        wait = Wait.SLOT;
    }

    @Override
    TablePlan placed(final int tableId)
    {
        plan = planOf(tableId);
        chunks.offsets().forEach((offset) -> plan.place(group.group(), offset));
        return plan;
    }

    /** The view in which it was formatted: a later one may have members that have nothing of it. */
    @Override
    List<PeerIdentity> members()
    {
        if (!group.isReady() || group.view() != view)
        {
            return null;
        }
        final List<PeerIdentity> members = new ArrayList<>(view.members());
        members.add(session().identity());
        return members;
    }

    @Override
    String absence()
    {
        return "its group of memory nodes has changed: " + group.newest();
    }

    @Override
    void giveBack()
    {
        if (null != chunks)
        {
            group.chunks().giveBack(chunks);
        }
    }

    @Override
    void giveBackAnswered()
    {
        giveBack();
    }

    @Override
    void keep()
    {
        group.chunks().end(chunks);
    }

    @Override
    boolean isPausing()
    {
        return isLeasing() && Wait.SLOT == wait;
    }
}
