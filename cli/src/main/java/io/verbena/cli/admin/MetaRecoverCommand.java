package io.verbena.cli.admin;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.load.report.TextTable;
import io.verbena.meta.raft.MemberRemains;
import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.RocksMetaStore;
import io.verbena.server.MetaGroupRole;
import io.verbena.server.MetaServerRole;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** {@code verbena meta recover}. Its options are typed: none comes from the environment or a file of settings. */
@Command(
    name = "recover",
    description = "When most members of a group are lost for good: print what the folders of the others know, and " +
        "with --force make the folder of a single meta server of the latest. What the group had agreed on and no " +
        "folder has is lost. The folders are not changed.",
    footer = {"", "Exit status 0: the new folder is made; 1: nothing was written, since there is no --force."})
final class MetaRecoverCommand implements Callable<Integer>
{
    private static final String LOG_LEVEL = "org.slf4j.simpleLogger.log.org.apache.ratis";

    @Spec
    private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "DIR",
        description = "What --data of a meta server named that does not run any more, or a copy; several of one " +
            "group.")
    private List<Path> folders;

    @Option(names = "--to", paramLabel = "DIR", required = true,
        description = "For --data of the meta server that goes on; missing or empty.")
    private Path to;

    @Option(names = "--force", description = "Write it.")
    private boolean isForced;

    @Override
    public Integer call()
    {
        System.setProperty(LOG_LEVEL, System.getProperty(LOG_LEVEL, "off"));
        requireEmpty();
        try
        {
            final List<MemberRemains> all = folders.stream().map(MetaRecoverCommand::read).toList();
            requireOneCluster(all);
            final MemberRemains latest = MemberRemains.latest(all);
            final PrintWriter out = spec.commandLine().getOut();
            print(out, all, latest);
            if (!isForced)
            {
                out.println("Nothing was written. With --force " + to + " becomes the folder of a single meta server.");
                return ExitStatus.FAILED;
            }
            write(latest.state());
            printNext(out, latest.state().counters());
            return ExitStatus.OK;
        }
        catch (final DurableWriteError ex)
        {
            throw new CommandFailedException(ExitStatus.DISK_FAILED, ex.getMessage(), ex);
        }
        catch (final MetaStoreException ex)
        {
            throw new CommandFailedException(switch (ex.category())
            {
                case CORRUPT, UNKNOWN_VERSION -> ExitStatus.BAD_DATA;
                case FOREIGN -> ExitStatus.USAGE;
                case LOCKED -> ExitStatus.UNAVAILABLE;
                case READ_ONLY -> ExitStatus.NO_PERMISSION;
                case WRITE_FAILED -> ExitStatus.CANNOT_CREATE;
            }, ex.getMessage(), ex);
        }
    }

    private static MemberRemains read(final Path folder)
    {
        final Path log = folder.resolve(MetaGroupRole.FOLDER);
        return MemberRemains.read(Files.isDirectory(log) ? log : folder);
    }

    /** What is in it might be a state of before, which the meta server would go on with, or stumble over. */
    private void requireEmpty()
    {
        try (Stream<Path> entries = Files.exists(to) ? Files.list(to) : Stream.empty())
        {
            entries.findAny().ifPresent((entry) ->
            {
                throw new CommandFailedException(ExitStatus.USAGE, "--to " + to + " has something ('" +
                    entry.getFileName() + "'): name a folder that is missing or empty", null);
            });
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--to " + to + " is no folder that can be used (" +
                FileErrors.reason(ex) + "): name one that is missing or empty", ex);
        }
    }

    private static void requireOneCluster(final List<MemberRemains> all)
    {
        for (final MemberRemains each : all)
        {
            if (each.state().isNew())
            {
                throw new CommandFailedException(ExitStatus.BAD_DATA, "folder " + each.folder() + " knows no cluster " +
                    "yet: leave it out", null);
            }
            if (each.state().counters().clusterId() != all.getFirst().state().counters().clusterId())
            {
                throw new CommandFailedException(ExitStatus.USAGE, "folders " + all.getFirst().folder() + " and " +
                    each.folder() + " are of two clusters: give those of one", null);
            }
        }
    }

    private static void print(final PrintWriter out, final List<MemberRemains> all, final MemberRemains latest)
    {
        final TextTable table =
            new TextTable().row("FOLDER", "TERM", "LAST ENTRY", "WRITTEN", "NODES", "TABLES", "USERS");
        all.forEach((each) -> table.row(each.folder().toString(), Long.toString(each.term()),
            Long.toString(each.index()), each.lastWritten().truncatedTo(ChronoUnit.SECONDS).toString(),
            Integer.toString(each.state().nodes().size() - each.state().spares()),
            Integer.toString(each.state().tables().size()), Integer.toString(each.state().users().size())));
        out.print(table);
        all.forEach((each) -> each.damage().forEach((line) -> out.println("damaged: " + line)));
        out.println("The latest is entry " + latest.index() + " in " + latest.folder() + ". What the group agreed on " +
            "behind it is lost:");
        out.println("  - tables made then, with their records; tables dropped then are there again: drop them again");
        out.println("  - users, rights and revoked certificates are as of that entry: who was removed then can log in");
        out.println("  - nodes that joined then are unknown");
    }

    private void write(final MetaState state)
    {
        try (RocksMetaStore store = RocksMetaStore.open(to.resolve(MetaServerRole.FOLDER)))
        {
            store.write(state.asBatch(false).counters(state.counters().behindLostChanges()));
        }
    }

    private void printNext(final PrintWriter out, final MetaCounters counters)
    {
        final MetaCounters next = counters.behindLostChanges();
        out.println(to + " is the folder of a single meta server. No number is given twice: incarnations go on with " +
            next.nextIncarnation() + ", tables with " + next.nextTableId() + ", epochs with " + next.epochCeiling() +
            ".");
        out.println("Next:");
        out.println("  1. end all nodes of the cluster that still run: some may be unknown");
        out.println("  2. ./verbena meta-server --data " + to + " ... or, of a new group, with --member 1 " +
            "--new-group and empty folders for the others");
        out.println("  3. start the nodes again, and type './verbena table check' for each table");
        out.println("  4. never start a member of the old group again");
    }
}
