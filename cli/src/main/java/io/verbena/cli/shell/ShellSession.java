package io.verbena.cli.shell;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.SharedClient;
import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvException;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Executes lines, one after the other, over one connection. Used by one thread, but {@link #interrupt()}, which any may
 * call.
 */
final class ShellSession implements AutoCloseable
{
    private static final Set<String> OWN_NAME = Set.of("verbena", "./verbena");
    private static final Set<String> STANDARD_INPUT = Set.of("-", "/dev/stdin");
    /** Longer, a person takes the Tab key for one that does nothing. */
    private static final long TABLES_TIMEOUT_MS = 500;
    private static final String TABLE = "VERBENA_TABLE";

    private final ShellLines lines;
    private final Map<String, String> settings;
    private final CommandOutput out;
    private final PrintWriter err;
    private final SharedClient client = new SharedClient();
    private boolean isOver;

    /**
     * @param lines    makes command lines.
     * @param settings of options that lines do not have, by names of environment variables.
     * @param table    that is meant where a line names none.
     * @param out      takes what commands print.
     * @param err      takes errors.
     */
    ShellSession(
        final ShellLines lines, final Map<String, String> settings, final String table, final CommandOutput out,
        final PrintWriter err)
    {
        this.lines = lines;
        this.settings = new HashMap<>(settings);
        this.settings.put(TABLE, table);
        this.out = out;
        this.err = err;
    }

    /** The table that is meant where a line names none. */
    String table()
    {
        return settings.get(TABLE);
    }

    void use(final String table)
    {
        settings.put(TABLE, table);
    }

    /** Whether a line asked for the end, or nobody reads on. */
    boolean isOver()
    {
        return isOver || out.hasFailed();
    }

    void end()
    {
        isOver = true;
    }

    /** A line is read: interrupts so far were not for its command. */
    void begin()
    {
        client.begin();
    }

    /**
     * Executes a line.
     *
     * @param typed words of the line.
     * @param place what each message of an error begins with.
     * @return its exit status; an error has been printed.
     */
    int execute(final List<String> typed, final String place)
    {
        final List<String> words =
            !typed.isEmpty() && OWN_NAME.contains(typed.getFirst()) ? typed.subList(1, typed.size()) : typed;
        if (words.isEmpty())
        {
            return ExitStatus.OK;
        }
        final CommandLine line = line(words.getFirst(), place).setOut(out).setErr(err);
        final String[] arguments = words.toArray(new String[0]);
        final String refused = line.getSubcommands().containsKey(words.getFirst()) ?
            standardInput(line, arguments) :
            "unknown command '" + words.getFirst() + "': 'help' lists the commands";
        final int status;
        if (null == refused)
        {
            status = line.execute(arguments);
        }
        else
        {
            err.println("verbena: " + place + refused);
            status = ExitStatus.USAGE;
        }
        out.flush();
        err.flush();
        return status;
    }

    /** All commands, or one. */
    CommandLine line(final String first, final String place)
    {
        return lines.line(first, settings, this::part, place);
    }

    private Object part(final Class<?> type)
    {
        if (ClientOptions.class == type)
        {
            return new ClientOptions(client);
        }
        return ShellOwnCommand.make(type, this);
    }

    /** Standard input is where lines come from: a command that reads it would take them. */
    private static String standardInput(final CommandLine line, final String[] arguments)
    {
        try
        {
            for (ParseResult parsed = line.parseArgs(arguments); parsed.hasSubcommand();)
            {
                parsed = parsed.subcommand();
                for (final OptionSpec option : parsed.matchedOptions())
                {
                    if ("--stdin".equals(option.longestName()) || isStandardInput(option.getValue()))
                    {
                        return option.longestName() + ": the shell reads its lines from there; give a file";
                    }
                }
                if (parsed.matchedPositionals().stream().anyMatch((given) -> isStandardInput(given.getValue())))
                {
                    return "-: the shell reads its lines from there; give a file";
                }
            }
        }
        catch (final ParameterException ex)
        {
            return null; // execute() says why
        }
        return null;
    }

    private static boolean isStandardInput(final Object value)
    {
        return value instanceof final Path path && STANDARD_INPUT.contains(path.toString());
    }

    /** Names of tables for the Tab key, as far as they come at once. */
    List<String> tables()
    {
        try
        {
            return client.isOpen() ? client.names().get(TABLES_TIMEOUT_MS, TimeUnit.MILLISECONDS) : List.of();
        }
        catch (final KvException | ExecutionException | TimeoutException ex)
        {
            return List.of();
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    /** Ends the command that is being executed, or the next one when none is, unless a line begins before. */
    void interrupt()
    {
        client.interrupt();
    }

    @Override
    public void close()
    {
        client.close();
    }
}
