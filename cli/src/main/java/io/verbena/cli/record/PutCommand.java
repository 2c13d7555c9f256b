package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.client.KvTable;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code verbena put}. */
@Command(
    name = "put",
    description = "Write a record, and print its new version.",
    footer = {"", "Exit status 0: written; 1: not written, because a condition did not hold; 2: it is unknown " +
        "whether it was written."},
    defaultValueProvider = SettingsProvider.class)
public final class PutCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private RecordOptions record;

    @Parameters(index = "1", arity = "0..1", paramLabel = "VALUE", description = "Value of the record.")
    private String value;

    @Option(names = "--file", paramLabel = "FILE",
        description = "The value is the content of this file; - is standard input.")
    private Path file;

    @Option(names = "--stdin", description = "As --file -: where other users see arguments, and the value is a secret.")
    private boolean stdin;

    @Option(names = "--if-absent", description = "Only if there is no such record.")
    private boolean ifAbsent;

    @Option(names = "--if-version", paramLabel = "VERSION", description = "Only if the record has this version.")
    private Long ifVersion;

    @Override
    public Integer call()
    {
        if (ifAbsent && null != ifVersion)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--if-absent and --if-version: choose one", null);
        }
        final byte[] key = record.key();
        final byte[] bytes = record.value(value, file, stdin);
        return clientOptions.with((client) -> put(client.table(record.table()), key, bytes));
    }

    private int put(final KvTable table, final byte[] key, final byte[] bytes)
    {
        if (ifAbsent)
        {
            final PutResult result = table.putIfAbsent(key, bytes);
            return done(result.stored(), result.version(), "there is a record, version " + result.version());
        }
        if (null != ifVersion)
        {
            final ReplaceResult result = table.replace(key, bytes, ifVersion);
            return done(ReplaceResult.Outcome.REPLACED == result.outcome(), result.version(),
                ReplaceResult.Outcome.NOT_FOUND == result.outcome() ?
                    "no such record" : "the record has version " + result.version());
        }
        return done(true, table.put(key, bytes), null);
    }

    private int done(final boolean isWritten, final long version, final String why)
    {
        if (!isWritten)
        {
            throw new CommandFailedException(ExitStatus.FAILED, "not written: " + why, null);
        }
        record.printVersion(version, spec.commandLine().getOut());
        return ExitStatus.OK;
    }
}
