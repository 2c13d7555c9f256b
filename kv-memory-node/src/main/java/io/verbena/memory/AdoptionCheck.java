package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.session.MetaLink;
import io.verbena.table.check.RegionReader;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.check.TableCheck;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Checks a region that a node has found again or restored, before anybody is let in: asks the meta server for the
 * tables, and then walks the memory by the rules of a table check. Tentative words and blocks that no word names are
 * what dying writers leave; they are no damage. Driven by the node's thread; time comes in.
 */
final class AdoptionCheck
{
    /** What is done when the tables are known, before the memory is walked. */
    @FunctionalInterface
    interface Before
    {
        /** Whether it can be done now; asked again and again. */
        default boolean isReady(final long nowNs)
        {
            return true;
        }

        /** Does it. */
        void accept(List<TableDescriptor> tables);
    }

    private final MetaLink link;
    private final RegionReader reader;
    private final MemoryNodeConfiguration configuration;
    private final Before before;
    private final List<String> names = new ArrayList<>();
    private final List<TableDescriptor> tables = new ArrayList<>();
    private ControlCall<TablePage> listing;
    private ControlCall<TableEntry> asking;
    private boolean isListed;
    private boolean isDone;
    private int next;
    private long nextCallNs;
    private String failure = "";
    private String report = "";
    private long damagedRecords;
    private final BitSet quarantinedIndexes = new BitSet();

    AdoptionCheck(
        final MetaLink link,
        final RegionReader reader,
        final MemoryNodeConfiguration configuration,
        final Before before,
        final long nowNs)
    {
        this.link = link;
        this.reader = reader;
        this.configuration = configuration;
        this.before = before;
        nextCallNs = nowNs;
    }

    /** @return whether the memory was walked; {@link #failure} says with which result. */
    boolean isDone()
    {
        return isDone;
    }

    /** @return what is wrong with the memory, or, before, why the meta server cannot be asked; empty: nothing. */
    String failure()
    {
        return failure;
    }

    /** @return what was found, for people. */
    String report()
    {
        return report;
    }

    /** @return damaged records that were accepted; 0 before it is done. */
    long damagedRecords()
    {
        return damagedRecords;
    }

    /** @return quarantined chunks in which a table has a subtable; none before it is done. */
    BitSet quarantinedIndexes()
    {
        return quarantinedIndexes;
    }

    int poll(final long nowNs)
    {
        if (nextCallNs - nowNs > 0)
        {
            return 0;
        }

        if (!isListed)
        {
            return list(nowNs);
        }

        if (next < names.size())
        {
            return describe(nowNs);
        }

        if (before.isReady(nowNs))
        {
            walk();
        }

        return 1;
    }

    private int list(final long nowNs)
    {
        if (null == listing)
        {
            listing = link.freshClient().tables(names.isEmpty() ? "" : names.getLast(), configuration.callTimeoutNs());
            return 1;
        }

        if (!listing.isDone())
        {
            return 0;
        }

        final ControlCall<TablePage> ended = listing;
        listing = null;

        if (ControlStatus.OK == ended.status())
        {
            names.addAll(ended.result().names());
            isListed = !ended.result().hasMore();
        }
        else
        {
            retryLater(ended, nowNs);
        }

        return 1;
    }

    private int describe(final long nowNs)
    {
        if (null == asking)
        {
            asking = link.freshClient().table(names.get(next), configuration.callTimeoutNs());
            return 1;
        }

        if (!asking.isDone())
        {
            return 0;
        }

        final ControlCall<TableEntry> ended = asking;
        asking = null;

        switch (ended.status())
        {
            case OK ->
            {
                add(ended.result());
                next++;
            }
            case NO_SUCH_TABLE -> next++;
            default -> retryLater(ended, nowNs);
        }

        return 1;
    }

    private void add(final TableEntry entry)
    {
        try
        {
            tables.add(TableDescriptor.decode(entry.descriptor()));
        }
        catch (final FormatException ex)
        {
            isDone = true;
            failure = "table " + entry.name() + ": " + ex.getMessage();
        }
    }

    private void retryLater(final ControlCall<?> ended, final long nowNs)
    {
        failure = ended.status() + ": " + ended.failure();
        nextCallNs = nowNs + configuration.retryPauseNs();
        link.onUnanswered();
    }

    private void walk()
    {
        try
        {
            before.accept(tables);
        }
        catch (final CheckpointException ex)
        {
            isDone = true;
            failure = ex.getMessage();
            return;
        }

        judge(new StoreChecker(reader, tables, List.of()).checkOnly(configuration.folder().nodeId()));
        isDone = true;
    }

    private void judge(final StoreCheck check)
    {
        final List<String> violations = new ArrayList<>(check.problems());
        final List<String> problems = new ArrayList<>(check.problems());
        long count = check.problems().size();
        long records = 0;

        check.spaces().forEach((space) -> quarantinedIndexes.or(space.quarantinedIndexes));

        for (final TableCheck table : check.tables().values())
        {
            problems.addAll(table.problems());
            violations.addAll(table.violation().isEmpty() ? List.of() : List.of(table.violation()));
            count += table.problemCount;
            damagedRecords += table.damagedRecords;
            records += table.committed;
        }

        report = records + " records in " + tables.size() + " tables, " + check.tentative() + " undecided inserts, " +
            damagedRecords + " damaged records";

        if (!violations.isEmpty())
        {
            failure = count + " violations of what must hold, the first: " + violations.getFirst() +
                "; --accept-damage is for damaged records whose slots are sound, and not for this";
        }
        else if (!problems.isEmpty() && !configuration.acceptsDamage())
        {
            failure = count + " damaged records, the first: " + problems.getFirst() + "; start it with " +
                "--accept-damage to serve all others: operations on the damaged ones then fail with a typed error";
        }
        else
        {
            failure = "";
        }
    }
}
