package io.verbena.cli;

import java.io.PrintWriter;
import java.io.Writer;

/**
 * The main class of the node that an AOT cache is made from: a compute node as any other, understood without the
 * library for command lines, and before that what the other commands need of the library. Stateless.
 */
public final class TrainingRun
{
    private TrainingRun()
    {
    }

    /**
     * Runs the node.
     *
     * @param args its whole command line.
     */
    public static void main(final String[] args)
    {
        VerbenaCommand.commandLine(false, args[0]).parseArgs(args);
        VerbenaCommand.commandLine(false).setOut(new PrintWriter(Writer.nullWriter())).execute("version");
        VerbenaCommand.main(args);
    }
}
