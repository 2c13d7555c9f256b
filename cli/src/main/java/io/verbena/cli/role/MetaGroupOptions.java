package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.meta.raft.GroupOptions;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.server.MetaGroupKey;
import io.verbena.server.MetaGroupRole;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.List;

/** What makes a meta server one of a group. */
final class MetaGroupOptions
{
    private static final int FEWEST = 3;
    private static final int MOST = 5;

    @Option(names = "--peers", paramLabel = "HOST:PORT,...",
        description = "Where the 3 or 5 members of a new group reach each other; the same at each. Default: alone.")
    private String peers;

    @Option(names = "--member", paramLabel = "N", description = "Which of --peers this is.")
    private Integer member;

    @Option(names = "--new-group", description = "Make the group: when its members first start.")
    private boolean isNew;

    @Option(names = "--join", paramLabel = "HOST:PORT",
        description = "Where the others reach this one, which joins a group by 'meta add'.")
    private String join;

    boolean isGroup()
    {
        if (null != join)
        {
            if (null != peers || null != member || isNew)
            {
                throw usage("--join " + join + " is for a member that comes later: leave out " +
                    (null != peers ? "--peers" : null != member ? "--member" : "--new-group"));
            }
            return true;
        }
        if (null == peers && (null != member || isNew))
        {
            throw usage((isNew ? "--new-group" : "--member " + member) + " goes with --peers: give the list of all");
        }
        return null != peers;
    }

    GroupOptions options(final ClusterToken token, final Path data)
    {
        if (null != join)
        {
            return GroupOptions.join(
                MetaGroupKey.of(token), own().host() + ':' + own().port(), data.resolve(MetaGroupRole.FOLDER));
        }
        return new GroupOptions(MetaGroupKey.of(token), memberNumber(),
            list().stream().map((peer) -> peer.host() + ':' + peer.port()).toList(),
            data.resolve(MetaGroupRole.FOLDER), isNew);
    }

    private ClusterAddress own()
    {
        final List<ClusterAddress> all = PeerAddresses.parse("--join", join);
        if (1 != all.size())
        {
            throw usage("--join " + join + ": give the one address of this server");
        }
        return all.getFirst();
    }

    private int memberNumber()
    {
        if (null == member || member < 1 || member > list().size())
        {
            throw usage("--member " + (null == member ? "is missing" : member) + ": which of the " + list().size() +
                " --peers is this, 1 to " + list().size() + '?');
        }
        return member;
    }

    private List<ClusterAddress> list()
    {
        final List<ClusterAddress> all = PeerAddresses.parse("--peers", peers);
        if (all.size() != FEWEST && all.size() != MOST)
        {
            throw usage("--peers names " + all.size() + " meta servers: a group has " + FEWEST + " or " + MOST);
        }
        return all;
    }

    private static CommandFailedException usage(final String message)
    {
        return new CommandFailedException(ExitStatus.USAGE, message, null);
    }
}
