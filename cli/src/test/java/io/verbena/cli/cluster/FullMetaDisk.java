package io.verbena.cli.cluster;

import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A group of meta servers two of which have their data on file systems of their own, which are full at times: first
 * that of a follower, then that of the leader, while nodes register and tables come and go. A process, because the file
 * systems are mounted in the mount namespace of it and of its children only.
 */
public final class FullMetaDisk
{
    /** More than the log of all calls of the test, so that only a disk that was filled is full. */
    private static final String SIZE = "64m";
    private static final String SAID = "the log cannot be written: java.io.IOException: No space left on device";
    private static final String LOGGED = "this member of the group stops: ";
    /** By itself, and by the three of the group within its process on which it warms up. */
    private static final int MOST_LOGGED = 4;
    private static final long LEAD_NS = TimeUnit.SECONDS.toNanos(150);
    private static final long SEED = 1;

    private final MountedCluster cluster;
    private final CalledGroup group;

    private FullMetaDisk(final Path folder)
    {
        cluster = new MountedCluster(folder);
        group = new CalledGroup(folder, "full disks");
    }

    /** @param args folder of the cluster; it has those of members 2 and 3. */
    public static void main(final String[] args) throws Exception
    {
        final Path folder = Path.of(args[0]);
        for (int member = 2; member <= CalledGroup.MEMBERS; member++)
        {
            MountedCluster.mount("-t", "tmpfs", "-o", "size=" + SIZE + ",mode=700", "tmpfs",
                ClusterFolder.of(folder).metaServer(member).toString());
        }
        new FullMetaDisk(folder).run();
        System.out.println("PASSED");
    }

    private void run() throws Exception
    {
        try (group)
        {
            group.start("full");
            try
            {
                group.beginCalls(new Random(SEED));
                group.awaitMore();
                final Entry leader = group.awaitLeader();
                fill(group.members().reversed().stream().filter((entry) -> !entry.name().equals(leader.name()))
                    .findFirst().orElseThrow(), "follower");
                if (Boolean.getBoolean(MetaGroupFullDiskSystemTest.LEADER))
                {
                    fill(awaitLeaderWithADisk(), "leader");
                }
            }
            finally
            {
                group.endCalls();
            }
            group.check();
        }
    }

    /** Whoever has no file system of its own gives the lead to another one; while none leads, the command says so. */
    private Entry awaitLeaderWithADisk()
    {
        final long sinceNs = System.nanoTime();
        Entry leader = group.awaitLeader();
        while ("meta-server-1".equals(leader.name()))
        {
            if (System.nanoTime() - sinceNs > LEAD_NS)
            {
                throw new AssertionError("the lead was not moved");
            }
            cluster.run("meta", "move-leader", "meta-2");
            leader = group.awaitLeader();
        }
        return leader;
    }

    /**
     * Until the member has ended and the others go on; then there is room again, and it comes back, or is refused: the
     * library may have left its file of terms empty, and who cannot say how it has voted must not vote.
     */
    private void fill(final Entry member, final String role) throws Exception
    {
        final Path filler = data(member).resolve("filler");
        MountedCluster.fill(filler);
        CalledGroup.awaitEnd(member);
        group.awaitMore();
        System.out.println(role + " ended: " + said(member));
        cluster.expect(ExitStatus.FAILED, "", "status", "--no-tables");
        try
        {
            group.restart(member);
            CalledGroup.awaitEnd(group.members().stream().filter((entry) -> entry.name().equals(member.name()))
                .findFirst().orElseThrow());
            System.out.println(role + " started again on a full disk, and ended: " + said(member));
        }
        catch (final CommandFailedException ex)
        {
            System.out.println(role + " not started on a full disk: " + ex.getMessage());
        }
        group.awaitMore();
        Files.delete(filler);
        try
        {
            group.restart(member);
        }
        catch (final CommandFailedException ex)
        {
            if (!ex.getMessage().contains("'term' not found"))
            {
                throw ex;
            }
            System.out.println(role + " refused, to be replaced: " + ex.getMessage());
            group.leaveOut(member);
        }
        group.awaitMore();
    }

    private Path data(final Entry member)
    {
        return group.folder().metaServer(member.name().charAt(member.name().length() - 1) - '0');
    }

    /** The one line for people; each member logs once why it ended, however many entries could not be written. */
    private String said(final Entry member) throws IOException
    {
        final List<String> all = Files.readAllLines(group.folder().logs().resolve(member.name() + ".log"));
        final List<String> said = all.stream().filter((line) -> line.startsWith("verbena: ")).toList();
        final List<String> logged = all.stream().filter((line) -> line.contains(LOGGED)).toList();
        if (1 != said.size() || !said.getFirst().contains(SAID) ||
            logged.isEmpty() || MOST_LOGGED < logged.size())
        {
            throw new AssertionError(member.name() + " said " + said + " and logged " + logged);
        }
        return said.getFirst();
    }
}
