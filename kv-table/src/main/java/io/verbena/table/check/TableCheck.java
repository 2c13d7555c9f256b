package io.verbena.table.check;

import java.util.ArrayList;
import java.util.List;

/** What a {@link TableChecker} found. */
public final class TableCheck
{
    private static final int MAX_PROBLEMS = 100;

    private final List<String> problems = new ArrayList<>();
    private String violation = "";
    /** Slots of the table. */
    public long slots;
    /** Records. */
    public long committed;
    /** Undecided inserts; in a table at rest, of dead inserters. */
    public long tentative;
    /** Slots of new subtables whose word a split has not moved yet. */
    public long restructuring;
    /** Subtables of which a split or a merge has begun and is not complete. */
    public long splitsUnderWay;
    /** Bytes of all blocks that hold records. */
    public long blockBytes;
    /** Records with a deadline. */
    public long withDeadline;
    /** Those of them whose deadline has passed by the wall clock here, and that nobody has taken away yet. */
    public long expired;
    /** Problems found, also those beyond the ones reported. */
    public long problemCount;
    /** Slots that changed each time they were looked at, so that nothing can be said of them. */
    public long unsettled;
    /** Those of the problems that are a damaged block whose slot word is sound: an operation on its key says so. */
    public long damagedRecords;
    /** Whether the table was dropped while it was checked. */
    public boolean dropped;

    TableCheck()
    {
    }

    /** @return whether every invariant holds. */
    public boolean isSound()
    {
        return problemCount == 0;
    }

    /** @return the first problems, one line each. */
    public List<String> problems()
    {
        return List.copyOf(problems);
    }

    /** @return the first problem that is not one of {@link #damagedRecords}; empty: there is none. */
    public String violation()
    {
        return violation;
    }

    void damagedRecord(final String text)
    {
        damagedRecords++;
        add(text);
    }

    void problem(final String text)
    {
        violation = violation.isEmpty() ? text : violation;
        add(text);
    }

    private void add(final String text)
    {
        problemCount++;
        if (problems.size() < MAX_PROBLEMS)
        {
            problems.add(text);
        }
    }

    @Override
    public String toString()
    {
        return "TableCheck{slots=" + slots + " committed=" + committed + " tentative=" + tentative +
            " restructuring=" + restructuring + " splitsUnderWay=" + splitsUnderWay + " blockBytes=" + blockBytes +
            " withDeadline=" + withDeadline +
            " expired=" + expired + " problems=" + problemCount + problems + '}';
    }
}
