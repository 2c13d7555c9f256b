package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.console.StandardStream;
import io.verbena.cli.console.Terminal;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.load.report.Units;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code verbena load}. */
@Command(
    name = "load",
    description = "Put all records of a file into a table.",
    footer = {"", "The file is as 'verbena dump' writes it. Records are put many at once, in no order: a key that " +
        "comes twice has one of its values. When it ends early, what it says was put is there; it may be run again.",
        "", "Exit status 0: all were put; 65: the file cannot be read; 73: the table has no more room."},
    defaultValueProvider = SettingsProvider.class)
public final class LoadCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private TableOption table;

    @Option(names = "--format", paramLabel = "jsonl|csv",
        description = "JSON lines or CSV. Default: as the file's name ends.")
    private RecordFormat format;

    @Parameters(paramLabel = "FILE", description = "With the records; - is standard input.")
    private Path file;

    @Override
    public Integer call()
    {
        final RecordFormat chosen = RecordFormat.of(format, file);
        final NanoClock clock = SystemNanoClock.INSTANCE;
        return clientOptions.with((client) ->
        {
            final KvTable loaded = client.table(table.name());
            final long startNs = clock.nanoTime();
            final RecordLoader loader =
                new RecordLoader(loaded, Terminal.progress(), clock);
            try
            {
                loader.load(StandardStream.input(file), chosen);
            }
            catch (final IOException ex)
            {
                throw failed(ExitStatus.BAD_DATA, "cannot be read: " + FileErrors.reason(ex), loader, ex);
            }
            catch (final CommandFailedException ex)
            {
                throw failed(ex.exitStatus(), ex.getMessage(), loader, ex);
            }
            catch (final KvException ex)
            {
                throw failed(ClientOptions.status(ex.category()), ClientOptions.text(ex), loader, ex);
            }
            spec.commandLine().getOut().println("loaded " + Units.count(loader.stored(), "record") + " in " +
                Units.duration(clock.nanoTime() - startNs));
            return ExitStatus.OK;
        });
    }

    private CommandFailedException failed(
        final int status, final String why, final RecordLoader loader, final Exception cause)
    {
        return new CommandFailedException(
            status, file + ": " + why + "; " + Units.count(loader.stored(), "record") +
                (1 == loader.stored() ? " was put" : " were put"), cause);
    }
}
