package io.verbena.table;

import io.verbena.table.directory.Subtable;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A {@link MirroredRun} of a table whose subtables are split and merged all the time, as in {@link StepRun}: headers,
 * links and slots of all subtables are made equal when members are lost.
 */
final class GrowingMirrorRun extends EnteringRun
{
    private static final int SUBTABLES = 96;
    private static final int MAX_SPLIT_DEPTH = 9;
    private static final List<Long> HIGHS = CollidingKeys.highs(HASH_SEED, COLLIDING);

    private final GrowingMirrorShape shape;
    private final PublishedSubtables subtables;
    private String problem;
    long splits;
    long merges;
    long withdrawals;
    /** Words that were seen in the place of proposals that had been taken back. */
    long withdrawnWords;

    /** A compute node that splits and merges. */
    private final class GrowingNode extends Node
    {
        private long heard = 1;
        private long catalogSeen;
        private TableSplit split;
        private TableMerge merge;
        /** Of the split or merge under way; 0: none was given. */
        private final long[] memory = new long[2];
        private int suffix;
        private long undecidedEpoch;

        private GrowingNode(final int id)
        {
            super(id);
        }

        @Override
        void workBesides()
        {
            if (shape.leavesProposals && merge != null && merge.toString().contains("phase=DECIDE"))
            {
                breakConnection();
            }
            goOnGrowing();
        }

        @Override
        void onEpoch()
        {
            if (heard < epoch)
            {
                heard = epoch;
                refresh();
            }
        }

        private void refresh()
        {
            if (catalogSeen != subtables.version)
            {
                catalogSeen = subtables.version;
                table.refresh(subtables.descriptor());
            }
        }

        private void goOnGrowing()
        {
            if (split != null && split.isFinished())
            {
                endSplit();
            }
            else if (merge != null && merge.isFinished())
            {
                endMerge();
            }
            else if (split == null && merge == null && undecidedEpoch != 0 && engine.isReusable(undecidedEpoch))
            {
                undecidedEpoch = 0;
                beginMerge(false);
            }
            else if (split == null && merge == null && undecidedEpoch == 0 && !workload.isAllBegun() &&
                random.nextInt(shape.splitOneIn) == 0)
            {
                suffix = KeyHash.suffix(HIGHS.get(random.nextInt(shape.keys)), table.directory.depth());
                if (random.nextInt(shape.mergeOneIn) != 0)
                {
                    beginSplit(true);
                }
                else if (table.directory.depth(suffix) > 0)
                {
                    beginMerge(true);
                }
            }
        }

        private long deadlineNs()
        {
            return nowNs + (random.nextInt(4) == 0 ? random.nextInt(80_000) : LONG_NS);
        }

        private void beginSplit(final boolean isNew)
        {
            if (!isNew || subtables.free.size() >= 2 && table.directory.depth(suffix) < MAX_SPLIT_DEPTH)
            {
                memory[0] = isNew ? subtables.free.poll() : 0;
                memory[1] = isNew ? subtables.free.poll() : 0;
                split = engine.growth().begin(table, suffix, memory[0], memory[1], deadlineNs());
            }
        }

        private void beginMerge(final boolean isNew)
        {
            if (!isNew || !subtables.free.isEmpty())
            {
                memory[0] = isNew ? subtables.free.poll() : 0;
                memory[1] = 0;
                merge = engine.growth().beginMerge(table, suffix, memory[0], deadlineNs());
            }
        }

        private void endSplit()
        {
            giveBack(split.usesGivenMemory(), false);
            note(split.failure(), split);
            splits += split.state() == TableSplit.State.DONE && memory[0] != 0 ? 1 : 0;
            final boolean isMerged = split.isMerged();
            split = null;
            if (isMerged)
            {
                beginMerge(false);
            }
        }

        private void endMerge()
        {
            giveBack(merge.usesGivenMemory(), merge.isWithdrawn());
            note(merge.failure(), merge);
            merges += merge.state() == TableMerge.State.DONE && memory[0] != 0 ? 1 : 0;
            withdrawals += merge.isWithdrawn() ? 1 : 0;
            withdrawnWords += merge.isWithdrawn() ? subtables.countWithdrawn(GrowingMirrorRun.this::primaryWord) : 0;
            undecidedEpoch = merge.isUndecided() ? merge.undecidedEpoch() : 0;
            final boolean isNotWhole = merge.failure() != null && merge.failure().startsWith("it is not whole");
            merge = null;
            if (isNotWhole)
            {
                beginSplit(false);
            }
        }

        /** What was named for a while goes back by the epoch. */
        private void giveBack(final boolean isUsed, final boolean wasNamed)
        {
            for (final long offset : memory)
            {
                if (!isUsed && offset != 0 && wasNamed)
                {
                    subtables.retire(offset, epoch);
                }
                else if (!isUsed && offset != 0)
                {
                    subtables.free.add(offset);
                }
            }
        }

        @Override
        boolean isBusy()
        {
            return !isDead && (super.isBusy() || split != null || merge != null);
        }

        @Override
        public String toString()
        {
            return super.toString() + " " + split + " " + merge;
        }
    }

    GrowingMirrorRun(final long seed, final GrowingMirrorShape shape)
    {
        super(seed, shape);
        this.shape = shape;
        addMembers(CHUNKS_END + SUBTABLES * (int)plan.subtableBytes());
        subtables = new PublishedSubtables(plan, HASH_SEED, TABLE_AT, CHUNKS_END, SUBTABLES);
        for (int id = 1; id <= shape.engines; id++)
        {
            nodes.add(new GrowingNode(id));
        }
    }

    /** What must not happen to any split or merge. */
    private void note(final String failure, final Object work)
    {
        if (failure != null && (failure.contains("no room") || failure.contains("not initialised") ||
            failure.contains("another subtable") || failure.contains("nowhere") || failure.contains("damaged") ||
            failure.contains("no subtable")))
        {
            problem = problem == null ? work.toString() : problem;
        }
    }

    @Override
    void coordinateBesides()
    {
        if (!isEnding() && random.nextBoolean())
        {
            subtables.publish(this::primaryWord, epoch);
        }
        subtables.reuse(safeEpoch());
    }

    @Override
    BooleanSupplier reconciliation(final SlotReconciliation words)
    {
        final SubtableReconciliation all =
            new SubtableReconciliation(words, Subtable.of(subtables.descriptor()), 1);
        return all::goOn;
    }

    @Override
    TableDescriptor descriptor()
    {
        return subtables.descriptor();
    }

    @Override
    String problem()
    {
        return problem;
    }
}
