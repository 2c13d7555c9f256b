package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import java.util.List;
import java.util.Random;

/** Begins to sweep a subtable now and then, with a deadline that passes at times. */
final class RandomSweep
{
    private RandomSweep()
    {
    }

    /** Draws nothing where nothing is swept. */
    static void maybeBegin(
        final TableEngine engine, final OpenTable table, final int oneIn, final Random random, final long nowNs)
    {
        if (oneIn > 0 && !engine.sweep().isRunning() && random.nextInt(oneIn) == 0)
        {
            final List<Subtable> subtables = table.subtables();
            final long timeoutNs = random.nextInt(4) == 0 ? random.nextInt(40_000) : 50_000_000L;
            engine.sweep().begin(table, subtables.get(random.nextInt(subtables.size())), 0, nowNs + timeoutNs);
        }
    }
}
