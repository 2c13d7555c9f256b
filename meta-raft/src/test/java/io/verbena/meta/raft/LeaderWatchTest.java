package io.verbena.meta.raft;

import org.agrona.CloseHelper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import static io.verbena.meta.raft.TestMembers.MEMBERS;
import static org.assertj.core.api.Assertions.assertThat;

/** Members of a group whose leader's process ends or stands still, and what one of them sees of the others' ports. */
@Timeout(300)
class LeaderWatchTest
{
    private static final int MOST_ENDS = 10;
    private static final int MOST_CONNECTED = 100;
    private static final int CONNECT_TIMEOUT_MS = 200;
    private static final long ELECTION_TIMEOUTS_NS = TimeUnit.SECONDS.toNanos(3);

    @TempDir
    private Path directory;

    private static long elections(final TestMembers members)
    {
        return IntStream.rangeClosed(1, MEMBERS).mapToObj(members::get).filter((member) -> null != member)
            .mapToLong(RaftMember::electionsAfterEnds).sum();
    }

    @Test
    void shouldStandWhenTheLeaderHasEnded()
    {
        try (TestMembers members = new TestMembers(directory, MEMBERS))
        {
            members.startNewGroup();
            long elections = 0;
            // On a busy machine, on which a member takes long to close its port, the library may be the first.
            for (int end = 0; end < MOST_ENDS && 0 == elections; end++)
            {
                final int ended = members.leader();
                final long before = elections(members) - members.get(ended).electionsAfterEnds();
                members.stop(ended);
                members.leader();
                elections += elections(members) - before;
                members.start(ended, false);
                final long applied = members.get(members.leader()).state().index();
                TestMembers.await(() -> members.get(ended).state().index() >= applied);
            }
            assertThat(elections).isPositive();
        }
    }

    @Test
    void shouldNotStandAloneWhenItReachesNoMajority()
    {
        try (TestMembers members = new TestMembers(directory, MEMBERS))
        {
            members.startNewGroup();
            final int leader = members.leader();
            final int last = 1 + leader % MEMBERS;
            members.stop(1 + last % MEMBERS);
            members.stop(leader);
            final long term = members.get(last).stat().term();
            LockSupport.parkNanos(ELECTION_TIMEOUTS_NS);
            assertThat(elections(members)).isZero();
            assertThat(members.get(last).stat().term()).as("nor does the library without votes").isEqualTo(term);
        }
    }

    @Test
    void shouldLeaveALeaderThatStandsStillToTheTimeout()
    {
        try (TestMembers members = new TestMembers(directory, MEMBERS))
        {
            members.useLinks();
            members.startNewGroup();
            final int silent = members.leader();
            IntStream.rangeClosed(1, MEMBERS).filter((other) -> other != silent)
                .forEach((other) -> members.links().cut(silent, other));
            TestMembers.await(() -> silent != members.leader());
            assertThat(elections(members)).isZero();
        }
    }

    /** A member as the watch sees it, beside ports that accept or refuse. */
    private static final class Seen implements LeaderWatch.Follower
    {
        private final SortedMap<String, String> addresses = new TreeMap<>();
        private long term = 1;
        private long silentMs = LeaderWatch.LATE_MS;
        private boolean isFollower = true;
        private int stood;

        @Override
        public LeaderWatch.Following following()
        {
            return isFollower ? new LeaderWatch.Following("meta-2", term, silentMs, addresses) : null;
        }

        @Override
        public boolean stand(final LeaderWatch.Following following)
        {
            stood++;
            return true;
        }
    }

    private static String address(final ServerSocket socket)
    {
        return "127.0.0.1:" + socket.getLocalPort();
    }

    private static ServerSocket listen() throws IOException
    {
        return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    @Test
    void shouldStandOnceInEachTermThatRefusesItsFirstInTurn() throws IOException
    {
        final Seen seen = new Seen();
        final LeaderWatch first = new LeaderWatch("meta-1", seen);
        final LeaderWatch last = new LeaderWatch("meta-3", seen);
        try (ServerSocket other = listen(); ServerSocket leader = listen())
        {
            seen.addresses.put("meta-1", address(other));
            seen.addresses.put("meta-3", address(other));
            seen.addresses.put("meta-2", address(leader));
            first.look();
            assertThat(seen.stood).as("it accepts").isZero();
            CloseHelper.close(leader);
            seen.silentMs = LeaderWatch.LATE_MS - 1;
            first.look();
            assertThat(seen.stood).as("its heartbeat is not late").isZero();
            seen.silentMs = LeaderWatch.LATE_MS + LeaderWatch.TURN_MS - 1;
            last.look();
            assertThat(seen.stood).as("another one stands first").isZero();
            seen.isFollower = false;
            first.look();
            assertThat(seen.stood).as("follows nobody").isZero();
            seen.isFollower = true;
            first.look();
            first.look();
            assertThat(seen.stood).as("once").isOne();
            seen.silentMs++;
            last.look();
            assertThat(seen.stood).as("when the first one has not stood").isEqualTo(2);
            seen.term++;
            first.look();
            assertThat(seen.stood).as("in another term").isEqualTo(3);
            assertThat(first.elections()).isEqualTo(2);
        }
    }

    /** As of a host that is gone: it stands against no leader there, and counts no member. */
    @Test
    void shouldTakeSilenceForNeither() throws IOException
    {
        final Seen seen = new Seen();
        final LeaderWatch watch = new LeaderWatch("meta-1", seen);
        final List<Socket> connected = new ArrayList<>();
        try (ServerSocket other = listen(); ServerSocket ended = listen(); ServerSocket silent =
            new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            while (connected.size() < MOST_CONNECTED && connect(silent, connected))
            {
                // Until the kernel takes no more for it.
            }
            CloseHelper.close(ended);
            seen.addresses.put("meta-1", address(other));
            seen.addresses.put("meta-2", address(silent));
            seen.addresses.put("meta-3", address(other));
            watch.look();
            assertThat(seen.stood).as("against a leader that says nothing").isZero();
            seen.addresses.put("meta-2", address(ended));
            seen.addresses.put("meta-3", address(silent));
            watch.look();
            assertThat(seen.stood).as("beside a member that says nothing").isZero();
            seen.addresses.remove("meta-2");
            seen.addresses.put("meta-3", address(other));
            watch.look();
            assertThat(seen.stood).as("against a leader that was removed").isZero();
        }
        finally
        {
            CloseHelper.quietCloseAll(connected);
        }
    }

    private static boolean connect(final ServerSocket server, final List<Socket> connected) throws IOException
    {
        final Socket socket = new Socket();
        connected.add(socket);
        try
        {
            socket.connect(server.getLocalSocketAddress(), CONNECT_TIMEOUT_MS);
            return true;
        }
        catch (final SocketTimeoutException ex)
        {
            return false;
        }
    }

    @Test
    void shouldCountTheMembersThatAccept() throws IOException
    {
        final Seen seen = new Seen();
        final LeaderWatch watch = new LeaderWatch("meta-1", seen);
        try (ServerSocket other = listen(); ServerSocket ended = listen())
        {
            CloseHelper.close(ended);
            for (int member = 1; member <= 5; member++)
            {
                seen.addresses.put("meta-" + member, address(ended));
            }
            seen.addresses.put("meta-4", address(other));
            watch.look();
            assertThat(seen.stood).as("two of five with itself").isZero();
            seen.addresses.put("meta-5", address(other));
            watch.look();
            assertThat(seen.stood).as("three of five").isOne();
        }
    }
}
