package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code verbena append}. */
@Command(
    name = "append",
    description = "Put bytes behind the value of a record, or write them alone if there is none, and print the " +
        "record's new version.",
    footer = {"", "Exit status 0: written; 2: it is unknown whether it was written; 64: the value would be too long."},
    defaultValueProvider = SettingsProvider.class)
public final class AppendCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private RecordOptions record;

    @Parameters(index = "1", arity = "0..1", paramLabel = "VALUE", description = "What to append.")
    private String value;

    @Option(names = "--file", paramLabel = "FILE",
        description = "Append the content of this file; - is standard input.")
    private Path file;

    @Option(names = "--stdin", description = "As --file -: where other users see arguments, and the value is a secret.")
    private boolean stdin;

    @Override
    public Integer call()
    {
        final byte[] bytes = record.value(value, file, stdin);
        final byte[] key = record.key();
        return clientOptions.with((client) ->
        {
            record.printVersion(client.table(record.table()).append(key, bytes), spec.commandLine().getOut());
            return ExitStatus.OK;
        });
    }
}
