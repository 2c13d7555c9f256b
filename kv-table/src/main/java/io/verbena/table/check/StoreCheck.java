package io.verbena.table.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a {@link StoreChecker} found.
 *
 * @param tables    by name.
 * @param spaces    of each memory node.
 * @param problems  one line each: doubly owned memory, damaged superblocks and headers.
 * @param leftovers undecided inserts that nobody will decide, and remains of deletes; the first 100,000.
 * @param unjudged  one line each: what could not be found out.
 * @param differences of copies, where a group of memory nodes has several; those that are damaged are problems, too.
 * @param quarantined one line each: chunks whose headers were damaged; no violation, since what is in them was checked.
 */
public record StoreCheck(
    Map<String, TableCheck> tables,
    List<SpaceReport> spaces,
    List<String> problems,
    List<Leftover> leftovers,
    List<String> unjudged,
    List<CopyDifference> differences,
    List<String> quarantined)
{
    private static final int MAX_PROBLEMS = 100;

    /**
     * A tentative word that nobody will commit.
     *
     * @param memoryNodeId where it is.
     * @param table        that the slot belongs to.
     * @param slotOffset   of the slot in the node's region.
     * @param word         in it.
     */
    public record Leftover(int memoryNodeId, String table, long slotOffset, long word)
    {
    }

    StoreCheck()
    {
        this(new TreeMap<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>(),
            new ArrayList<>(), new ArrayList<>());
    }

    /** @return whether every invariant holds; lost bytes are no danger, and asked for separately. */
    public boolean isSound()
    {
        return problems.isEmpty() && tables.values().stream().allMatch(TableCheck::isSound);
    }

    /** @return bytes lost at all memory nodes until their chunks are swept. */
    public long lostBytes()
    {
        return spaces.stream().mapToLong((space) -> space.lostBytes + space.unnamedIndexBytes).sum();
    }

    /** @return bytes in closed chunks that no word names: a reaper will find them. */
    public long unreclaimedBytes()
    {
        return spaces.stream().mapToLong((space) -> space.orphanBytes - space.namedInOrphansBytes).sum();
    }

    /** @return tentative words in all tables. */
    public long tentative()
    {
        return tables.values().stream().mapToLong((table) -> table.tentative).sum();
    }

    void problem(final String text)
    {
        if (problems.size() < MAX_PROBLEMS)
        {
            problems.add(text);
        }
    }
}
