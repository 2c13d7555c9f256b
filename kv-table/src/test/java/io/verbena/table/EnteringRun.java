package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A {@link MirroredRun} in which memory nodes may come in, as decision 0024 says: words and their blocks are copied
 * beside the work, then the view ends, and what differs is copied again. Each has a number of its own.
 */
abstract class EnteringRun extends MirroredRun
{
    private final MirrorShape shape;
    private int lastNumber;
    private MemoryCopy entering;
    private BooleanSupplier copying;
    private int entries;

    EnteringRun(final long seed, final MirrorShape shape, final Flaw... flaws)
    {
        super(seed, shape, flaws);
        this.shape = shape;
        lastNumber = shape.copies;
    }

    /** @return where a slot of the one group is. */
    static long slotAt(final int slot)
    {
        return TABLE_AT + SubtableDescriptor.GROUPS_OFFSET +
            (long)slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
            BucketDescriptor.SLOTS_OFFSET +
            (long)slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }

    /** @return where the last slot of the one group is that has a committed word; 0: none has. */
    static int slotOf(final UnsafeBuffer memory)
    {
        int found = 0;
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int at = (int)slotAt(slot);
            found = SlotWord.isCommitted(memory.getLong(at, LITTLE_ENDIAN)) ? at : found;
        }
        return found;
    }

    /** Writes what stands in the memory of a node before anything is copied there. */
    void prepareEntering(final UnsafeBuffer memory)
    {
    }

    /** @return memory nodes that came in. */
    final int entries()
    {
        return entries;
    }

    @Override
    final void stepBesides()
    {
        if (shape.enterOneIn == 0)
        {
            return;
        }
        if (copying != null && random.nextInt(4) == 0)
        {
            copy();
        }
        else if (entering == null && !isEnding() && !workload.isAllBegun() &&
            members.size() < MirrorPort.MOST_MEMBERS && random.nextInt(shape.enterOneIn) == 0)
        {
            enter();
        }
    }

    private void enter()
    {
        final int primary = members.getLast();
        final UnsafeBuffer memory = fabric.addMemory(++lastNumber, fabric.memory(primary).capacity());
        prepareEntering(memory);
        entering = new MemoryCopy(memory);
        copying = reconciliation(new SlotReconciliation(
            List.of(entering, new MemoryCopy(fabric.memory(primary))), new boolean[]{true, true}));
    }

    /** The view ends when all is copied, or before. */
    private void copy()
    {
        if (isEnding())
        {
            copying = null;
        }
        else if (!copying.getAsBoolean() || random.nextInt(200) == 0)
        {
            copying = null;
            beginEnding();
        }
    }

    @Override
    final List<SlotReconciliation.Copy> entering()
    {
        return entering == null ? List.of() : List.of(entering);
    }

    /** Behind the heads, before the primary. */
    @Override
    final void onNextView(final List<Integer> next)
    {
        if (entering != null)
        {
            next.add(next.size() - 1, lastNumber);
            entering = null;
            copying = null;
            entries++;
        }
    }
}
