package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.client.KvTable;
import io.verbena.client.ReplaceResult;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code verbena replace}. */
@Command(
    name = "replace",
    description = "Write a record that is there, and print its new version.",
    footer = {"", "Exit status 0: written; 1: not written, because there is no record or it has another version; " +
        "2: it is unknown whether it was written."},
    defaultValueProvider = SettingsProvider.class)
public final class ReplaceCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private RecordOptions record;

    @Parameters(index = "1", arity = "0..1", paramLabel = "VALUE", description = "New value of the record.")
    private String value;

    @Option(names = "--file", paramLabel = "FILE",
        description = "The value is the content of this file; - is standard input.")
    private Path file;

    @Option(names = "--stdin", description = "As --file -: where other users see arguments, and the value is a secret.")
    private boolean stdin;

    @Option(names = "--if-version", paramLabel = "VERSION", description = "Only if the record has this version.")
    private Long ifVersion;

    @Override
    public Integer call()
    {
        final byte[] bytes = record.value(value, file, stdin);
        final byte[] key = record.key();
        return clientOptions.with((client) ->
        {
            final KvTable table = client.table(record.table());
            final ReplaceResult result = null == ifVersion ?
                table.replace(key, bytes) : table.replace(key, bytes, ifVersion);
            if (ReplaceResult.Outcome.REPLACED != result.outcome())
            {
                throw new CommandFailedException(ExitStatus.FAILED, "not written: " +
                    (ReplaceResult.Outcome.NOT_FOUND == result.outcome() ?
                        "no such record" : "the record has version " + result.version()), null);
            }
            record.printVersion(result.version(), spec.commandLine().getOut());
            return ExitStatus.OK;
        });
    }
}
