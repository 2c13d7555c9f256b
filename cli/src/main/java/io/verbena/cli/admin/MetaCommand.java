package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.role.PeerAddresses;
import io.verbena.cli.role.RoleOptions;
import io.verbena.load.report.TextTable;
import io.verbena.meta.raft.GroupAdministration;
import io.verbena.meta.raft.GroupChangeException;
import io.verbena.meta.raft.MemberStat;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.server.MetaGroupKey;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** {@code verbena meta}. */
@Command(
    name = "meta",
    description = "Members of a group of meta servers.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
        MetaCommand.ListCommand.class,
        MetaCommand.AddCommand.class,
        MetaCommand.RemoveCommand.class,
        MetaCommand.MoveLeaderCommand.class,
        MetaRecoverCommand.class})
public final class MetaCommand implements Runnable
{
    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    /** How a command reaches the group. */
    static final class GroupAccess
    {
        private static final String RATIS_LOG_LEVEL = "org.slf4j.simpleLogger.log.org.apache.ratis";

        @Option(names = "--peers", paramLabel = "HOST:PORT,...",
            description = "Where members of the group reach each other; one that answers is enough. Default: those " +
                "of the cluster in the folder.")
        private String peers;

        @Option(names = "--token-file", paramLabel = "FILE",
            description = "File with the cluster's token. Default: the one in the folder.")
        private Path tokenFile;

        @Option(names = "--data", paramLabel = "DIR",
            description = "Folder of the cluster. Default: ~/.verbena/cluster.")
        private Path data;

        @Option(names = "--timeout-ms", paramLabel = "MS", defaultValue = "30000",
            description = "For the change, 1 or more. Default: ${DEFAULT-VALUE}.")
        private int timeoutMs;

        <T> T with(final Function<GroupAdministration, T> work)
        {
            if (timeoutMs < 1)
            {
                throw new CommandFailedException(
                    ExitStatus.USAGE, "--timeout-ms " + timeoutMs + ": must be 1 or more", null);
            }
            // What the library says of an address that does not answer, the command says in one line.
            System.setProperty(RATIS_LOG_LEVEL, System.getProperty(RATIS_LOG_LEVEL, "off"));
            final ClusterFolder folder = ClusterFolder.of(data);
            final String known = null == peers ? folder.peers() : peers;
            if (null == known)
            {
                throw new CommandFailedException(ExitStatus.USAGE, "the cluster in " + folder.path() +
                    " has no group of meta servers: give --peers and --token-file of one", null);
            }
            try (GroupAdministration group = new GroupAdministration(
                MetaGroupKey.of(ClusterToken.read(null == tokenFile ? folder.token() : tokenFile)),
                PeerAddresses.parse("--peers", known).stream().map(GroupAccess::text).toList(),
                TimeUnit.MILLISECONDS.toNanos(timeoutMs)))
            {
                return work.apply(group);
            }
            catch (final BootstrapException ex)
            {
                throw RoleOptions.failed(ex);
            }
            catch (final GroupChangeException ex)
            {
                throw new CommandFailedException(switch (ex.category())
                {
                    case REFUSED -> ExitStatus.FAILED;
                    case UNAVAILABLE -> ExitStatus.UNAVAILABLE;
                    case OUTCOME_UNKNOWN -> ExitStatus.UNKNOWN;
                }, ex.getMessage(), ex);
            }
        }

        private static String text(final ClusterAddress address)
        {
            return address.host() + ':' + address.port();
        }

        static String address(final String value)
        {
            final List<ClusterAddress> all = PeerAddresses.parse(value, value);
            if (1 != all.size())
            {
                throw new CommandFailedException(ExitStatus.USAGE, value + ": give one address, HOST:PORT", null);
            }
            return text(all.getFirst());
        }
    }

    /** {@code verbena meta list}. */
    @Command(
        name = "list",
        description = "Print the members, who leads, and how far each is behind.",
        footer = {"", "Exit status 0: one leads, and all answer; 1: one leads, and another does not answer; 69: none " +
            "leads."},
        defaultValueProvider = SettingsProvider.class)
    static final class ListCommand implements Callable<Integer>
    {
        @Spec
        private CommandSpec spec;

        @Mixin
        private GroupAccess access;

        @Override
        public Integer call()
        {
            final List<MemberStat> members = access.with(GroupAdministration::members);
            final long last = members.stream().mapToLong(MemberStat::commitIndex).max().orElse(-1);
            final TextTable table = new TextTable()
                .row("MEMBER", "ADDRESS", "STATE", "TERM", "COMMITTED", "APPLIED", "LAG", "SNAPSHOT");
            members.forEach((member) -> table.row(member.name().isEmpty() ? "-" : member.name(), member.address(),
                state(member), figure(member, member.term()), figure(member, member.commitIndex()),
                figure(member, member.appliedIndex()), figure(member, last - member.appliedIndex()),
                figure(member, member.snapshotIndex())));
            spec.commandLine().getOut().print(table);
            if (members.stream().noneMatch(MemberStat::isLeader))
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, members.stream()
                    .filter(MemberStat::isAnswering).count() + " of " + members.size() +
                    " answer, and none leads: start the others", null);
            }
            return members.stream().filter(MemberStat::isMember).allMatch(MemberStat::isAnswering) ?
                ExitStatus.OK : ExitStatus.FAILED;
        }

        private static String state(final MemberStat member)
        {
            return !member.isAnswering() ? "silent" : !member.isMember() ? "not a member" :
                member.isLeader() ? "leader" : "follower";
        }

        private static String figure(final MemberStat member, final long value)
        {
            return member.isAnswering() ? Long.toString(value) : "-";
        }
    }

    /** {@code verbena meta add}. */
    @Command(
        name = "add",
        description = "Make a server a member, which runs as 'meta-server --join HOST:PORT'. It is sent all that the " +
            "group knows, and votes from then on.",
        defaultValueProvider = SettingsProvider.class)
    static final class AddCommand implements Callable<Integer>
    {
        @Spec
        private CommandSpec spec;

        @Mixin
        private GroupAccess access;

        @Parameters(paramLabel = "HOST:PORT", description = "What its --join names.")
        private String address;

        @Override
        public Integer call()
        {
            final String at = GroupAccess.address(address);
            spec.commandLine().getOut().println(access.with((group) -> group.add(at)) + " at " + at + " is a member");
            return ExitStatus.OK;
        }
    }

    /** {@code verbena meta remove}. */
    @Command(
        name = "remove",
        description = "Remove a member, whether it answers or not; its process ends. When it leads, another one does " +
            "first. Refused when those that are left and answer would be fewer than a majority.",
        defaultValueProvider = SettingsProvider.class)
    static final class RemoveCommand implements Callable<Integer>
    {
        @Spec
        private CommandSpec spec;

        @Mixin
        private GroupAccess access;

        @Parameters(paramLabel = "MEMBER", description = "Its name or HOST:PORT, as 'meta list' prints them.")
        private String member;

        @Option(names = "--fewer", description = "Also when the group stops then with the next death.")
        private boolean isFewerMeant;

        @Override
        public Integer call()
        {
            spec.commandLine().getOut().println(
                access.with((group) -> group.remove(member, isFewerMeant)) + " is no member any more");
            return ExitStatus.OK;
        }
    }

    /** {@code verbena meta move-leader}. */
    @Command(
        name = "move-leader",
        description = "Have another member lead, as before its host is stopped.",
        defaultValueProvider = SettingsProvider.class)
    static final class MoveLeaderCommand implements Callable<Integer>
    {
        @Spec
        private CommandSpec spec;

        @Mixin
        private GroupAccess access;

        @Parameters(paramLabel = "MEMBER", description = "Its name or HOST:PORT, as 'meta list' prints them.")
        private String member;

        @Override
        public Integer call()
        {
            spec.commandLine().getOut().println(access.with((group) -> group.moveLeader(member)) + " leads");
            return ExitStatus.OK;
        }
    }
}
