package io.verbena.table.check;

import io.verbena.table.mirror.SlotReconciliation;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** A copy of a group's memory in a stopped store. Used by one thread. */
final class OfflineCopy implements SlotReconciliation.Copy
{
    private final RepairableStore store;
    private final int memoryNodeId;
    private final int copy;
    private final UnsafeBuffer word = new UnsafeBuffer(ByteBuffer.allocateDirect(Long.BYTES));

    OfflineCopy(final RepairableStore store, final int memoryNodeId, final int copy)
    {
        this.store = store;
        this.memoryNodeId = memoryNodeId;
        this.copy = copy;
    }

    @Override
    public void read(final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        store.readCopy(memoryNodeId, copy, offset, target, lengthBytes);
    }

    @Override
    public void write(final long offset, final MutableDirectBuffer source, final int lengthBytes)
    {
        store.writeCopy(memoryNodeId, copy, offset, source, lengthBytes);
    }

    @Override
    public long word(final long offset)
    {
        store.readCopy(memoryNodeId, copy, offset, word, Long.BYTES);
        return word.getLong(0, LITTLE_ENDIAN);
    }

    @Override
    public void word(final long offset, final long desired)
    {
        store.swapCopy(memoryNodeId, copy, offset, word(offset), desired);
    }
}
