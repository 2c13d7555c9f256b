package io.verbena.table.check;

import io.verbena.table.format.TableDescriptor;
import java.util.List;
import org.agrona.MutableDirectBuffer;

/**
 * A store that nobody changes while it is checked.
 *
 * @param reader of its memory.
 * @param tables all there are.
 */
record OfflineStore(RegionReader reader, List<TableDescriptor> tables) implements UnchangedStore
{
    @Override
    public void read(
        final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        reader.read(memoryNodeId, offset, target, lengthBytes);
    }
}
