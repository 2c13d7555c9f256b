package io.verbena.meta.membership;

import io.verbena.meta.store.MetaBatch;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.MutableLong;

import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The global epoch and who has passed it. A compute node <em>passes</em> epoch p when every operation that it began
 * before it heard of p + 1 has ended. One thread.
 *
 * <p>Rules, on which the quarantine of retired blocks stands:
 * <ol>
 * <li>The epoch grows by one, and only when every counted node has passed the previous one. So a counted node knows the
 * present epoch or the one before, never an older one.</li>
 * <li>It grows at once when somebody {@linkplain #want waits for it}, else after the idle interval: an epoch makes the
 * nodes forget what they cached, so it is not spent for nothing.</li>
 * <li>The safe epoch is the smallest one passed by a counted node. It never goes back.</li>
 * <li>A node counts from its registration until {@link #release}, which is for its owner to call only when the node can
 * change nothing any more that anybody relies on. A silent node therefore stops the epoch instead of being
 * overlooked.</li>
 * <li>After a restart the epoch begins above every epoch ever announced. Nodes that knew the old ones then lag by more
 * than rule 1 allows, so nothing new is safe until all have passed two epochs of the new series
 * ({@link #RESTART_BARRIER_EPOCHS}); until then the safe epoch is 0.</li>
 * </ol>
 */
public final class EpochKeeper
{
    /** How many epochs all nodes have to pass after a restart before a safe epoch is published again. */
    static final long RESTART_BARRIER_EPOCHS = 2;
    /** One durable write reserves so many epochs. */
    static final long RESERVED_EPOCHS = 4096;

    private final MetaLedger ledger;
    private final long intervalNs;
    private final long idleIntervalNs;
    private final long barrierEpoch;
    private final Int2ObjectHashMap<MutableLong> passedByNodeId = new Int2ObjectHashMap<>();
    private long epoch;
    private long advancedAtNs;
    private boolean barrierPassed;
    private boolean wanted;
    /** The newest epoch that began because somebody waited for it. */
    private long wantedEpoch;

    /**
     * @param ledger     where ceilings are reserved.
     * @param isRestart  whether epochs were announced from this ledger before.
     * @param intervalNs least time between two epochs.
     * @param idleIntervalNs least time between two epochs that nobody waits for.
     * @param nowNs      the clock now.
     */
    public EpochKeeper(
        final MetaLedger ledger,
        final boolean isRestart,
        final long intervalNs,
        final long idleIntervalNs,
        final long nowNs)
    {
        this.ledger = ledger;
        this.intervalNs = intervalNs;
        this.idleIntervalNs = idleIntervalNs;
        this.advancedAtNs = nowNs;
        this.epoch = ledger.counters().epochCeiling();
        this.barrierEpoch = isRestart ? epoch + RESTART_BARRIER_EPOCHS : 0;
        this.barrierPassed = !isRestart;
        reserveBeyond(epoch);
    }

    /** @return the epoch now; 1 or more. */
    public long epoch()
    {
        return epoch;
    }

    /** @return the largest epoch that every counted node has passed; 0 while that is not known after a restart. */
    public long safeEpoch()
    {
        return barrierPassed ? leastPassed() : 0;
    }

    /**
     * Counts a node that just registered: it has begun nothing yet.
     *
     * @param nodeId not counted so far.
     */
    public void join(final int nodeId)
    {
        passedByNodeId.put(nodeId, new MutableLong(epoch - 1));
    }

    /**
     * Counts a node that was registered before this server started: nothing is known of what it passed.
     *
     * @param nodeId not counted so far.
     */
    public void restore(final int nodeId)
    {
        passedByNodeId.put(nodeId, new MutableLong(0));
    }

    /**
     * Takes a node's word for what it passed; a smaller one than before is an old message and changes nothing.
     *
     * @param nodeId      counted.
     * @param passedEpoch what it says.
     * @return false when the node claims an epoch that nobody can have passed yet, or is not counted.
     */
    public boolean onPassed(final int nodeId, final long passedEpoch)
    {
        final MutableLong passed = passedByNodeId.get(nodeId);
        if (null == passed || passedEpoch >= epoch)
        {
            return false;
        }

        passed.set(Math.max(passed.get(), passedEpoch));
        noteBarrier();
        return true;
    }

    /** @return the epoch that each counted node has passed, by its id, in the order of the ids. A copy. */
    public SortedMap<Integer, Long> passedEpochs()
    {
        final SortedMap<Integer, Long> passed = new TreeMap<>();
        passedByNodeId.forEach((nodeId, passedEpoch) -> passed.put(nodeId, passedEpoch.get()));
        return passed;
    }

    /**
     * Stops counting a node that can change nothing any more.
     *
     * @param nodeId counted or not.
     */
    public void release(final int nodeId)
    {
        passedByNodeId.remove(nodeId);
        noteBarrier();
    }

    /** Somebody waits for the next epoch: it comes after the short interval. */
    public void want()
    {
        wanted = true;
    }

    /** @return whether somebody waits for the next epoch. */
    public boolean isWanted()
    {
        return wanted;
    }

    /**
     * Says whether somebody waits for a node that may rest: for what it has passed, or that it hears of an epoch.
     *
     * @param nodeId     of a compute node.
     * @param knownEpoch the newest that it has heard of.
     * @return whether it should say at once what it passed, and hear of the present epoch.
     */
    public boolean isWaitedFor(final int nodeId, final long knownEpoch)
    {
        final MutableLong passed = passedByNodeId.get(nodeId);
        return knownEpoch < wantedEpoch || wanted && null != passed && passed.get() < epoch - 1;
    }

    /**
     * Begins the next epoch if it is time and all nodes have passed the previous one.
     *
     * @param nowNs the clock now.
     * @return whether the epoch changed.
     */
    public boolean advance(final long nowNs)
    {
        if (nowNs - advancedAtNs < (wanted ? intervalNs : idleIntervalNs) || leastPassed() < epoch - 1)
        {
            return false;
        }

        reserveBeyond(epoch + 1);
        epoch++;
        wantedEpoch = wanted ? epoch : wantedEpoch;
        wanted = false;
        advancedAtNs = nowNs;
        noteBarrier();
        return true;
    }

    /**
     * @param nowNs the clock now.
     * @return how long no epoch can begin, if no node is heard of; less than 0 when one is due.
     */
    public long idleNs(final long nowNs)
    {
        return leastPassed() < epoch - 1 ?
            Long.MAX_VALUE : advancedAtNs + (wanted ? intervalNs : idleIntervalNs) - nowNs;
    }

    /** @return how many nodes count. */
    public int nodeCount()
    {
        return passedByNodeId.size();
    }

    private long leastPassed()
    {
        long least = epoch - 1;

        for (final MutableLong passed : passedByNodeId.values())
        {
            least = Math.min(least, passed.get());
        }

        return least;
    }

    private void noteBarrier()
    {
        if (!barrierPassed && leastPassed() >= barrierEpoch)
        {
            barrierPassed = true;
        }
    }

    /** Every announced epoch must be below the durable ceiling, else a restart could announce it again. */
    private void reserveBeyond(final long announcedEpoch)
    {
        if (announcedEpoch >= ledger.counters().epochCeiling())
        {
            ledger.commit(ledger.counters().withEpochCeiling(announcedEpoch + RESERVED_EPOCHS), new MetaBatch());
        }
    }
}
