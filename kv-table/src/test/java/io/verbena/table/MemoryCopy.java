package io.verbena.table;

import io.verbena.table.mirror.SlotReconciliation;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** The memory of a member of a mirror group, as its own memory node sees it. */
record MemoryCopy(MutableDirectBuffer memory) implements SlotReconciliation.Copy
{
    @Override
    public void read(final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        target.putBytes(0, memory, (int)offset, lengthBytes);
    }

    @Override
    public void write(final long offset, final MutableDirectBuffer source, final int lengthBytes)
    {
        memory.putBytes((int)offset, source, 0, lengthBytes);
    }

    @Override
    public long word(final long offset)
    {
        return memory.getLong((int)offset, LITTLE_ENDIAN);
    }

    @Override
    public void word(final long offset, final long word)
    {
        memory.putLong((int)offset, word, LITTLE_ENDIAN);
    }
}
