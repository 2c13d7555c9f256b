package io.verbena.meta.raft;

import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.protocol.bootstrap.LastingPort;

import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A group of two members in this process, which elects a leader, has it take the leadership, and ends: a member that
 * is elected for the first time since its start loads that code of the library while the cluster waits for it. The
 * group has an identity of its own, two ports of loopback, and a folder that is deleted. Stateless.
 */
public final class GroupRehearsal
{
    private static final String LOOPBACK = "127.0.0.1";
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long NAP_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private GroupRehearsal()
    {
    }

    /**
     * Runs it.
     *
     * @param group       that no other group has.
     * @param folder      does not exist, or is left of an earlier one; deleted in the end.
     * @param clock       of the member.
     * @param isCancelled asked all the while; any thread.
     * @return whether a leader was elected, and wrote and read; false when that took too long or was cancelled.
     * @throws IOException        when there are no ports, or the folder cannot be deleted.
     * @throws MetaStoreException when a member cannot start.
     */
    public static boolean run(
        final GroupKey group, final Path folder, final NanoClock clock, final BooleanSupplier isCancelled)
        throws IOException
    {
        discard(folder);
        final List<String> peers = List.of(LOOPBACK + ':' + freePort(), LOOPBACK + ':' + freePort());
        RaftMember first = null;
        RaftMember second = null;
        try
        {
            first = RaftMember.open(new GroupOptions(group, 1, peers, folder.resolve("1"), true));
            second = RaftMember.open(new GroupOptions(group, 2, peers, folder.resolve("2"), true));
            final RaftMember leader = first;
            final RaftMember other = second;
            // The other one gives way, if it was elected, when it is asked.
            return await(() -> !other.mayLead() && leader.mayLead(), clock, isCancelled) &&
                lead(leader, clock, isCancelled);
        }
        finally
        {
            // The leader first: it would go on looking for the other one.
            CloseHelper.closeAll(first, second);
            discard(folder);
        }
    }

    private static boolean lead(
        final RaftMember member, final NanoClock clock, final BooleanSupplier isCancelled)
    {
        final CompletableFuture<Boolean> taken = member.append(MetaCommand.takeLeadership(0, member.name()));
        if (!await(taken::isDone, clock, isCancelled) || taken.isCompletedExceptionally())
        {
            return false;
        }
        final CompletableFuture<Long> leadership = member.latestLeadership();
        return await(leadership::isDone, clock, isCancelled) && !leadership.isCompletedExceptionally();
    }

    private static boolean await(
        final BooleanSupplier condition, final NanoClock clock, final BooleanSupplier isCancelled)
    {
        final long endNs = clock.nanoTime() + STEP_NS;
        while (!condition.getAsBoolean())
        {
            if (isCancelled.getAsBoolean() || clock.nanoTime() - endNs > 0)
            {
                return false;
            }
            LockSupport.parkNanos(NAP_NS);
        }
        return true;
    }

    private static int freePort() throws IOException
    {
        try (ServerSocket socket = new ServerSocket())
        {
            LastingPort.bind(socket, InetAddress.getByName(LOOPBACK), 1);
            return socket.getLocalPort();
        }
    }

    /**
     * Deletes what a rehearsal leaves behind when its process is killed.
     *
     * @param folder of it, in which none runs now; there or not.
     * @throws IOException when it cannot be deleted.
     */
    public static void discard(final Path folder) throws IOException
    {
        if (Files.exists(folder))
        {
            try (Stream<Path> files = Files.walk(folder))
            {
                for (final Path file : files.sorted(Comparator.reverseOrder()).toList())
                {
                    Files.deleteIfExists(file);
                }
            }
        }
    }
}
