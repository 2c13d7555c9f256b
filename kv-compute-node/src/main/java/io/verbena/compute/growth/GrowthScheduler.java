package io.verbena.compute.growth;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.figures.GrowthFigures;
import io.verbena.compute.group.KnownLeases;
import io.verbena.compute.group.LinkedChunks;
import io.verbena.compute.growth.GrowthWork.Kind;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.message.TableEntry;
import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.growth.SubtableWork;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import java.util.List;

/**
 * Splits subtables that fill up, and merges siblings that have become nearly empty ({@link MergeWatch}), one at a time:
 * leases memory, lets the engine work, and hands what was made to {@link Publications}, by which the descriptor comes
 * to name it, and the old memory goes back when nobody can look there any more. Also ends what others began, if nobody
 * has after a while: whoever met it looks. Owned by the node's thread.
 */
public final class GrowthScheduler implements GrowthSource
{
    private static final Logger LOGGER = LoggerFactory.getLogger(GrowthScheduler.class);
    /** How long a split or merge that was met is left to who began it: 250 ms. */
    private static final long FINISH_AFTER_NS = 250_000_000;
    private static final long RETRY_PAUSE_NS = 5_000_000;
    private static final long WORK_TIMEOUT_NS = 10_000_000_000L;
    /** Between two warnings that something goes on later: 10 s. */
    private static final long SAY_PAUSE_NS = 10_000_000_000L;

    private enum Step
    {
        IDLE, LOOKING, LEASING, WORKING
    }

    private final LinkedChunks chunks;
    private final IndexLease lease;
    private final MemoryShortage shortage;
    private final Retirement retirement;
    private final Publications publications;
    private final GrowthAgenda agenda;
    private final FillEstimates fills = new FillEstimates();
    private SessionParts session;
    private TableRegistry tables;
    private MergeWatch watch;
    private boolean beginsSplits;
    private boolean beginsMerges;
    private Step step = Step.IDLE;
    private GrowthWork current;
    private long nowNs;
    private long saidAtNs = Long.MIN_VALUE / 2;
    private boolean hasLease;
    private KnownLeases known = KnownLeases.NONE;
    private TableSplit split;
    private TableMerge merge;
    private long splitCount;
    private long mergeCount;
    private GrowthFinish finishing;
    private int finishedCount;

    /**
     * @param chunks     of memory nodes; takes leased memory that is not used.
     * @param retirement takes subtables that no descriptor names any more.
     */
    public GrowthScheduler(final LinkedChunks chunks, final Retirement retirement)
    {
        this.chunks = chunks;
        lease = new IndexLease(chunks);
        shortage = new MemoryShortage(chunks::mayFindMemory);
        this.retirement = retirement;
        agenda = new GrowthAgenda(shortage);
        publications = new Publications(chunks, retirement, this::publishLater);
    }

    /**
     * @param isBeginning  whether it begins splits and merges; what has begun it finishes and publishes always.
     * @param probePauseNs between two probes for siblings to merge, when the one before has found nothing.
     */
    public void open(
        final SessionParts parts, final TableRegistry registry, final boolean isBeginning, final long probePauseNs)
    {
        session = parts;
        shortage.open(parts.engine());
        agenda.open(parts.engine(), registry);
        tables = registry;
        beginsSplits = isBeginning;
        beginsMerges = isBeginning;
        watch = new MergeWatch(probePauseNs);
        watch.open(registry, parts.identity().nodeId(), parts.raas().clock().nanoTime());
    }

    /** Begins no merges any more: the node leaves. */
    public void leave()
    {
        beginsMerges = false;
    }

    @Override
    public boolean requestSplit(final OpenTable table, final Subtable subtable)
    {
        if (!beginsSplits || !table.mayBeSplit(subtable, TableEntry.MAX_DESCRIPTOR_BYTES) || isDenied(subtable))
        {
            return false;
        }
        want(new GrowthWork(table, subtable, Kind.SPLIT, nowNs));
        return true;
    }

    @Override
    public void onSplitMet(final OpenTable table, final Subtable subtable)
    {
        if (!isAtWork(table, split) || !current.subtable().equals(subtable))
        {
            want(new GrowthWork(table, subtable, Kind.FINISH_SPLIT, nowNs + FINISH_AFTER_NS));
        }
    }

    @Override
    public void onMergeMet(final OpenTable table, final Subtable subtable)
    {
        if (!isAtWork(table, merge) || !current.subtable().isWithin(subtable))
        {
            want(new GrowthWork(table, subtable, Kind.FINISH_MERGE, nowNs + FINISH_AFTER_NS));
        }
    }

    /** What it only means to do may come to nothing, and what was found then is reported by nobody again. */
    private boolean isAtWork(final OpenTable table, final SubtableWork work)
    {
        return Step.WORKING == step && null != work && current.table() == table;
    }

    /** Ends all splits and merges of all tables that have begun, also of those that are not open. */
    public void finishAll()
    {
        finishing = new GrowthFinish(session, tables, this::finish, this::isBusy);
    }

    /** @return whether that is under way. */
    public boolean isFinishingAll()
    {
        return null != finishing && !finishing.isDone();
    }

    /** @return why a table could not be looked at last, one line for people; empty when none failed. */
    public String finishFailure()
    {
        return null == finishing ? "" : finishing.failure();
    }

    /** Ends all that has begun in a table, also where nothing meets it, and publishes what was made. */
    void finish(final OpenTable table)
    {
        table.subtables().forEach((subtable) -> agenda.add(GrowthWork.ofFinishing(table, subtable, nowNs)));
    }

    /** @return splits and merges that {@link #finish} found to have begun, or not to be published. */
    public int finishedCount()
    {
        return finishedCount;
    }

    private void want(final GrowthWork wanted)
    {
        if (!wanted.isSame(current))
        {
            agenda.add(wanted);
        }
    }

    /** @return merges that this node has brought to their ends. */
    long mergeCount()
    {
        return mergeCount;
    }

    /** @return whether something waits until nobody can decide a merge any more, or for memory to come back. */
    public boolean wantsEpochs()
    {
        return shortage.wantsEpochs() || agenda.waitsForEpochs();
    }

    /** @return splits that this node has brought to their ends. */
    long splitCount()
    {
        return splitCount;
    }

    /** @return what it has done, does and has to do, and how full it has seen the tables that are open. */
    public GrowthFigures figures()
    {
        final boolean isWorking = Step.WORKING == step;
        return new GrowthFigures(splitCount, mergeCount, isWorking && null != split ? 1 : 0,
            isWorking && null != merge ? 1 : 0, agenda.size(), publications.size(),
            null == tables ? List.of() : fills.of(tables.openTables()));
    }

    /** @return whether something is under way, or not known to others yet. */
    public boolean isBusy()
    {
        return Step.IDLE != step || agenda.isFinishing() || !publications.isEmpty();
    }

    /** @return when something is to begin, or {@link Long#MAX_VALUE}. */
    public long nextAtNs()
    {
        return Math.min(beginsMerges ? watch.nextAtNs() : Long.MAX_VALUE, agenda.nextAtNs());
    }

    /**
     * Goes on.
     *
     * @param atNs time now, by the clock of the device.
     * @return work done.
     */
    public int poll(final long atNs)
    {
        nowNs = atNs;
        if (null != finishing)
        {
            finishing.poll(nowNs);
        }
        if (Step.IDLE == step && agenda.isEmpty() && publications.isEmpty() &&
            (!beginsMerges || watch.nextAtNs() - nowNs > 0))
        {
            return 0;
        }
        return publications.poll(nowNs) + switch (step)
        {
            case IDLE -> publications.isFull() ? 0 : pollIdle();
            case LOOKING -> pollLooking();
            case LEASING -> pollLeasing();
            case WORKING -> pollWorking();
        };
    }

    private int pollIdle()
    {
        final GrowthWork next = agenda.next(nowNs);
        if (null != next)
        {
            begin(next);
            return 1;
        }
        if (beginsMerges && watch.begin(session.engine(), nowNs))
        {
            step = Step.LOOKING;
            return 1;
        }
        return 0;
    }

    private int pollLooking()
    {
        if (!watch.isDone())
        {
            return 0;
        }
        step = Step.IDLE;
        watch.note(fills);
        final MergeWatch.Pair found = watch.found();
        if (null != found && !isDenied(found.first()))
        {
            want(new GrowthWork(found.table(), found.first(), Kind.MERGE, nowNs));
        }
        if (null != watch.left())
        {
            want(new GrowthWork(watch.left().table(), watch.left().first(), Kind.SETTLE, nowNs + FINISH_AFTER_NS));
        }
        return 1;
    }

    private boolean isDenied(final Subtable subtable)
    {
        return shortage.isDenied(subtable.memoryNodeId(), nowNs);
    }

    private void begin(final GrowthWork wanted)
    {
        current = wanted;
        known = KnownLeases.NONE;
        if (0 == wanted.chunks())
        {
            beginWork(List.of(0L, 0L));
        }
        else
        {
            lease.begin(session, wanted.table().descriptor().name(), wanted.subtable().memoryNodeId(), wanted.chunks());
            step = Step.LEASING;
        }
    }

    private int pollLeasing()
    {
        final int workCount = lease.poll(nowNs);
        switch (lease.outcome())
        {
            case RUNNING ->
            {
                return workCount;
            }
            case LEASED -> onLeased();
            case REFUSED -> onRefused();
            case AWAY -> end();
        }
        return 1;
    }

    /** Again when there may be memory; dropped where splits are denied then. */
    private void onRefused()
    {
        final GrowthWork refused = current;
        shortage.onRefused(refused.subtable().memoryNodeId(), nowNs);
        end();
        want(refused.at(nowNs + RETRY_PAUSE_NS));
    }

    private void onLeased()
    {
        final List<Long> offsets = lease.offsets();
        shortage.onLeased(current.subtable().memoryNodeId());
        if (offsets.size() < current.chunks() || !agenda.isKnown(current) || !current.isStillWanted())
        {
            lease.giveBack();
            end();
        }
        else
        {
            hasLease = true;
            known = lease.known();
            beginWork(offsets);
        }
    }

    /** In the poll that has found the table known: the work holds the epoch of now. */
    private void beginWork(final List<Long> offsets)
    {
        final int suffix = current.subtable().suffix();
        final long deadlineNs = nowNs + WORK_TIMEOUT_NS;
        split = null;
        merge = null;
        switch (current.kind())
        {
            case SPLIT, FINISH_SPLIT -> split = session.engine().growth()
                .begin(current.table(), suffix, offsets.get(0), offsets.get(1), deadlineNs);
            case MERGE, FINISH_MERGE, SETTLE, SETTLE_OWN -> merge = session.engine().growth()
                .beginMerge(current.table(), suffix, offsets.getFirst(), deadlineNs);
        }
        step = Step.WORKING;
    }

    private int pollWorking()
    {
        final SubtableWork work = null != split ? split : merge;
        if (!work.isFinished())
        {
            return 0;
        }
        if (hasLease && !work.usesGivenMemory())
        {
            giveBack();
        }
        if (null != split)
        {
            onSplitEnded();
        }
        else
        {
            onMergeEnded();
        }
        return 1;
    }

    /** Nobody has seen it; but of a merge that was proposed, and taken back, somebody may be about to look there. */
    private void giveBack()
    {
        if (null != merge && merge.isWithdrawn())
        {
            final int memoryNodeId = current.subtable().memoryNodeId();
            retirement.retire(current.table().descriptor().name(),
                List.of(new Subtable(memoryNodeId, 0, 0, lease.offsets().getFirst())), known);
        }
        else
        {
            lease.giveBack();
        }
        hasLease = false;
    }

    private void onSplitEnded()
    {
        if (TableSplit.State.DONE == split.state())
        {
            onSplit();
        }
        else if (split.isMerged())
        {
            // To be finished before it is split: who wants the split asks again.
            later(Kind.SETTLE, nowNs);
        }
        else
        {
            sweepWhen(split.usesGivenMemory());
            // Nobody reports again what somebody else had begun, and this went on with.
            goOnLater(split.failure(), Kind.SPLIT == current.kind() && current.isStillWanted() &&
                !split.usesGivenMemory() ? Kind.SPLIT : Kind.FINISH_SPLIT);
        }
    }

    /** The link may not have arrived. */
    private void sweepWhen(final boolean isUnused)
    {
        if (isUnused)
        {
            chunks.sweepIndexes(current.subtable().memoryNodeId());
        }
    }

    private void goOnLater(final String why, final Kind kind)
    {
        // All that waits for the same memory node fails each time that it is tried.
        final boolean isSaid = nowNs - saidAtNs < SAY_PAUSE_NS;
        LOGGER.atLevel(isSaid ? Level.DEBUG : Level.WARN).log("{} of {} of table {} goes on later: {}",
            current.kind(), current.subtable(), current.table().descriptor().name(), why);
        saidAtNs = isSaid ? saidAtNs : nowNs;
        later(kind, nowNs + FINISH_AFTER_NS);
    }

    private void later(final Kind kind, final long notBeforeNs)
    {
        final boolean isOfSplit = Kind.SPLIT == kind || Kind.FINISH_SPLIT == kind;
        later(current.then(kind, isOfSplit ? current.subtable() : current.present(), notBeforeNs));
    }

    private void later(final GrowthWork wanted)
    {
        end();
        agenda.add(wanted);
    }

    private void onSplit()
    {
        final OpenTable table = current.table();
        final Subtable old = current.subtable();
        final Subtable present = current.present();
        if (current.isOfFinishing() && present.depth() == old.depth())
        {
            end(); // no split of it has begun
            return;
        }
        if (current.isOfFinishing())
        {
            finishedCount++;
            agenda.add(GrowthWork.ofFinishing(table, present, nowNs));
            agenda.add(GrowthWork.ofFinishing(table, table.subtable(present.suffix() | 1 << old.depth()), nowNs));
        }
        splitCount++;
        publish((published) -> TableGrowth.ofSplit(published, table, old));
    }

    private void onMergeEnded()
    {
        // By then it is not proposed any more, whoever has taken that back, or in use.
        sweepWhen(current.isOfOwnMemory() && !merge.isUndecided());
        if (TableMerge.State.DONE == merge.state())
        {
            onMerged();
        }
        else if (merge.isUndecided())
        {
            later(current.settleAfter(merge.undecidedEpoch(), nowNs + FINISH_AFTER_NS));
        }
        else if (merge.isWithdrawn())
        {
            onWithdrawn();
        }
        else if (Kind.MERGE == current.kind() && !merge.usesGivenMemory() && !current.isMergeLearned())
        {
            watch.onFull(current.table(), current.subtable(), nowNs);
            end();
        }
        else
        {
            goOnLater(merge.failure(), current.restOfMerge(merge.usesGivenMemory()));
        }
    }

    /** What somebody else has proposed to make is named by nothing now. */
    private void onWithdrawn()
    {
        chunks.sweepIndexes(current.subtable().memoryNodeId());
        if (current.isOfFinishing())
        {
            finishedCount++;
            later(Kind.FINISH_SPLIT, nowNs);
        }
        else
        {
            end();
        }
    }

    private void onMerged()
    {
        final Subtable made = null == merge.merged() && Kind.FINISH_MERGE == current.kind() ?
            current.subtable() : merge.merged();
        if (null == made)
        {
            end(); // nothing has begun
            return;
        }
        if (current.isOfFinishing())
        {
            finishedCount++;
            agenda.add(GrowthWork.ofFinishing(current.table(), made, nowNs));
        }
        mergeCount++;
        watch.hurry(nowNs);
        final OpenTable table = current.table();
        publish((published) -> TableGrowth.to(published, table, made));
    }

    /** Beside what comes next: others can follow the links that stand. */
    private void publish(final GrowthPublisher.Growth growth)
    {
        publications.add(session, current, hasLease ? lease.offsets() : List.of(), known, growth);
        end();
    }

    private void publishLater(final GrowthWork rest)
    {
        agenda.add(rest.at(nowNs + FINISH_AFTER_NS));
    }

    private void end()
    {
        lease.end();
        current = null;
        hasLease = false;
        step = Step.IDLE;
    }
}
