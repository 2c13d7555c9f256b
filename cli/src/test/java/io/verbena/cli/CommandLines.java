package io.verbena.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

/** Runs the command in this process, for tests in other packages. */
public final class CommandLines
{
    /** What a command said, and its status. */
    public record Result(int status, String out, String err)
    {
    }

    private CommandLines()
    {
    }

    /** Runs one command. */
    public static Result run(final List<String> arguments)
    {
        final StringWriter out = new StringWriter();
        final StringWriter err = new StringWriter();
        final int status = VerbenaCommand.commandLine(false)
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(arguments.toArray(new String[0]));
        return new Result(status, out.toString(), err.toString());
    }
}
