package io.verbena.compute.maintenance;

import io.verbena.compute.catalog.CurrentTables;
import io.verbena.compute.figures.ReclaimCounters;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.OneSidedPort;
import io.verbena.table.TableEngine;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.allocation.ChunkWatch;
import io.verbena.table.check.OrphanScan;

import java.util.BitSet;
import java.util.List;

/**
 * Reclaims closed chunks of one memory node: those of nodes that ended, and, where memory is short or a table was
 * dropped, this node's own. The order is the proof, see {@code docs/protocol/reclamation.md}:
 *
 * <pre>
 *  claim -> every node has let go -> list tables -> every node has closed those dropped before -> scan -> adopt
 * </pre>
 *
 * <p>May stop anywhere, for good or until the connection is back: the chunks stay closed, and it or another node begins
 * anew. Owned by the node's thread.
 */
final class Reclaimer
{
    /** Where it stands. */
    enum Step
    {
        IDLE, CLAIMING, CLOSING, LISTING, SETTLING, SCANNING, ADOPTING, RETURNING
    }

    /** Epochs until it is tried again when there is a table that cannot be read. */
    private static final long UNREADABLE_EPOCHS = 64;

    private final SessionParts session;
    private final TableEngine engine;
    private final int memoryNodeId;
    private final ChunkWatch watch;
    private final RegionAccess access;
    private final OwnChunkSweep sweep;
    private final CurrentTables tables;
    private final ReclaimCounters counters;
    private final long timeoutNs;
    private final BitSet chunks = new BitSet();
    private Step step = Step.IDLE;
    private MemoryNodeClient client;
    private OneSidedPort port;
    private ControlCall<List<ChunkRun>> claiming;
    private ControlCall<Void> changing;
    private OrphanScan scan;
    private long triedVersion = -1;
    private long freshEpoch = 1;
    private long waitEpoch;
    private long killEpoch;

    /** @param onSweep called when all own chunks are to be swept. */
    Reclaimer(
        final SessionParts session, final int memoryNodeId, final ChunkWatch watch, final RegionAccess access,
        final Runnable onSweep)
    {
        this.session = session;
        this.memoryNodeId = memoryNodeId;
        this.watch = watch;
        this.access = access;
        engine = session.engine();
        sweep = new OwnChunkSweep(engine::epoch, session.catalog()::closedCount, session.identity(), onSweep);
        counters = session.counters();
        timeoutNs = session.timeoutNs();
        tables = session.newCurrentTables();
    }

    /** A new connection; null while there is none. Only what is adopted already goes on, the rest begins anew. */
    void connect(final MemoryNodeClient newClient, final OneSidedPort newPort)
    {
        client = newClient;
        port = newPort;
        if (Step.CLAIMING == step)
        {
            askAgain();
        }
        if (Step.ADOPTING != step)
        {
            endRound();
        }
        triedVersion = -1;
        claiming = null;
        changing = null;
    }

    /** Sweeps all own chunks, those too that no look has shown yet: so after the next look. */
    void sweepOwn()
    {
        sweep.ask();
        freshEpoch = Math.max(freshEpoch, engine.epoch() + 1);
    }

    /** @return true while own chunks are to be swept, or a round is under way; also without a connection. */
    boolean isSweeping()
    {
        return sweep.isWanted() || Step.IDLE != step;
    }

    /** @return true while something may go on at any moment. */
    boolean isBusy()
    {
        return null != client && Step.IDLE != step;
    }

    /** @return true while it works, or has something to begin with: most of that waits for epochs. */
    boolean isDue()
    {
        return null != client &&
            (Step.IDLE != step || watch.epoch() < freshEpoch || triedVersion != watch.version() ||
            sweep.isDue());
    }

    /** @return whether refused requests, so many by now, lead to a sweep of own chunks that has not begun. */
    boolean isShort(final long refusals)
    {
        return null != client && sweep.isShort(refusals);
    }

    /** @return which epoch may be passed: none in which memory may go to somebody else where a word is killed. */
    long passableEpoch()
    {
        return Step.SCANNING == step && scan.isKilling() ? killEpoch - 1 : Long.MAX_VALUE;
    }

    /** As long as this node has not looked what a newer version is about, it passes no epoch that others wait for. */
    private boolean mayKill()
    {
        killEpoch = engine.epoch();
        return tables.isCurrent();
    }

    Step step()
    {
        return step;
    }

    int poll(final long refusals)
    {
        if (null == client)
        {
            return 0;
        }
        return switch (step)
        {
            case IDLE -> pollIdle(refusals);
            case CLAIMING -> pollClaiming();
            case CLOSING -> await(Step.LISTING);
            case LISTING -> pollListing();
            case SETTLING -> await(Step.SCANNING);
            case SCANNING -> pollScanning();
            case ADOPTING -> pollAdopting();
            case RETURNING -> pollReturning();
        };
    }

    private int pollIdle(final long refusals)
    {
        if (sweep.noteShortage(refusals))
        {
            sweepOwn();
        }
        if (watch.epoch() < freshEpoch)
        {
            return 0;
        }
        sweep.mark(watch.view());
        if (triedVersion == watch.version() && !sweep.isDue())
        {
            return 0;
        }
        triedVersion = watch.version();
        final List<ChunkRun> wanted = sweep.wanted(watch.view());
        if (wanted.isEmpty())
        {
            return 0;
        }
        claiming = client.claimChunks(wanted, timeoutNs);
        step = Step.CLAIMING;
        return 1;
    }

    private int pollClaiming()
    {
        if (!claiming.isDone())
        {
            return 0;
        }
        chunks.clear();
        if (ControlStatus.OK == claiming.status())
        {
            final ChunkView view = watch.view();
            for (final ChunkRun run : claiming.result())
            {
                final int first = view.index(run.offset());
                chunks.set(first, first + run.chunkCount());
            }
        }
        else
        {
            askAgain();
        }
        claiming = null;
        if (chunks.isEmpty())
        {
            endRound();
            return 1;
        }
        waitEpoch = settledEpoch();
        step = Step.CLOSING;
        counters.rounds++;
        return 1;
    }

    /** Some node may know the next epoch already, so it counts from there; the distance has one to spare. */
    private long settledEpoch()
    {
        return engine.epoch();
    }

    /** Whether the chunks were closed is unknown; without this, nobody would sweep those that were not. */
    private void askAgain()
    {
        sweep.askAgain();
        triedVersion = -1;
    }

    private int await(final Step next)
    {
        if (!engine.isReusable(waitEpoch))
        {
            return 0;
        }
        step = next;
        if (Step.LISTING == next)
        {
            list();
        }
        else
        {
            scan = new OrphanScan(
                access,
                port,
                memoryNodeId,
                watch.view(),
                chunks,
                tables.all(),
                this::mayKill,
                engine::emptiedWord);
        }
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
            endRound();
            freshEpoch = engine.epoch() + UNREADABLE_EPOCHS;
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

    private int pollScanning()
    {
        final int workCount = scan.poll();
        if (!scan.isDone())
        {
            return workCount;
        }
        if (!tables.isCurrent())
        {
            // A table may have been dropped meanwhile, and what was read there may be somebody else's by now.
            list();
            return 1;
        }
        if (!scan.isComplete())
        {
            endRound();
            return 1;
        }
        counters.killedWords += scan.killed();
        waitEpoch = engine.epoch();
        step = Step.ADOPTING;
        return 1;
    }

    /** Open again for all from the moment on that the memory node heard it; what is unnamed belongs to this node. */
    private int pollAdopting()
    {
        if (null == changing && engine.epoch() < freshEpoch)
        {
            return 0;
        }
        if (null == changing)
        {
            final List<ChunkRun> partly = runs(false);
            if (partly.isEmpty())
            {
                step = Step.RETURNING;
                return 1;
            }
            changing = client.adoptChunks(partly, timeoutNs);
            return 1;
        }
        if (!changing.isDone())
        {
            return 0;
        }
        final ControlStatus status = changing.status();
        changing = null;
        if (ControlStatus.OK == status)
        {
            chunks.stream().filter((index) -> !scan.isUnnamed(index)).forEach(this::takeOver);
            step = Step.RETURNING;
        }
        else if (ControlStatus.INVALID_REQUEST == status || ControlStatus.REFUSED == status)
        {
            endRound();
        }
        else
        {
            freshEpoch = nextEpoch(); // asked again then
        }
        return 1;
    }

    private void takeOver(final int index)
    {
        counters.adoptedChunks++;
        counters.adoptedBytes += scan.takeOver(index, engine, memoryNodeId);
    }

    /** Chunks without any record go back when nobody can hold a word of theirs. Made once: see the class. */
    private int pollReturning()
    {
        if (null == changing)
        {
            final List<ChunkRun> whole = runs(true);
            if (whole.isEmpty())
            {
                endRound();
                return 1;
            }
            if (engine.isReusable(waitEpoch))
            {
                counters.returnedChunks += whole.size();
                changing = client.returnChunks(whole, 0, timeoutNs);
                return 1;
            }
            return 0;
        }
        if (!changing.isDone())
        {
            return 0;
        }
        changing = null;
        endRound();
        return 1;
    }

    /** A look at the headers that began before now shows chunks as claimed that are not any more. */
    private void endRound()
    {
        step = Step.IDLE;
        freshEpoch = nextEpoch();
    }

    private long nextEpoch()
    {
        return engine.epoch() + 1;
    }

    private List<ChunkRun> runs(final boolean isUnnamed)
    {
        return chunks.stream()
            .filter((index) -> scan.isUnnamed(index) == isUnnamed)
            .mapToObj((index) -> new ChunkRun(watch.view().offset(index), 1))
            .toList();
    }
}
