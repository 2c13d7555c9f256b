package io.verbena.load.bench;

import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableSplit;
import java.util.ArrayDeque;

/**
 * Splits the subtables of one table that fill up, one at a time, with the engine that fills them, as a compute node
 * does: leases memory, splits, makes the descriptor known, and uses the old memory again when its epoch has passed.
 * Stepped by the calling thread, between the engine's polls.
 */
final class RigSplits implements GrowthSource
{
    /** Of the message in which a meta server takes a descriptor. */
    private static final int MOST_DESCRIPTOR_BYTES = 3_584;
    private static final long TIMEOUT_NS = 20_000_000_000L;

    /** Memory of a subtable that was split, and the epoch in which nobody was sent there any more. */
    private record Retired(long offset, long epoch)
    {
    }

    private final ArrayDeque<Subtable> wanted = new ArrayDeque<>();
    private final ArrayDeque<Retired> retired = new ArrayDeque<>();
    private EngineRig rig;
    private OpenTable table;
    private TableDescriptor published;
    private Subtable current;
    private TableSplit split;
    private long splits;
    private long verbs;
    private long payloadBytes;
    private long movedRecords;

    /** Begins to do what the engine asks for. */
    void serve(final EngineRig onRig, final OpenTable ofTable)
    {
        rig = onRig;
        table = ofTable;
        published = ofTable.descriptor();
    }

    @Override
    public boolean requestSplit(final OpenTable ofTable, final Subtable subtable)
    {
        if (!ofTable.mayBeSplit(subtable, MOST_DESCRIPTOR_BYTES))
        {
            return false;
        }
        if (!subtable.equals(current) && !wanted.contains(subtable))
        {
            wanted.add(subtable);
        }
        return true;
    }

    @Override
    public void onSplitMet(final OpenTable ofTable, final Subtable subtable)
    {
        // Nobody else splits here.
    }

    /** @return whether a subtable is split now. */
    boolean isBusy()
    {
        return split != null;
    }

    void poll()
    {
        if (split != null)
        {
            if (split.isFinished())
            {
                end();
            }
        }
        else if (!wanted.isEmpty())
        {
            begin(wanted.poll());
        }
    }

    private void begin(final Subtable subtable)
    {
        if (table.subtable(subtable.suffix()).equals(subtable))
        {
            current = subtable;
            split = rig.engine().growth().begin(
                table, subtable.suffix(), takeChunk(), takeChunk(), rig.nowNs() + TIMEOUT_NS);
        }
    }

    private long takeChunk()
    {
        return retired.isEmpty() || !rig.engine().isReusable(retired.peek().epoch) ?
            rig.takeChunk() : retired.poll().offset;
    }

    private void end()
    {
        if (split.state() != TableSplit.State.DONE)
        {
            throw new IllegalStateException("a subtable was not split: " + split);
        }
        splits++;
        verbs += split.verbs();
        payloadBytes += split.payloadBytes();
        movedRecords += split.movedRecords();
        final TableGrowth growth = TableGrowth.ofSplit(published, table, current);
        published = TableDescriptor.decode(growth.descriptor().encode());
        table.refresh(published);
        growth.replaced().forEach(replaced -> retired.add(new Retired(replaced.offset(), rig.engine().epoch())));
        current = null;
        split = null;
    }

    long splits()
    {
        return splits;
    }

    /** @return requests of all splits. */
    long verbs()
    {
        return verbs;
    }

    /** @return bytes that all splits read, wrote and swapped. */
    long payloadBytes()
    {
        return payloadBytes;
    }

    long movedRecords()
    {
        return movedRecords;
    }

    /** @return the descriptor that a meta server would have now. */
    TableDescriptor published()
    {
        return published;
    }
}
