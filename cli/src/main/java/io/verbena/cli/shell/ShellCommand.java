package io.verbena.cli.shell;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.console.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;

/** {@code verbena shell}. */
@Command(
    name = "shell",
    description = "Execute commands on records and tables, one a line, over one connection. Without a terminal, " +
        "lines come from standard input, and the first that fails ends the shell with its status.",
    footer = {"", "'help' lists the commands of the shell. Tab completes, Ctrl-R searches the history, Ctrl-C ends " +
        "the command that runs, Ctrl-D or 'exit' ends the shell."},
    defaultValueProvider = SettingsProvider.class)
public final class ShellCommand implements Callable<Integer>
{
    /** What the client logs, a command that fails says too, and a prompt is no place for a log. */
    private static final Logger CLIENT_LOG = Logger.getLogger("io.verbena.client");

    private final ShellLines lines;
    private final Map<String, String> environment;
    private final InputStream in;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Option(names = {"-t", "--table"}, paramLabel = "NAME", defaultValue = "default",
        description = "Table that is meant where a line names none. Default: ${DEFAULT-VALUE}.")
    private String table;

    @Option(names = "--keep-going",
        description = "Execute all lines of standard input; the status is that of the first that failed.")
    private boolean keepGoing;

    /**
     * Made by the root of the commands.
     *
     * @param lines       makes the command line of each line.
     * @param environment of the process, whose settings hold for the lines, too.
     * @param in          where lines come from without a terminal.
     */
    public ShellCommand(final ShellLines lines, final Map<String, String> environment, final InputStream in)
    {
        this.lines = lines;
        this.environment = environment;
        this.in = in;
    }

    @Override
    public Integer call()
    {
        final CommandOutput out = CommandOutput.of(spec);
        final PrintWriter err = spec.commandLine().getErr();
        out.endValues();
        CLIENT_LOG.setLevel(Level.OFF);
        final Map<String, String> settings = new HashMap<>(environment);
        settings.putAll(clientOptions.settings());
        try (ShellSession session = new ShellSession(lines, settings, table, out, err))
        {
            return Terminal.isInteractive() ? new ShellTerminal(session).run(out) : batch(session, err);
        }
    }

    private int batch(final ShellSession session, final PrintWriter err)
    {
        int status = ExitStatus.OK;
        try
        {
            final BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
            int number = 0;
            for (String line = reader.readLine(); null != line && !session.isOver(); line = reader.readLine())
            {
                number++;
                final String place = "line " + number + ": ";
                ShellWords words = ShellWords.of(line);
                for (String more = ""; words.isOpen(); words = ShellWords.of(line))
                {
                    more = reader.readLine();
                    if (null == more)
                    {
                        err.println("verbena: " + place + words.open() + " is not closed");
                        err.flush();
                        return ExitStatus.OK == status ? ExitStatus.USAGE : status;
                    }
                    number++;
                    line += "\n" + more;
                }
                final int ended = session.execute(words.words(), place);
                status = ExitStatus.OK == status ? ended : status;
                if (ExitStatus.OK != status && !keepGoing)
                {
                    return status;
                }
            }
            return status;
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.BAD_DATA, "standard input cannot be read (" + ex.getMessage() + ")", ex);
        }
    }
}
