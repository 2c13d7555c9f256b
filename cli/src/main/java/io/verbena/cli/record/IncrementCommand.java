package io.verbena.cli.record;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/** {@code verbena increment}. */
@Command(
    name = "increment",
    description = "Add to a counter, and print what it is then. A counter is a record whose value is a number of 64 " +
        "bits: 8 bytes, little-endian, or decimal digits. If there is no such record, it counts as 0.",
    footer = {"", "Exit status 0: added; 2: it is unknown whether it was added; 64: the record is no counter, or " +
        "would leave the range of 64 bits."},
    defaultValueProvider = SettingsProvider.class)
public final class IncrementCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Mixin
    private RecordOptions record;

    @Parameters(index = "1", arity = "0..1", paramLabel = "AMOUNT", defaultValue = "1",
        description = "What to add; may be negative. Default: ${DEFAULT-VALUE}.")
    private long amount;

    @Override
    public Integer call()
    {
        final byte[] key = record.key();
        return clientOptions.with((client) ->
        {
            final long sum = client.table(record.table()).increment(key, amount);
            spec.commandLine().getOut().println(record.isJson() ? record.json().number("counter", sum).line() : sum);
            return ExitStatus.OK;
        });
    }
}
