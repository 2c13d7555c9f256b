package io.verbena.table.check;

import io.verbena.table.format.TableDescriptor;
import java.util.List;
import org.agrona.MutableDirectBuffer;

/**
 * A store as a check sees it: its memory, its tables, and whether others change them meanwhile. Used by one thread.
 */
public interface CheckedStore extends RegionReader
{
    /** @return all tables there are at an instant within the call. */
    List<TableDescriptor> tables();

    /**
     * Of a group of memory nodes, which tables name by one id, there are several; {@link #read} reads the last one, the
     * primary.
     *
     * @param memoryNodeId of the node, or that tables name the group by.
     * @return copies of its memory.
     */
    default int copyCount(final int memoryNodeId)
    {
        return 1;
    }

    /** @return whether an id is that of a group, of which one member may be left. */
    default boolean isOfGroup(final int memoryNodeId)
    {
        return copyCount(memoryNodeId) > 1;
    }

    /** @return ids by which tables name groups of memory nodes; a check looks at those too. */
    default List<Integer> groupIds()
    {
        return List.of();
    }

    /**
     * Chunks of a memory node that a group has leased belong to the group, and are checked there.
     *
     * @param memoryNodeId of the node, or that tables name the group by.
     * @param group        in the header of a chunk; 0 for none.
     * @return whether the chunk is checked with what the id names.
     */
    default boolean hasChunksOf(final int memoryNodeId, final int group)
    {
        return true;
    }

    /**
     * Reads bytes of one copy, as {@link #read}.
     *
     * @param copy 0, the head, to less than {@link #copyCount}.
     */
    default void readCopy(
        final int memoryNodeId, final int copy, final long offset, final MutableDirectBuffer target,
        final int lengthBytes)
    {
        read(memoryNodeId, offset, target, lengthBytes);
    }

    /** @return whether others may change memory and tables while it is read. */
    boolean isLive();

    /**
     * From here on until {@link #release} nothing that a word names is used for something else, and no table's memory
     * is given away: what was read before the call may be out of date, what is read after it belongs together. In a
     * live store it delays the epoch, so it must be short.
     */
    void hold();

    /**
     * Asked between two READs while it holds.
     *
     * @return false when others may soon wait for what is held: release, and begin anew or give up.
     */
    default boolean mayHoldOn()
    {
        return true;
    }

    /** Ends {@link #hold()}. */
    void release();

    /**
     * Waits until everything that others had begun before the call has ended.
     *
     * @return false when that did not happen in time.
     */
    boolean awaitOthers();

    /** Keeps this store's part in its cluster: to be called again and again while its thread waits for something. */
    default void keepLease()
    {
    }

    /**
     * A store that nobody changes.
     *
     * @param reader of its memory.
     * @param tables all there are.
     * @return the store.
     */
    static CheckedStore atRest(final RegionReader reader, final List<TableDescriptor> tables)
    {
        return new OfflineStore(reader, List.copyOf(tables));
    }
}
