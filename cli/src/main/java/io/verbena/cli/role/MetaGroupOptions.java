package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.meta.raft.GroupOptions;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.server.MetaGroupRole;

import org.agrona.concurrent.UnsafeBuffer;
import picocli.CommandLine.Option;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

import static io.verbena.raas.identity.IdentitySecret.LENGTH_BYTES;

/** What makes a meta server one of a group. */
final class MetaGroupOptions
{
    private static final int FEWEST = 3;
    private static final int MOST = 5;

    @Option(names = "--peers", paramLabel = "HOST:PORT,...",
        description = "Where the members of a group of 3 or 5 meta servers reach each other; the same list at each. " +
            "Default: alone.")
    private String peers;

    @Option(names = "--member", paramLabel = "N", description = "Which of --peers this is.")
    private Integer member;

    @Option(names = "--new-group", description = "Make the group: when its members first start.")
    private boolean isNew;

    boolean isGroup()
    {
        if (null == peers && (null != member || isNew))
        {
            throw usage((isNew ? "--new-group" : "--member " + member) + " goes with --peers: give the list of all");
        }
        return null != peers;
    }

    /** The address of this one among the others, or null when it is alone. */
    String host()
    {
        return isGroup() ? list().get(memberNumber() - 1).host() : null;
    }

    GroupOptions options(final ClusterToken token, final Path data)
    {
        return new GroupOptions(groupId(token), memberNumber(),
            list().stream().map((peer) -> peer.host() + ':' + peer.port()).toList(),
            data.resolve(MetaGroupRole.FOLDER), isNew);
    }

    /** Servers with another token are no members, whatever their addresses. */
    private static UUID groupId(final ClusterToken token)
    {
        final ByteBuffer bytes = ByteBuffer.allocate(LENGTH_BYTES);
        token.clusterSecret().derive("verbena meta group", 0, 0).write(new UnsafeBuffer(bytes), 0);
        return new UUID(bytes.getLong(0), bytes.getLong(Long.BYTES));
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
        final List<ClusterAddress> all;
        try
        {
            all = ClusterAddress.parse(peers).all();
        }
        catch (final BootstrapException ex)
        {
            throw usage("--peers: " + ex.getMessage());
        }
        if (all.size() != FEWEST && all.size() != MOST)
        {
            throw usage("--peers names " + all.size() + " meta servers: a group has " + FEWEST + " or " + MOST);
        }
        for (final ClusterAddress peer : all)
        {
            if (0 == peer.port() || !peers.contains(":" + peer.port()) ||
                1 != all.stream().filter(peer::equals).count())
            {
                throw usage("--peers: " + peer.host() + ':' + peer.port() +
                    " must have a port, and be there once");
            }
        }
        return all;
    }

    private static CommandFailedException usage(final String message)
    {
        return new CommandFailedException(ExitStatus.USAGE, message, null);
    }
}
