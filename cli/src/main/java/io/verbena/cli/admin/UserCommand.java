package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.TableRight;
import io.verbena.protocol.access.User;
import io.verbena.protocol.message.TableName;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

/** {@code verbena user}. */
@Command(
    name = "user",
    description = "Users, and what each may do. As long as there is none, everybody with the cluster's token, and " +
        "every client of Redis, may do everything; from the first one on, clients connect as users, or with the token.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
        UserCommand.AddCommand.class,
        UserCommand.GrantCommand.class,
        UserQuotaCommand.class,
        UserCommand.SecretCommand.class,
        UserCommand.ListCommand.class,
        UserCommand.RemoveCommand.class})
public final class UserCommand implements Runnable
{
    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    /** Reads {@code RIGHTS:TABLE[:PREFIX]}. */
    private static Grant grant(final String text)
    {
        final String[] parts = text.split(":", 3);
        if (parts.length < 2)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--grant " + text +
                ": write RIGHTS:TABLE or RIGHTS:TABLE:PREFIX, such as read,write:orders", null);
        }
        return grant(parts[0], parts[1], parts.length < 3 ? "" : parts[2]);
    }

    private static Grant grant(final String rights, final String table, final String prefix)
    {
        final int set = TableRight.parse(rights);
        if (0 == set)
        {
            throw new CommandFailedException(ExitStatus.USAGE,
                "rights '" + rights + "': some of read, write, admin, with commas between", null);
        }
        if (!Grant.ALL_TABLES.equals(table) && null != TableName.problem(table))
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, TableName.problem(table) + "; '*' is all tables", null);
        }
        return new Grant(table, set, prefix.getBytes(StandardCharsets.UTF_8));
    }

    /** {@code verbena user add}. */
    @Command(
        name = "add",
        description = "Make a user. From the first one on, who has neither a user nor the token may do nothing.",
        defaultValueProvider = SettingsProvider.class)
    static final class AddCommand implements Callable<Integer>
    {
        @Mixin
        private ClientOptions clientOptions;

        @Mixin
        private NewSecret secret;

        @Parameters(paramLabel = "NAME", description = "Of the user.")
        private String name;

        @Option(names = "--grant", paramLabel = "RIGHTS:TABLE[:PREFIX]", description = "Rights, some of read, write, " +
            "admin, on a table or on all ('*'), for keys that begin so. Repeat it for more.")
        private List<String> grants = List.of();

        @Override
        public Integer call()
        {
            UserCalls.requireName(name);
            final List<Grant> parsed = grants.stream().map(UserCommand::grant).toList();
            final SecretVerifier verifier = secret.read(name);
            try (MetaCalls meta = clientOptions.openMeta())
            {
                UserCalls.put(meta, new User(name, 0, 0, 0, verifier, parsed), clientOptions.timeoutNs());
            }
            return ExitStatus.OK;
        }
    }

    /** {@code verbena user grant}. */
    @Command(
        name = "grant",
        description = "Give a user rights on a table, in the place of those that it has there for keys with the same " +
            "prefix. Every node has heard of it within the lease, 5 s unless the meta server has another.",
        defaultValueProvider = SettingsProvider.class)
    static final class GrantCommand implements Callable<Integer>
    {
        private static final String NOTHING = "none";

        @Mixin
        private ClientOptions clientOptions;

        @Parameters(index = "0", paramLabel = "NAME", description = "Of the user.")
        private String name;

        @Parameters(index = "1", paramLabel = "RIGHTS", description = "Some of read, write, admin, with commas " +
            "between; 'none' takes the rights away.")
        private String rights;

        @Parameters(index = "2", paramLabel = "TABLE", description = "Name of the table, there or not; '*': all.")
        private String table;

        @Option(names = "--prefix", paramLabel = "TEXT", defaultValue = "",
            description = "Only for keys that begin so. Scans need the whole table.")
        private String prefix;

        @Override
        public Integer call()
        {
            final boolean isTaken = NOTHING.equalsIgnoreCase(rights);
            final Grant wanted = grant(isTaken ? "read" : rights, table, prefix);
            try (MetaCalls meta = clientOptions.openMeta())
            {
                final User user = UserCalls.user(meta, name, clientOptions.timeoutNs());
                final List<Grant> grants = new ArrayList<>(user.grants());
                final boolean isPresent = grants.removeIf((grant) -> grant.table().equals(table) &&
                    Arrays.equals(grant.prefix(), wanted.prefix()));
                if (isTaken && !isPresent)
                {
                    throw new CommandFailedException(ExitStatus.FAILED,
                        "user '" + name + "' has no rights on table '" + table + "' with this prefix", null);
                }
                if (!isTaken)
                {
                    grants.add(wanted);
                }
                UserCalls.put(meta, user.withGrants(grants), clientOptions.timeoutNs());
            }
            return ExitStatus.OK;
        }
    }

    /** {@code verbena user secret}. */
    @Command(
        name = "secret",
        description = "Give a user another secret. Clients that have connected with the old one may do nothing more.",
        defaultValueProvider = SettingsProvider.class)
    static final class SecretCommand implements Callable<Integer>
    {
        @Mixin
        private ClientOptions clientOptions;

        @Mixin
        private NewSecret secret;

        @Parameters(paramLabel = "NAME", description = "Of the user.")
        private String name;

        @Override
        public Integer call()
        {
            UserCalls.requireName(name);
            final SecretVerifier verifier = secret.read(name);
            try (MetaCalls meta = clientOptions.openMeta())
            {
                final User user = UserCalls.user(meta, name, clientOptions.timeoutNs());
                UserCalls.put(meta, user.withVerifier(verifier), clientOptions.timeoutNs());
            }
            return ExitStatus.OK;
        }
    }

    /** {@code verbena user list}. */
    @Command(
        name = "list",
        description = "Print users, their rights and their quotas.",
        defaultValueProvider = SettingsProvider.class)
    static final class ListCommand implements Callable<Integer>
    {
        @Spec
        private CommandSpec spec;

        @Mixin
        private ClientOptions clientOptions;

        @Override
        public Integer call()
        {
            final PrintWriter out = spec.commandLine().getOut();
            try (MetaCalls meta = clientOptions.openMeta())
            {
                final List<User> users = UserCalls.users(meta, clientOptions.timeoutNs());
                for (final User user : users)
                {
                    out.println(user.name() + (user.grants().isEmpty() ? ": no rights" : ":"));
                    user.grants().forEach((grant) -> out.println("    " + grant));
                    if (!user.quota().isNone())
                    {
                        out.println("    " + user.quota());
                    }
                }
                if (users.isEmpty())
                {
                    out.println("no users: who has the cluster's token may do everything");
                }
            }
            out.flush();
            return ExitStatus.OK;
        }
    }

    /** {@code verbena user remove}. */
    @Command(
        name = "remove",
        description = "Remove a user. With the last one, rights count no more: everybody may do everything again.",
        defaultValueProvider = SettingsProvider.class)
    static final class RemoveCommand implements Callable<Integer>
    {
        @Mixin
        private ClientOptions clientOptions;

        @Parameters(paramLabel = "NAME", description = "Of the user.")
        private String name;

        @Override
        public Integer call()
        {
            UserCalls.requireName(name);
            try (MetaCalls meta = clientOptions.openMeta())
            {
                meta.result((client) -> client.removeUser(name, clientOptions.timeoutNs()));
            }
            return ExitStatus.OK;
        }
    }
}
