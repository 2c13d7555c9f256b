package io.verbena.table.directory;

/**
 * Who splits subtables that fill up: leases memory, calls {@code EngineGrowth.begin}, makes the new subtables known.
 * Called on the owner thread of the engine, from within operations: takes note, and does nothing at once.
 */
public interface GrowthSource
{
    /** Splits nothing: tables keep the subtables that they have. */
    GrowthSource NONE = new GrowthSource()
    {
        @Override
        public boolean requestSplit(final OpenTable table, final Subtable subtable)
        {
            return false;
        }

        @Override
        public void onSplitMet(final OpenTable table, final Subtable subtable)
        {
            // nobody finishes it; operations move what they need
        }
    };

    /**
     * Asks for a split of a subtable that is nearly full, or full; may be called again and again.
     *
     * @param table    that it belongs to.
     * @param subtable as the engine knows it.
     * @return false if it will not be split now.
     */
    boolean requestSplit(OpenTable table, Subtable subtable);

    /**
     * Tells of a split that an operation has met for the first time: it may be that of a node that has died.
     *
     * @param table    that it belongs to.
     * @param subtable that is split.
     */
    void onSplitMet(OpenTable table, Subtable subtable);

    /**
     * Tells of a merge that an operation has met for the first time: it may be that of a node that has died.
     *
     * @param table    that it belongs to.
     * @param subtable that takes the place of two.
     */
    default void onMergeMet(OpenTable table, Subtable subtable)
    {
        // nobody finishes it; operations complete the groups they need
    }
}
