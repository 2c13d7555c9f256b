package io.verbena.cli;

import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.shell.ShellLines;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Runs the command in this process, for tests in other packages. */
public final class CommandLines
{
    /** What a command said, and its status. */
    public record Result(int status, byte[] bytes, String err)
    {
        /** @return standard output as text. */
        public String out()
        {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private CommandLines()
    {
    }

    /** @return what makes the lines of the shell. */
    public static ShellLines shellLines()
    {
        return VerbenaCommand::shellLine;
    }

    /** Runs one command as if at a terminal. */
    public static Result run(final List<String> arguments)
    {
        return run(arguments, true);
    }

    /** Runs one command as if a program read what it prints. */
    public static Result piped(final List<String> arguments)
    {
        return run(arguments, false);
    }

    private static Result run(final List<String> arguments, final boolean isTerminal)
    {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final StringWriter err = new StringWriter();
        final int status = execute(arguments, CommandOutput.to(out, isTerminal), err);
        return new Result(status, out.toByteArray(), err.toString());
    }

    /** Runs one command whose output goes there. */
    public static Result into(final OutputStream out, final List<String> arguments)
    {
        final StringWriter err = new StringWriter();
        final int status = execute(arguments, CommandOutput.to(out, false), err);
        return new Result(status, new byte[0], err.toString());
    }

    private static int execute(final List<String> arguments, final CommandOutput out, final StringWriter err)
    {
        return VerbenaCommand.execute(VerbenaCommand.commandLine(false).setErr(new PrintWriter(err)),
            arguments.toArray(new String[0]), out);
    }
}
