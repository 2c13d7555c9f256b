package io.verbena.table.access;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.format.SlotWord;

/**
 * Stages whatever changes a slot, a bucket header or a link: nothing else in this module swaps words. The word that
 * counts in a slot names a round, and whoever changes it proposes the next one on it. A tentative word of an insert
 * decides nothing: it is claimed, withdrawn or killed in a round that goes on. A table with one copy has one member,
 * which decides and commits with one compare-and-swap; with several copies the port is a {@link MirroredPort}, to which
 * a compare-and-swap is a round, and which asks here for those of its members.
 *
 * <p>The word that a request finds lands in the local memory, and says whether it took effect. Stateless.
 */
public final class SlotRound
{
    private SlotRound()
    {
    }

    /** Puts the tentative word of an insert on the word of an empty slot. */
    public static void claim(
        final OneSidedPort port,
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long empty,
        final long tentative)
    {
        assert SlotWord.isEmpty(empty) : SlotWord.toString(empty);
        if (port instanceof final MirroredPort mirrored)
        {
            mirrored.claim(local, resultAt, slotOffset, empty, tentative);
        }
        else
        {
            port.compareSwap(local, resultAt, slotOffset, empty, tentative);
        }
    }

    /** Takes the own tentative word back: what it was put on stands there again, as if nothing had been. */
    public static void withdraw(
        final OneSidedPort port,
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long tentative,
        final long empty)
    {
        assert SlotWord.isEmpty(empty) : SlotWord.toString(empty);
        if (port instanceof final MirroredPort mirrored)
        {
            mirrored.withdraw(local, resultAt, slotOffset, tentative, empty);
        }
        else
        {
            port.compareSwap(local, resultAt, slotOffset, tentative, empty);
        }
    }

    /**
     * Takes somebody's tentative word away, or the mark of a delete.
     *
     * @param emptied never used before: a request that expects what was in the slot finds it never again.
     */
    public static void kill(
        final OneSidedPort port,
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long tentative,
        final long emptied)
    {
        assert SlotWord.isTentative(tentative) : SlotWord.toString(tentative);
        assert SlotWord.isEmpty(emptied) && SlotWord.EMPTY != emptied : SlotWord.toString(emptied);
        if (port instanceof final MirroredPort mirrored)
        {
            mirrored.kill(local, resultAt, slotOffset, tentative, emptied);
        }
        else
        {
            port.compareSwap(local, resultAt, slotOffset, tentative, emptied);
        }
    }

    /**
     * Makes the own tentative word the word that counts.
     *
     * @param empty what the tentative word was put on.
     */
    public static void commit(
        final OneSidedPort port,
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long empty,
        final long tentative,
        final long committed)
    {
        if (port instanceof final MirroredPort mirrored)
        {
            mirrored.commit(local, resultAt, slotOffset, empty, tentative, committed);
        }
        else
        {
            port.compareSwap(local, resultAt, slotOffset, tentative, committed);
        }
    }

    /**
     * Proposes the word of a bucket header, a link or a predecessor on the one that counts: as {@link #propose}, but no
     * bits of it say that it is a claim or names a block. Slots staged behind it in a batch are changed when it is
     * committed; several links of a batch have no order.
     */
    public static void proposeLink(
        final OneSidedPort port,
        final MemoryRegion local,
        final long resultAt,
        final long offset,
        final long expected,
        final long proposed)
    {
        if (port instanceof final MirroredPort mirrored)
        {
            mirrored.proposeLink(local, resultAt, offset, expected, proposed);
        }
        else
        {
            port.compareSwap(local, resultAt, offset, expected, proposed);
        }
    }

    /** As {@link #settle}, of the word of a bucket header, a link or a predecessor. */
    public static void settleLink(
        final OneSidedPort port, final MemoryRegion local, final long resultAt, final long offset)
    {
        if (port instanceof final MirroredPort mirrored)
        {
            mirrored.settleLink(local, resultAt, offset);
        }
        else
        {
            port.read(local, resultAt, Long.BYTES, offset);
        }
    }

    /** Reads the word that counts in a slot, behind whatever was decided before and is not committed. */
    public static void settle(
        final OneSidedPort port, final MemoryRegion local, final long resultAt, final long slotOffset)
    {
        if (port instanceof final MirroredPort mirrored)
        {
            mirrored.settle(local, resultAt, slotOffset);
        }
        else
        {
            port.read(local, resultAt, Long.BYTES, slotOffset);
        }
    }

    /**
     * Proposes a word on the one that counts.
     *
     * @param expected what was seen to count.
     */
    public static void propose(
        final OneSidedPort port,
        final MemoryRegion local,
        final long resultAt,
        final long slotOffset,
        final long expected,
        final long proposed)
    {
        port.compareSwap(local, resultAt, slotOffset, expected, proposed);
    }
}
