package io.verbena.cli.table;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.OpenedStore;
import io.verbena.cli.cluster.OfflineStore;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.console.WatchedProgress;
import io.verbena.compute.ComputeNodeException;
import io.verbena.load.report.Units;
import io.verbena.table.access.EmptiedWords;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** {@code verbena table check}. */
@Command(
    name = "check",
    description = {
        "Verify what must always be true of a table: every slot, block, bucket, chunk header and superblock. Beside " +
        "the cluster's users, by a node that joins for it, or, when all processes have ended without 'down', on the " +
        "memory that they left. Of a table with several copies, all of them are compared.",
        "With --repair: removes undecided inserts that ended nodes left; finishes splits and merges of subtables " +
        "that nobody goes on with; has living nodes take back memory that no record uses; frees chunks in which " +
        "nothing is used when no node lives. It never changes a record. Only undecided inserts are those of TABLE; " +
        "splits, merges and memory are repaired in the whole store, because all tables share its memory.",
        "With --sweep: only has living nodes take back memory that no record uses, and waits for the end of that, " +
        "20 s at most. After failures of nodes the lost bytes are 0 when it has ended and nobody writes."},
    footer = {"", "Exit status 0: every invariant holds; 1: one does not; 2: it could not be found out, because a " +
        "memory node does not answer, or a compute node has not ended the sweep that was asked for."},
    defaultValueProvider = SettingsProvider.class)
final class TableCheckCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions options;

    @Parameters(paramLabel = "TABLE", arity = "0..1", description = "Whose blocks are checked.")
    private String table;

    @Option(names = "--all", description = "Check all tables.")
    private boolean all;

    @Option(names = "--repair", description = "Repair what ended nodes have left.")
    private boolean repair;

    @Option(names = "--sweep", description = "First have every compute node take back memory that no record uses.")
    private boolean sweep;

    @Option(names = "--json", description = "As one JSON object.")
    private boolean json;

    @Override
    public Integer call()
    {
        if (all == (null != table))
        {
            throw new CommandFailedException(ExitStatus.USAGE, all ?
                "TABLE and --all: give one of both" : "no table given: name one, or give --all", null);
        }
        try (OpenedStore opened = options.openStore())
        {
            final TableCheckReport report = check(opened, table, repair, sweep, options);
            final PrintWriter out = spec.commandLine().getOut();
            out.print(json ? report.json() : report.text());
            out.flush();
            return !report.isSound() ? ExitStatus.FAILED : report.isComplete() ? ExitStatus.OK : ExitStatus.UNKNOWN;
        }
        catch (final ComputeNodeException ex)
        {
            throw new CommandFailedException(ExitStatus.UNKNOWN, "no verdict: " + ex.getMessage(), ex);
        }
    }

    /**
     * Repairs and sweeps if asked to, and then checks.
     *
     * @param opened  the cluster.
     * @param table   null for all.
     * @param repairs whether to repair, which includes a sweep.
     * @param sweeps  whether to have the compute nodes sweep.
     * @param options how it is reached.
     * @return what was found in the end.
     */
    static TableCheckReport check(
        final OpenedStore opened, final String table, final boolean repairs, final boolean sweeps,
        final ClientOptions options)
    {
        if (null != table && opened.store().tables().stream().noneMatch((other) -> other.name().equals(table)))
        {
            throw new CommandFailedException(ExitStatus.USAGE, "no such table: name=" + table, null);
        }
        final List<String> repaired = new ArrayList<>();
        if (repairs)
        {
            repair(opened, table, repaired);
        }
        final List<String> notSwept = repairs || sweeps ? sweep(opened, sweeps, options, repaired) : List.of();
        final HeldMemory before = held(opened, options);
        final StoreCheck check = walk(opened, table);
        final HeldMemory after = held(opened, options);
        final boolean isAtRest = null != before && before.equals(after) && !before.isReclaiming();
        return new TableCheckReport(opened.title(), opened.store().isLive(), check.spaces().stream()
            .map((space) -> space.memoryNodeId).filter(opened.store()::isOfGroup).toList(), check,
            isAtRest ? before.bytes() : TableCheckReport.NOT_KNOWN, repaired, notSwept);
    }

    private static StoreCheck walk(final OpenedStore opened, final String table)
    {
        try (WatchedProgress progress = WatchedProgress.begin("check", "slots"))
        {
            return new StoreChecker(opened.store()).only(table).listener(progress::update)
                .check(opened.memoryNodeIds());
        }
    }

    /** Only the processes of a folder can be asked. */
    private static HeldMemory held(final OpenedStore opened, final ClientOptions options)
    {
        return opened.store().isLive() && !options.namesCluster() ?
            opened.besideLease(() -> HeldMemory.ask(options.folder())) : null;
    }

    /** @return why not all has been swept, one line each. */
    private static List<String> sweep(
        final OpenedStore opened, final boolean isAsked, final ClientOptions options, final List<String> repaired)
    {
        if (!opened.store().isLive())
        {
            return isAsked ? List.of("no compute node lives: 'verbena up' starts the cluster") : List.of();
        }
        final List<String> notSwept = Sweep.run(opened, options);
        if (notSwept.isEmpty())
        {
            repaired.add("compute nodes have taken back what no record uses");
        }
        return notSwept;
    }

    private static void repair(final OpenedStore opened, final String table, final List<String> repaired)
    {
        // Of the whole store: memory is shared by all tables, and is repaired only where all of it is sound.
        final StoreCheck check = walk(opened, null);
        final List<StoreCheck.Leftover> leftovers = check.leftovers().stream()
            .filter((left) -> null == table || table.equals(left.table())).toList();
        for (final StoreCheck.Leftover left : leftovers)
        {
            opened.store().swap(left.memoryNodeId(), left.slotOffset(), left.word(),
                EmptiedWords.byTool(left.word()));
        }
        if (!leftovers.isEmpty())
        {
            repaired.add(Units.count(leftovers.size(), "undecided insert") + " removed");
        }
        final int splits = check.isSound() ? opened.store().finishSplits(repaired) : 0;
        if (splits > 0)
        {
            repaired.add(1 == splits ? "1 split or merge of a subtable finished" :
                Units.count(splits) + " splits and merges of subtables finished");
        }
        if (opened.store() instanceof final OfflineStore stopped && check.isSound())
        {
            final int freed = stopped.freeUnnamedChunks(walk(opened, null));
            if (freed > 0)
            {
                repaired.add(Units.count(freed, "chunk") + " freed that no record uses");
            }
        }
    }
}
