package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** {@code verbena completion}: the script by which a shell completes commands and options. */
@Command(
    name = "completion",
    description = {"Print a script for bash and zsh that completes commands and options.",
        "For this shell: source <(./verbena completion)"})
final class CompletionCommand implements Callable<Integer>
{
    private final Supplier<CommandLine> all;

    @Spec
    private CommandSpec spec;

    /** @param all commands, with their options. */
    CompletionCommand(final Supplier<CommandLine> all)
    {
        this.all = all;
    }

    @Override
    public Integer call()
    {
        spec.commandLine().getOut().print(AutoComplete.bash("verbena", all.get()));
        spec.commandLine().getOut().flush();
        return ExitStatus.OK;
    }
}
