package io.verbena.table.check;

import io.verbena.table.format.SlotWord;

/**
 * A copy of a table in a group of memory nodes that is not what the primary is.
 *
 * @param memoryNodeId by which the table names the group.
 * @param copy         that differs: 0 is the head.
 * @param copies       of the group; the last one is the primary.
 * @param table        name.
 * @param suffix       of the subtable.
 * @param kind         of what differs.
 * @param offset       in the region: of the word; of a block its first byte.
 * @param word         found there; of a block the word that names it.
 * @param atPrimary    what the primary has in that place.
 * @param isLeft       whether a round explains it that somebody began and nobody finished: harmless, and gone when the
 *                     word is written next. Else the copy is damaged, or was not written.
 */
public record CopyDifference(
    int memoryNodeId, int copy, int copies, String table, int suffix, Kind kind, long offset, long word,
    long atPrimary, boolean isLeft)
{
    /** What can differ. */
    public enum Kind
    {
        /** What never changes in the header line of a subtable. */
        HEADER("header line"),
        /** The link in a header line. */
        LINK("link"),
        /** The predecessor in a header line. */
        PREDECESSOR("predecessor"),
        /** The header of a bucket. */
        BUCKET("bucket header"),
        /** A slot. */
        SLOT("slot"),
        /** The block of a record, which is damaged or was rewritten. */
        BLOCK("block");

        private final String text;

        Kind(final String text)
        {
            this.text = text;
        }
    }

    @Override
    public String toString()
    {
        final String where = String.format("copy %d of %d of group %d: %s at 0x%x of subtable %d of table %s",
            copy + 1, copies, memoryNodeId, kind.text, offset, suffix, table);
        if (kind == Kind.BLOCK)
        {
            return where + ", named by " + SlotWord.toString(word) + ", is damaged or was rewritten";
        }
        return where + String.format(" is %016x, at the primary %016x: ", word, atPrimary) +
            (isLeft ? "a change that nobody finished; the next write to it does" : "damaged, or it was not written");
    }
}
