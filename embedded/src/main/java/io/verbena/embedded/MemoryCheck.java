package io.verbena.embedded;

import io.verbena.table.check.SpaceReport;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.TableCheck;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * What a check of all tables, and of every byte of the memory they live in, has found.
 *
 * @param records          committed words.
 * @param slots            of all tables.
 * @param tentative        undecided inserts; of dead nodes, in a cluster at rest.
 * @param freeChunkBytes   chunks nobody has.
 * @param indexBytes       chunks of indexes.
 * @param leasedBytes      chunks leased for blocks: what follows, up to lostBytes, adds up to them.
 * @param namedBytes       blocks of records.
 * @param heldFreeBytes    free at compute nodes.
 * @param quarantinedBytes retired, waiting for the epoch.
 * @param inFlightBytes    blocks of operations under way.
 * @param lostBytes        owned by nobody, with the indexes of dropped tables: found by the next sweep.
 * @param unreclaimedBytes in chunks of ended nodes, to be found by a reaper.
 * @param problems         broken invariants, one line each; the first hundred.
 */
public record MemoryCheck(
    long records,
    long slots,
    long tentative,
    long freeChunkBytes,
    long indexBytes,
    long leasedBytes,
    long namedBytes,
    long heldFreeBytes,
    long quarantinedBytes,
    long inFlightBytes,
    long lostBytes,
    long unreclaimedBytes,
    List<String> problems)
{
    static MemoryCheck of(final StoreCheck check)
    {
        final List<String> problems = new ArrayList<>(check.problems());
        check.tables().forEach((name, table) ->
            table.problems().forEach((problem) -> problems.add("table " + name + ": " + problem)));
        return new MemoryCheck(
            check.tables().values().stream().mapToLong((table) -> table.committed).sum(),
            check.tables().values().stream().mapToLong((TableCheck table) -> table.slots).sum(),
            check.tentative(),
            sum(check, (space) -> space.freeChunkBytes),
            sum(check, (space) -> space.indexBytes),
            sum(check, (space) -> space.leasedBytes),
            sum(check, (space) -> space.namedBytes),
            sum(check, (space) -> space.heldFreeBytes),
            sum(check, (space) -> space.quarantinedBytes),
            sum(check, (space) -> space.inFlightBytes),
            check.lostBytes(),
            check.unreclaimedBytes(),
            List.copyOf(problems));
    }

    private static long sum(final StoreCheck check, final ToLongFunction<SpaceReport> part)
    {
        return check.spaces().stream().mapToLong(part).sum();
    }

    /** @return whether every invariant holds. */
    public boolean isSound()
    {
        return problems.isEmpty();
    }

    /** @return whether besides not one byte is lost. */
    public boolean isComplete()
    {
        return isSound() && 0 == lostBytes + unreclaimedBytes + tentative &&
            leasedBytes == namedBytes + heldFreeBytes + quarantinedBytes + inFlightBytes;
    }
}
