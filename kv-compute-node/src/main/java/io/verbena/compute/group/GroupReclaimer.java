package io.verbena.compute.group;

import io.verbena.compute.catalog.CurrentTables;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.mirror.GroupMembers;
import io.verbena.protocol.mirror.LeftLease;
import io.verbena.protocol.mirror.MirroredClaim;
import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.TableEngine;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.allocation.ChunkWatch;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.check.IndexWalk;
import io.verbena.table.check.OrphanScan;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;

/**
 * Brings chunks of a group back that nodes have left, blocks of own ones that no word names, and indexes that no table
 * uses; see {@code docs/protocol/mirrored-leases.md} for the first steps, {@code docs/protocol/reclamation.md} for the
 * others.
 *
 * <pre>
 *  what differs between members is refused -> what does not is claimed -> every node has let go -> list tables
 *    -> every node has closed those dropped before -> walk along links, scan -> adopt, return
 * </pre>
 *
 * <p>May stop anywhere, as it does when the view ends, and begins anew. Owned by the node's thread.
 */
final class GroupReclaimer implements AutoCloseable
{
    /** Cookie of its batches. */
    static final int COOKIE = ChunkWatch.COOKIE | 32;

    private enum Step
    {
        IDLE, REFUSING, CLAIMING, CLOSING, LISTING, SETTLING, WALKING, SCANNING, ADOPTING
    }

    /** Epochs until it is tried again when something could not be done. */
    private static final long RETRY_EPOCHS = 16;
    /** Attempts for which epochs are asked for. */
    private static final int EAGER_ATTEMPTS = 4;

    private final SessionParts session;
    private final TableEngine engine;
    private final int group;
    private final GroupChunks chunks;
    private final CurrentTables tables;
    private final GroupSweep sweep;
    private final RegionAccess access;
    /** Leases that are to be refused, or claimed. */
    private final Deque<MirroredChunk> refusing = new ArrayDeque<>();
    private final Deque<MirroredChunk> claiming = new ArrayDeque<>();
    /** By index: what this node has claimed at all members, and indexes that may be unused. */
    private final Int2ObjectHashMap<MirroredChunk> closed = new Int2ObjectHashMap<>();
    private final Int2ObjectHashMap<MirroredChunk> indexes = new Int2ObjectHashMap<>();
    private final Deque<MirroredChunk> adopting = new ArrayDeque<>();
    private Step step = Step.IDLE;
    private List<MemoryLink> links = List.of();
    private OneSidedPort port;
    private LeftLease left;
    private MirroredClaim claim;
    /** What is being refused, claimed or adopted; or null. */
    private MirroredChunk current;
    private List<ChunkView> looks = List.of();
    private IndexWalk walk;
    private OrphanScan scan;
    private boolean isKilling;
    /** Whether something of this round could not be done, or of the one before. */
    private boolean isIncomplete;
    private boolean isRetried;
    private int attempts;
    private long freshEpoch;
    private long waitEpoch;
    private long killEpoch;

    GroupReclaimer(final SessionParts session, final int group, final GroupChunks chunks)
    {
        this.session = session;
        this.group = group;
        this.chunks = chunks;
        engine = session.engine();
        tables = session.newCurrentTables();
        sweep = new GroupSweep(group, session.identity(), engine::epoch, session.catalog()::closedCount);
        access = new RegionAccess(session.raas().protectionDomain(), COOKIE);
    }

    /**
     * The group can be used in a view.
     *
     * @param members  of the view.
     * @param newPort  to their memory.
     * @param newLinks to the members in their order: head first, primary last.
     */
    void begin(final GroupMembers members, final OneSidedPort newPort, final List<MemoryLink> newLinks)
    {
        if (session.reclaims())
        {
            port = newPort;
            links = newLinks;
            left = new LeftLease(members, session.timeoutNs(), session.metaLink().retryBackoff());
            claim = new MirroredClaim(members, session.timeoutNs(), session.metaLink().retryBackoff());
        }
        looks = List.of();
        freshEpoch = engine.epoch();
    }

    /** It cannot any more. What was claimed stays so, and is found again; own chunks that were not yet are due. */
    void end()
    {
        if (Step.ADOPTING == step || Step.CLAIMING == step)
        {
            sweep.add(current); // whether it was adopted, or claimed, is not known
        }
        if (Step.IDLE != step)
        {
            claiming.forEach(sweep::add);
        }
        if (!indexes.isEmpty())
        {
            sweep.askIndexes();
        }
        // A kill under way may land still, so no epoch is passed.
        isKilling = Step.SCANNING == step && scan.isKilling();
        step = Step.IDLE;
        port = null;
        links = List.of();
        current = null;
        isIncomplete = false;
    }

    /** Nothing is under way any more over the port of a view that has ended. */
    void ended()
    {
        isKilling = false;
        access.onComplete(WorkCompletionStatus.WR_FLUSH_ERR);
        access.cancel();
    }

    void onComplete(final int status)
    {
        access.onComplete(status);
    }

    /** Sweeps all own chunks. */
    void sweepOwn()
    {
        attempts = 0;
        sweep.ask();
        sweepIndexes();
    }

    /** Has indexes judged after the next look. */
    void sweepIndexes()
    {
        sweep.askIndexes();
        freshEpoch = Math.max(freshEpoch, engine.epoch() + 1);
    }

    /** There was no memory for an index. */
    void onIndexRefused()
    {
        sweep.onIndexRefused();
    }

    /** @return true while own chunks are to be swept, or a round is under way. */
    boolean isSweeping()
    {
        return sweep.isWanted() || Step.IDLE != step;
    }

    /** @return true while something may go on at any moment. */
    boolean isBusy()
    {
        return Step.IDLE != step;
    }

    /** @return true while it works, or has something to begin with: most of that waits for epochs. */
    boolean isDue()
    {
        return null != port && (Step.IDLE != step || !areSeen() ||
            (sweep.isWanted() || isRetried) && attempts < EAGER_ATTEMPTS);
    }

    /** @return whether memory may be found by what is under way, here or at other nodes, or will be at once. */
    boolean mayFindMemory()
    {
        return null != port &&
            (isDue() || sweep.isShort(chunks.refusals()) || links.getLast().chunkView().hasOrphans());
    }

    /** @return which epoch may be passed: none in which memory may go to somebody else where a word is killed. */
    long passableEpoch()
    {
        return isKilling || Step.SCANNING == step && scan.isKilling() ? killEpoch - 1 : Long.MAX_VALUE;
    }

    /** As long as this node has not looked what a newer version is about, it passes no epoch that others wait for. */
    private boolean mayKill()
    {
        killEpoch = engine.epoch();
        return tables.isCurrent();
    }

    private boolean areSeen()
    {
        boolean areSeen = looks.size() == links.size();
        for (int i = 0; i < links.size() && areSeen; i++)
        {
            areSeen = links.get(i).chunkView() == looks.get(i);
        }
        return areSeen;
    }

    private boolean areFresh()
    {
        boolean areFresh = true;
        for (int i = 0; i < links.size() && areFresh; i++)
        {
            areFresh = links.get(i).isReady() && links.get(i).lookEpoch() >= freshEpoch;
        }
        return areFresh;
    }

    int poll(final long nowNs)
    {
        if (null == port)
        {
            return 0;
        }
        return switch (step)
        {
            case IDLE -> pollIdle();
            case REFUSING -> pollRefusing(nowNs);
            case CLAIMING -> pollClaiming(nowNs);
            case CLOSING -> await(Step.LISTING);
            case LISTING -> pollListing();
            case SETTLING -> await(Step.WALKING);
            case WALKING -> pollWalking();
            case SCANNING -> pollScanning();
            case ADOPTING -> pollAdopting(nowNs);
        };
    }

    private int pollIdle()
    {
        if (sweep.noteShortage(chunks.refusals()))
        {
            freshEpoch = Math.max(freshEpoch, engine.epoch() + 1);
        }
        if (!areFresh() || access.isBusy())
        {
            return 0;
        }
        if (areSeen() && !sweep.isWanted() && !isRetried)
        {
            return 0;
        }
        looks = links.stream().map(MemoryLink::chunkView).toList();
        isRetried = false;
        isIncomplete = false;
        refusing.clear();
        claiming.clear();
        closed.clear();
        indexes.clear();
        sweep.find(looks, chunks, refusing, claiming, indexes);
        if (!refusing.isEmpty() || !claiming.isEmpty() || !indexes.isEmpty())
        {
            step = Step.REFUSING;
        }
        return 1;
    }

    /** Where members differ, one that never will record a lease says that it never was complete. */
    private int pollRefusing(final long nowNs)
    {
        if (null == current)
        {
            current = refusing.poll();
            if (null == current)
            {
                step = Step.CLAIMING;
            }
            else
            {
                left.begin(current);
            }
            return 1;
        }
        final int workCount = left.poll(nowNs);
        if (LeftLease.State.ASKING == left.state() || LeftLease.State.RETURNING == left.state())
        {
            return workCount;
        }
        isIncomplete |= LeftLease.State.RETURNED != left.state();
        session.counters().returnedChunks += LeftLease.State.RETURNED == left.state() ? 1 : 0;
        current = null;
        return 1;
    }

    private int pollClaiming(final long nowNs)
    {
        if (null == current)
        {
            current = claiming.poll();
            if (null != current)
            {
                claim.claim(current);
                return 1;
            }
            if (closed.isEmpty() && indexes.isEmpty())
            {
                endRound();
                return 1;
            }
            session.counters().rounds += closed.isEmpty() ? 0 : 1;
            waitEpoch = settledEpoch();
            step = Step.CLOSING;
            return 1;
        }
        final int workCount = claim.poll(nowNs);
        if (MirroredClaim.State.ASKING == claim.state())
        {
            return workCount;
        }
        if (MirroredClaim.State.DONE == claim.state())
        {
            closed.put(current.index(), current);
        }
        else
        {
            isIncomplete = true;
        }
        current = null;
        return 1;
    }

    /** Some node may know the next epoch already, so it counts from there; the distance has one to spare. */
    private long settledEpoch()
    {
        return engine.epoch();
    }

    private int await(final Step next)
    {
        if (!engine.isReusable(waitEpoch))
        {
            return 0;
        }
        if (Step.LISTING == next)
        {
            list();
            return 1;
        }
        step = next;
        walk = indexes.isEmpty() ? null :
            new IndexWalk(access, port, group, looks.getLast(), tables.all());
        return 1;
    }

    private void list()
    {
        tables.start();
        step = Step.LISTING;
    }

    private int pollListing()
    {
        tables.poll();
        if (tables.isUnreadable())
        {
            isIncomplete = true;
            endRound();
            return 1;
        }
        if (!tables.isDone())
        {
            return 0;
        }
        waitEpoch = settledEpoch();
        step = Step.SETTLING;
        return 1;
    }

    private int pollWalking()
    {
        if (null != walk)
        {
            final int workCount = walk.poll();
            if (!walk.isDone())
            {
                return workCount;
            }
            if (!tables.isCurrent())
            {
                list();
                return 1;
            }
            onWalked();
        }
        if (closed.isEmpty())
        {
            endRound();
            return 1;
        }
        final BitSet scanned = new BitSet();
        closed.keySet().forEach((index) -> scanned.set(index));
        scan = new OrphanScan(access, port, group, looks.getLast(), scanned, tables.all(), this::mayKill,
            engine::emptiedWord);
        step = Step.SCANNING;
        return 1;
    }

    private void onWalked()
    {
        if (walk.isComplete())
        {
            for (final MirroredChunk index : indexes.values())
            {
                if (!walk.isInUse(index.index()))
                {
                    session.counters().returnedIndexChunks++;
                    chunks.retire(index, returnEpoch());
                }
            }
            indexes.clear();
        }
        isIncomplete |= !walk.isComplete();
        walk = null;
    }

    /** Others learn by then that a table was dropped, or split, before it was listed. */
    private long returnEpoch()
    {
        return engine.epoch() + EpochTracker.REPEAT_EPOCHS;
    }

    private int pollScanning()
    {
        final int workCount = scan.poll();
        if (!scan.isDone())
        {
            return workCount;
        }
        if (!tables.isCurrent())
        {
            list();
            return 1;
        }
        if (!scan.isComplete())
        {
            isIncomplete = true;
            endRound();
            return 1;
        }
        session.counters().killedWords += scan.killed();
        adopting.clear();
        for (final MirroredChunk chunk : closed.values())
        {
            if (scan.isUnnamed(chunk.index()))
            {
                session.counters().returnedChunks++;
                chunks.retire(chunk, engine.epoch()); // when nobody can hold a word of its any more
            }
            else
            {
                adopting.add(chunk);
            }
        }
        step = Step.ADOPTING;
        return 1;
    }

    /** Open again for all when all members have heard it; what is unnamed belongs to this node. */
    private int pollAdopting(final long nowNs)
    {
        if (null == current)
        {
            current = adopting.poll();
            if (null == current)
            {
                endRound();
            }
            else
            {
                claim.adopt(current);
            }
            return 1;
        }
        final int workCount = claim.poll(nowNs);
        if (MirroredClaim.State.ASKING == claim.state())
        {
            return workCount;
        }
        if (MirroredClaim.State.DONE == claim.state())
        {
            session.counters().adoptedChunks++;
            session.counters().adoptedBytes += scan.takeOver(current.index(), engine, group);
        }
        else
        {
            isIncomplete = true;
        }
        current = null;
        return 1;
    }

    /** A look at the headers that began before now shows chunks as claimed that are not any more. */
    private void endRound()
    {
        step = Step.IDLE;
        freshEpoch = engine.epoch() + (isIncomplete ? RETRY_EPOCHS : 1);
        attempts = isIncomplete ? attempts + 1 : 0;
        if (!indexes.isEmpty())
        {
            sweep.askIndexes(); // they could not be judged
        }
        isRetried = isIncomplete;
    }

    @Override
    public void close()
    {
        access.close();
    }

    @Override
    public String toString()
    {
        return "GroupReclaimer{group=" + group + ", step=" + step + ", closed=" + closed.size() + ", indexes=" +
            indexes.size() + '}';
    }
}
