package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/** {@code verbena exists}. */
@Command(
    name = "exists",
    description = "Print true or false: whether there is a record.",
    footer = {"", "Exit status 0: there is a record; 1: there is none."},
    defaultValueProvider = SettingsProvider.class)
public final class ExistsCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private RecordOptions record;

    @Override
    public Integer call()
    {
        final byte[] key = record.key();
        return clientOptions.with((client) ->
        {
            final boolean exists = client.table(record.table()).exists(key);
            spec.commandLine().getOut().println(
                record.isJson() ? record.json().truth("exists", exists).line() : exists);
            return exists ? ExitStatus.OK : ExitStatus.FAILED;
        });
    }
}
