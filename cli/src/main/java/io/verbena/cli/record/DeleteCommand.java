package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.client.DeleteResult;
import io.verbena.client.KvTable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/** {@code verbena delete}. */
@Command(
    name = "delete",
    description = "Delete a record.",
    footer = {"", "Exit status 0: deleted; 1: not deleted, because there is no record or a condition did not hold; " +
        "2: it is unknown whether it was deleted."},
    defaultValueProvider = SettingsProvider.class)
public final class DeleteCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private RecordOptions record;

    @Option(names = "--if-version", paramLabel = "VERSION", description = "Only if the record has this version.")
    private Long ifVersion;

    @Override
    public Integer call()
    {
        final byte[] key = record.key();
        return clientOptions.with((client) ->
        {
            final KvTable table = client.table(record.table());
            if (null == ifVersion)
            {
                return done(table.delete(key), "no such record");
            }
            final DeleteResult result = table.delete(key, ifVersion);
            return done(result.deleted(), DeleteResult.Outcome.NOT_FOUND == result.outcome() ?
                "no such record" : "the record has version " + result.version());
        });
    }

    private int done(final boolean isDeleted, final String why)
    {
        if (!isDeleted)
        {
            throw new CommandFailedException(ExitStatus.FAILED, "not deleted: " + why, null);
        }
        if (record.isJson())
        {
            spec.commandLine().getOut().println(record.json().truth("deleted", true).line());
        }
        return ExitStatus.OK;
    }
}
