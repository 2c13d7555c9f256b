package io.verbena.compute.maintenance;

import io.verbena.compute.catalog.CurrentTables;
import io.verbena.compute.figures.ReclaimCounters;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.OneSidedPort;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.TableEngine;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.allocation.ChunkWatch;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.check.IndexWalk;
import io.verbena.table.format.ChunkDescriptor;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.Supplier;

/**
 * Returns index chunks of one memory node that no table uses and that nobody else returns, see
 * {@code docs/protocol/index-sweep.md}: those whose owner has ended, and those of this node that none of its requests
 * under way is about. Nobody but their owner could make them part of a table.
 *
 * <pre>
 *  look -> list tables -> walk along links -> what is not in use: nobody works there any more -> return
 * </pre>
 *
 * <p>May stop anywhere, and begins anew. Several nodes may return the same chunk, each by the lease that it saw. Owned
 * by the node's thread.
 */
final class IndexSweep
{
    private enum Step
    {
        IDLE, LISTING, WALKING, WAITING, RETURNING
    }

    /** Epochs until it is tried again when it could not be judged. */
    private static final long RETRY_EPOCHS = 16;
    /** Attempts for which epochs are asked for; a table that cannot be read is waited for without. */
    private static final int EAGER_ATTEMPTS = 4;

    private final SessionParts session;
    private final TableEngine engine;
    private final int memoryNodeId;
    private final PeerIdentity identity;
    private final ChunkWatch watch;
    private final Supplier<RegionAccess> access;
    private final CurrentTables tables;
    private final ReclaimCounters counters;
    private final BitSet chunks = new BitSet();
    /** What had been left behind when it was judged last. */
    private BitSet judged = new BitSet();
    private Step step = Step.IDLE;
    private MemoryNodeClient client;
    private OneSidedPort port;
    private IndexWalk walk;
    private ControlCall<Void> returning;
    private int[] returned;
    private ChunkView view;
    private ChunkView viewSeen;
    private boolean isAsked;
    private int attempts;
    private long freshEpoch;
    private long waitEpoch;

    /** @param access used by nobody else, while this walks. */
    IndexSweep(
        final SessionParts session, final int memoryNodeId, final ChunkWatch watch,
        final Supplier<RegionAccess> access)
    {
        this.session = session;
        this.memoryNodeId = memoryNodeId;
        this.watch = watch;
        this.access = access;
        engine = session.engine();
        identity = session.identity();
        counters = session.counters();
        tables = session.newCurrentTables();
    }

    /** A new connection, on which nothing is under way; null while there is none. */
    void connect(final MemoryNodeClient newClient, final OneSidedPort newPort)
    {
        isAsked |= Step.IDLE != step;
        client = newClient;
        port = newPort;
        returning = null;
        step = Step.IDLE;
    }

    /** Has all chunks judged after the next look. */
    void ask()
    {
        isAsked = true;
        freshEpoch = Math.max(freshEpoch, engine.epoch() + 1);
    }

    /** @return true while something may go on at any moment. */
    boolean isBusy()
    {
        return null != client && Step.IDLE != step;
    }

    /** @return true while it works, or has something to begin with: most of that waits for epochs. */
    boolean isDue()
    {
        return null != client && (Step.IDLE != step || viewSeen != watch.view() ||
            isAsked && attempts < EAGER_ATTEMPTS);
    }

    int poll()
    {
        if (null == client)
        {
            return 0;
        }
        return switch (step)
        {
            case IDLE -> pollIdle();
            case LISTING -> pollListing();
            case WALKING -> pollWalking();
            case WAITING -> pollWaiting();
            case RETURNING -> pollReturning();
        };
    }

    private int pollIdle()
    {
        if (viewSeen != watch.view())
        {
            viewSeen = watch.view();
            onView();
        }
        if (!isAsked || watch.epoch() < freshEpoch)
        {
            return 0;
        }
        isAsked = false;
        view = viewSeen;
        chunks.clear();
        for (int i = 0; i < view.chunkCount(); i++)
        {
            if (view.isIndexOfNobody(i) || isOwnAndIdle(i))
            {
                chunks.set(i);
            }
        }
        if (chunks.isEmpty())
        {
            return 0;
        }
        list();
        return 1;
    }

    /** Whoever ended may have been about to return something, and left it, whoever had leased it. */
    private void onView()
    {
        final BitSet left = new BitSet();
        for (int i = 0; i < viewSeen.chunkCount(); i++)
        {
            left.set(i, viewSeen.isIndexOfNobody(i) || viewSeen.isLeftBehind(i));
        }
        final BitSet added = (BitSet)left.clone();
        added.andNot(judged);
        isAsked |= !added.isEmpty();
        judged = left;
    }

    private boolean isOwnAndIdle(final int index)
    {
        return view.isOwned(index, ChunkDescriptor.STATE_INDEX, identity.nodeId(), identity.incarnation()) &&
            !session.numbers().isUnderWay(view.requestId(index));
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
            endUnjudged();
            return 1;
        }
        if (!tables.isDone())
        {
            return 0;
        }
        walk = new IndexWalk(access.get(), port, memoryNodeId, view, tables.all());
        step = Step.WALKING;
        return 1;
    }

    private int pollWalking()
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
        if (!walk.isComplete())
        {
            endUnjudged();
            return 1;
        }
        attempts = 0;
        for (int i = chunks.nextSetBit(0); i >= 0; i = chunks.nextSetBit(i + 1))
        {
            chunks.set(i, !walk.isInUse(i));
        }
        waitEpoch = returnEpoch();
        step = chunks.isEmpty() ? Step.IDLE : Step.WAITING;
        return 1;
    }

    /** Others learn by then that a table was dropped, or split, before it was listed; {@code IndexReturns} the rest. */
    private long returnEpoch()
    {
        return engine.epoch() + EpochTracker.REPEAT_EPOCHS;
    }

    private void endUnjudged()
    {
        step = Step.IDLE;
        isAsked = true;
        attempts++;
        freshEpoch = engine.epoch() + RETRY_EPOCHS;
    }

    private int pollWaiting()
    {
        if (!engine.isReusable(waitEpoch))
        {
            return 0;
        }
        final long lease = leaseOf(chunks.nextSetBit(0));
        returned = chunks.stream().filter((index) -> leaseOf(index) == lease).limit(ChunkLease.MAX_RUNS).toArray();
        final List<ChunkRun> runs =
            Arrays.stream(returned).mapToObj((index) -> new ChunkRun(view.offset(index), 1)).toList();
        returning = client.returnChunks(runs, lease, session.timeoutNs());
        step = Step.RETURNING;
        return 1;
    }

    /**
     * By which a chunk was had when it was seen. Not the newest lease of the view: headers are read one after the
     * other, so that a chunk may have been had anew, by an older lease than one that was seen behind it.
     */
    private long leaseOf(final int index)
    {
        return view.leaseNumber(index);
    }

    private int pollReturning()
    {
        if (!returning.isDone())
        {
            return 0;
        }
        final ControlStatus status = returning.status();
        returning = null;
        step = Step.WAITING;
        if (ControlStatus.OK == status)
        {
            counters.returnedIndexChunks += returned.length;
            for (final int index : returned)
            {
                chunks.clear(index);
            }
            step = chunks.isEmpty() ? Step.IDLE : Step.WAITING;
        }
        else if (status.isUnknown() || ControlStatus.UNAVAILABLE == status)
        {
            waitEpoch = returnEpoch(); // for time to pass, no more
        }
        else
        {
            endUnjudged();
        }
        return 1;
    }
}
