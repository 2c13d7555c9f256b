package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.client.KvEntry;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code verbena get}. */
@Command(
    name = "get",
    description = "Print the value of a record.",
    footer = {"", "On a terminal a newline follows; in a pipe or file the output is exactly the value's bytes. With " +
        "--hex or --show-version, and in the shell, it is a line everywhere.", "",
        "Exit status 0: printed; 1: no such record."},
    defaultValueProvider = SettingsProvider.class)
public final class GetCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private RecordOptions record;

    @Option(names = "--file", paramLabel = "FILE", description = "Write the value, as it is, to this file instead.")
    private Path file;

    @Option(names = "--show-version", description = "Print the record's version, and a tab, before the value.")
    private boolean showVersion;

    @Override
    public Integer call()
    {
        final byte[] key = record.key();
        if (record.isJson() && null != file)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--json and --file: choose one", null);
        }
        return clientOptions.with((client) ->
        {
            final KvEntry entry = client.table(record.table()).get(key).orElseThrow(() ->
                new CommandFailedException(ExitStatus.FAILED, "no such record", null));
            show(entry);
            return ExitStatus.OK;
        });
    }

    private void show(final KvEntry entry)
    {
        final CommandOutput out = CommandOutput.of(spec);
        if (null == file)
        {
            record.print(entry, showVersion, out);
            return;
        }
        try
        {
            Files.write(file, entry.value());
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.CANNOT_CREATE, "--file " + file + ": cannot be written (" + FileErrors.reason(ex) + ")", ex);
        }
        if (showVersion)
        {
            out.println(entry.version());
        }
    }
}
