package io.verbena.cli.shell;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** The commands that only the shell has. */
public abstract class ShellOwnCommand implements Callable<Integer>
{
    /** In the order of the help. */
    public static final List<Map.Entry<String, Class<?>>> COMMANDS =
        List.of(Map.entry("use", Use.class), Map.entry("help", Help.class), Map.entry("exit", Exit.class));

    final ShellSession session;

    ShellOwnCommand(final ShellSession session)
    {
        this.session = session;
    }

    /** A command of a session, or null where it is none of these. */
    static Object make(final Class<?> type, final ShellSession session)
    {
        if (Use.class == type)
        {
            return new Use(session);
        }
        if (Help.class == type)
        {
            return new Help(session);
        }
        return Exit.class == type ? new Exit(session) : null;
    }

    /** {@code use}. */
    @Command(name = "use", description = "Choose the table that is meant where a line names none.",
        defaultValueProvider = SettingsProvider.class)
    static final class Use extends ShellOwnCommand
    {
        @Mixin
        private ClientOptions clientOptions;

        @Parameters(paramLabel = "TABLE", description = "Name of a table that is there.")
        private String table;

        private Use(final ShellSession session)
        {
            super(session);
        }

        @Override
        public Integer call()
        {
            return clientOptions.with((client) ->
            {
                client.table(table);
                session.use(table);
                return ExitStatus.OK;
            });
        }
    }

    /** {@code help}. */
    @Command(name = "help", description = "List the commands, or print the help of one.")
    static final class Help extends ShellOwnCommand
    {
        @Spec
        private CommandSpec spec;

        @Parameters(arity = "0..1", paramLabel = "COMMAND", description = "A command.")
        private String command;

        private Help(final ShellSession session)
        {
            super(session);
        }

        @Override
        public Integer call()
        {
            final CommandOutput out = CommandOutput.of(spec);
            final CommandLine all = session.line("", "");
            if (null != command)
            {
                final CommandLine one = all.getSubcommands().get(command);
                if (null == one)
                {
                    throw new CommandFailedException(
                        ExitStatus.USAGE, "unknown command '" + command + "': 'help' lists the commands", null);
                }
                one.usage(out);
                return ExitStatus.OK;
            }
            all.getSubcommands().forEach((name, line) ->
            {
                if (name.equals(line.getCommandName()))
                {
                    out.printf("  %-10s %s%n", name, firstSentence(line.getCommandSpec()));
                }
            });
            out.println("'help COMMAND' prints more. Words are quoted as in bash: 'a b', \"it's\"; --hex takes bytes.");
            return ExitStatus.OK;
        }
    }

    private static String firstSentence(final CommandSpec command)
    {
        return command.usageMessage().description()[0].replaceFirst("[.:;] .*", ".");
    }

    /** {@code exit}, {@code quit}. */
    @Command(name = "exit", aliases = "quit", description = "End the shell, as Ctrl-D does.")
    static final class Exit extends ShellOwnCommand
    {
        private Exit(final ShellSession session)
        {
            super(session);
        }

        @Override
        public Integer call()
        {
            session.end();
            return ExitStatus.OK;
        }
    }
}
