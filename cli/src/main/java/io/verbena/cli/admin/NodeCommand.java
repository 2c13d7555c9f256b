package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.ForgottenNode;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.Console;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/** {@code verbena node}. */
@Command(
    name = "node",
    description = "Give up nodes that never come back; give memory nodes the copies that tables lack.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {NodeCommand.ForgetCommand.class, FillCommand.class})
public final class NodeCommand implements Runnable
{
    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    /** {@code verbena node forget}. */
    @Command(
        name = "forget",
        description = "Give up a memory node that is lost for good, with its memory: tables that have a part there, " +
            "records and their index, are dropped as a whole. Epochs that waited for the node go on. Refused while " +
            "the node is alive.",
        defaultValueProvider = SettingsProvider.class)
    static final class ForgetCommand implements Callable<Integer>
    {
        private record LostTable(TableEntry entry, long indexBytes)
        {
        }

        @Spec
        private CommandSpec spec;

        @Mixin
        private ClientOptions clientOptions;

        @Parameters(paramLabel = "ID", description = "Of the memory node, as 'status' prints it.")
        private int nodeId;

        @Option(names = "--yes", description = "Do not ask.")
        private boolean isSure;

        @Override
        public Integer call()
        {
            try (MetaCalls meta = clientOptions.openMeta())
            {
                final ForgottenNode node = meta.result(
                    (client) -> client.forgetNode(nodeId, false, clientOptions.timeoutNs()));
                print(node, lostTables(meta));
                confirm();
                meta.result((client) -> client.forgetNode(nodeId, true, clientOptions.timeoutNs()));
                // Nobody publishes a table there from now on: these are all.
                for (final LostTable table : lostTables(meta))
                {
                    drop(meta, table.entry());
                }
            }
            return ExitStatus.OK;
        }

        private void print(final ForgottenNode node, final List<LostTable> tables)
        {
            final PrintWriter out = spec.commandLine().getOut();
            out.printf(Locale.ROOT, "memory node %d, %,d bytes of memory%s%n", node.nodeId(),
                node.regionLengthBytes(), node.isForgotten() ? ": forgotten already" : "");
            tables.forEach((table) -> out.printf(Locale.ROOT, "lost: table '%s', %,d bytes of its index%n",
                table.entry().name(), table.indexBytes()));
            out.flush();
        }

        private void confirm()
        {
            final Console console = System.console();
            if (isSure)
            {
                return;
            }
            if (null == console || !console.isTerminal())
            {
                throw new CommandFailedException(
                    ExitStatus.USAGE, "node " + nodeId + " is not forgotten: add --yes to lose what is listed", null);
            }
            if (!"yes".equals(console.readLine("forget memory node %d and lose this? Type 'yes': ", nodeId)))
            {
                throw new CommandFailedException(ExitStatus.FAILED, "node " + nodeId + " is not forgotten", null);
            }
        }

        private void drop(final MetaCalls meta, final TableEntry table)
        {
            final TableEntry named = new TableEntry(table.name(), table.tableId(), new byte[0]);
            final ControlCall<Void> call =
                meta.await((client) -> client.dropThisTable(named, clientOptions.timeoutNs()));
            if (ControlStatus.OK != call.status() && ControlStatus.NO_SUCH_TABLE != call.status())
            {
                throw new CommandFailedException(ExitStatus.UNKNOWN, "node " + nodeId + " is forgotten, but table '" +
                    table.name() + "' is not dropped yet: " + call.failure() + "; repeat the command", null);
            }
        }

        private List<LostTable> lostTables(final MetaCalls meta)
        {
            final List<LostTable> lost = new ArrayList<>();
            for (final String name : names(meta))
            {
                final ControlCall<TableEntry> call =
                    meta.await((client) -> client.table(name, clientOptions.timeoutNs()));
                if (ControlStatus.NO_SUCH_TABLE != call.status())
                {
                    final long indexBytes = indexBytes(call.result());
                    if (indexBytes > 0)
                    {
                        lost.add(new LostTable(call.result(), indexBytes));
                    }
                }
            }
            return lost;
        }

        private List<String> names(final MetaCalls meta)
        {
            final List<String> names = new ArrayList<>();
            TablePage page;
            do
            {
                page = meta.result((client) ->
                    client.tables(names.isEmpty() ? "" : names.getLast(), clientOptions.timeoutNs()));
                names.addAll(page.names());
            }
            while (page.hasMore());
            return names;
        }

        private long indexBytes(final TableEntry entry)
        {
            try
            {
                final TableDescriptor table = TableDescriptor.decode(entry.descriptor());
                return IntStream.range(0, 1 << table.depth()).mapToLong(table::entry)
                    .filter((word) -> DirectoryEntry.memoryNodeId(word) == nodeId).distinct().count() *
                    SubtableDescriptor.lengthBytes(table.groupCount());
            }
            catch (final FormatException ex)
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, "table '" + entry.name() +
                    "' cannot be read, so what is lost is not known: " + ex.getMessage(), ex);
            }
        }
    }
}
