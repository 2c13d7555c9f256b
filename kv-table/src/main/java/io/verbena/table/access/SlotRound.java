package io.verbena.table.access;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.format.SlotWord;

/**
 * Stages whatever changes a slot, a bucket header or a link: nothing else in this module swaps words. The word that
 * counts in a slot names a round, and whoever changes it proposes the next one on it. A tentative word of an insert
 * decides nothing: it is claimed, withdrawn or killed in a round that goes on. A table with one copy has one member,
 * which decides and commits with one compare-and-swap.
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
        port.compareSwap(local, resultAt, slotOffset, empty, tentative);
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
        port.compareSwap(local, resultAt, slotOffset, tentative, empty);
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
        port.compareSwap(local, resultAt, slotOffset, tentative, emptied);
    }

    /**
     * Proposes a word on the one that counts.
     *
     * @param expected what counts, or the own tentative word that stands on it.
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
