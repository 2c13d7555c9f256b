package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.bootstrap.BootstrapException.Reason;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.test.UnusedPorts;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The addresses of a group of meta servers, of which the leader alone listens. */
@Timeout(60)
class GroupBootstrapTest
{
    private static final int TIMEOUT_MS = 20_000;
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "soft:/dev/shm/x", new PeerAddress(new DeviceAddress(1, 2, 3), 1, 0, 0));

    @TempDir
    Path directory;
    private ClusterToken token;
    private ServerSocket silent;
    private BootstrapServer leader;
    private int deadPort;

    @BeforeEach
    void open() throws IOException
    {
        token = ClusterToken.readOrCreate(directory.resolve("token"));
        silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        leader = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0), token, ANSWER, () -> AccessRules.NONE,
            (roles) -> null);
        deadPort = UnusedPorts.next();
    }

    @AfterEach
    void close() throws IOException
    {
        leader.close();
        silent.close();
    }

    private static ClusterAddress group(final int... ports)
    {
        final List<String> all = Arrays.stream(ports).mapToObj((port) -> "127.0.0.1:" + port).toList();
        return ClusterAddress.parse(String.join(",", all));
    }

    private BootstrapAnswer ask(final ClusterAddress group, final int timeoutMs)
    {
        return BootstrapClient.ask(group, token, timeoutMs);
    }

    /** One has accepted the connection and says nothing, as a stopped process: the answer does not wait for it. */
    @Test
    void shouldHaveTheAnswerOfTheLeaderWhateverTheOthersDo()
    {
        assertThat(ask(group(silent.getLocalPort(), deadPort, leader.address().port()), TIMEOUT_MS)).isEqualTo(ANSWER);
        assertThat(ask(group(leader.address().port(), silent.getLocalPort(), deadPort), TIMEOUT_MS)).isEqualTo(ANSWER);
    }

    @Test
    void shouldAskAgainUntilThereIsALeader() throws Exception
    {
        final int port = leader.address().port();
        leader.close();
        final CompletableFuture<BootstrapAnswer> asked =
            CompletableFuture.supplyAsync(() -> ask(group(deadPort, port), TIMEOUT_MS));
        Thread.sleep(300);
        leader = BootstrapServer.open(
            new ClusterAddress("127.0.0.1", port), token, ANSWER, () -> AccessRules.NONE, (roles) -> null);
        assertThat(asked.get()).isEqualTo(ANSWER);
    }

    /** The only address that a client knows is that of a member, and nobody leads at the moment. */
    @Test
    void shouldAskASingleAddressAgainWhereThatIsMeant() throws Exception
    {
        final int port = leader.address().port();
        leader.close();
        assertThatThrownBy(() -> ask(group(port), TIMEOUT_MS)).as("at once: it may be known that it is alone")
            .isInstanceOf(BootstrapException.class).hasMessageContaining("is the cluster up?");
        final CompletableFuture<BootstrapAnswer> asked =
            CompletableFuture.supplyAsync(() -> BootstrapClient.find(group(port), token, TIMEOUT_MS));
        assertThatThrownBy(() -> asked.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        leader = BootstrapServer.open(
            new ClusterAddress("127.0.0.1", port), token, ANSWER, () -> AccessRules.NONE, (roles) -> null);
        assertThat(asked.get()).isEqualTo(ANSWER);
    }

    /** With a deadline that is longer than the test may take. */
    @Test
    void shouldNotAskASingleAddressAgainWhereThatIsOfNoUse()
    {
        assertRefusedAtOnce(new ClusterAddress("no-such-host.invalid", 1), token, Reason.UNREACHABLE, "not known");
        assertRefusedAtOnce(leader.address(), ClusterToken.ofHex("ab".repeat(32), "test"), Reason.WRONG_TOKEN,
            "another token");
        final int port = leader.address().port();
        leader.close();
        final long startNs = System.nanoTime();
        assertThatThrownBy(() -> BootstrapClient.find(group(port), token, 300)).as("the deadline")
            .isInstanceOfSatisfying(BootstrapException.class, (ex) ->
                assertThat(ex.reason()).isEqualTo(Reason.UNREACHABLE)).hasMessageContaining("is the cluster up?");
        assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(290));
    }

    private static void assertRefusedAtOnce(
        final ClusterAddress address, final ClusterToken with, final Reason reason, final String why)
    {
        assertThatThrownBy(() -> BootstrapClient.find(address, with, (int)TimeUnit.MINUTES.toMillis(2)))
            .isInstanceOfSatisfying(BootstrapException.class, (ex) -> assertThat(ex.reason()).isEqualTo(reason))
            .hasMessageContaining(why);
    }

    /** One that stands still uses up its own time only: the next leader is asked every 50 ms meanwhile. */
    @Test
    void shouldFindTheNextLeaderWhileAnEarlierOneStandsStill()
    {
        final ClusterAddress group = group(1, 2);
        final AtomicInteger asked = new AtomicInteger();
        final long startNs = System.nanoTime();
        final BootstrapAnswer answer = GroupBootstrap.ask(group, List.of(), TIMEOUT_MS, (member, timeoutMs) ->
        {
            if (1 == member.port())
            {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(timeoutMs));
            }
            else if (asked.incrementAndGet() > 5)
            {
                return ANSWER;
            }
            throw new BootstrapException(Reason.UNREACHABLE, "refused", null);
        });
        assertThat(answer).isEqualTo(ANSWER);
        // Five periods of 50 ms; five rounds that wait for the silent one take 0.5, 1, 2, 4 and 8 s: 15.5 s.
        assertThat(System.nanoTime() - startNs).isBetween(
            TimeUnit.MILLISECONDS.toNanos(240), TimeUnit.MILLISECONDS.toNanos(7_000));
    }

    /** An answer that takes 600 ms comes too late for the first question, and in time for the second. */
    @Test
    void shouldGiveASlowMemberMoreTime()
    {
        final List<Integer> timeouts = new CopyOnWriteArrayList<>();
        assertThat(GroupBootstrap.ask(group(1), List.of(), TIMEOUT_MS, (member, timeoutMs) ->
        {
            timeouts.add(timeoutMs);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(timeoutMs, 600)));
            if (timeoutMs < 600)
            {
                throw new BootstrapException(Reason.UNREACHABLE, "too slow", null);
            }
            return ANSWER;
        })).isEqualTo(ANSWER);
        assertThat(timeouts).containsExactly(500, 1_000);
    }

    /**
     * The leader stands still, and the next one answers later than a question takes: nobody says again that the leader
     * cannot be reached, since the next call waits for it.
     */
    @Test
    void shouldGoOnLookingForTheNextLeaderUntilThereIsOne()
    {
        final int port = leader.address().port();
        leader.close();
        shouldFindWhoComesLater(group(silent.getLocalPort(), port), port);
    }

    /** All that is known of the cluster is one address, where nobody listens for a while. */
    @Test
    void shouldGoOnAskingASingleAddressUntilSomebodyListensThere()
    {
        final int port = leader.address().port();
        leader.close();
        shouldFindWhoComesLater(group(port), port);
    }

    private void shouldFindWhoComesLater(final ClusterAddress cluster, final int port)
    {
        final BootstrapLocator locator = new BootstrapLocator(cluster, token, ANSWER);
        locator.onUnreachable();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1_200));
        final PeerAddress next = new PeerAddress(new DeviceAddress(4, 5, 6), 1, 0, 0);
        leader = BootstrapServer.open(new ClusterAddress("127.0.0.1", port), token,
            new BootstrapAnswer(4, ANSWER.fabric(), next), () -> AccessRules.NONE, (roles) -> null);
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!locator.address().equals(next))
        {
            assertThat(System.nanoTime() - deadlineNs).as("in time").isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** A single meta server that takes long is asked nothing more; of a group another one may lead by now. */
    @Test
    void shouldLookForAnotherLeaderOfAGroupAloneWhenACallTakesLong()
    {
        final PeerAddress before = new PeerAddress(new DeviceAddress(7, 8, 9), 1, 0, 0);
        final BootstrapAnswer first = new BootstrapAnswer(4, ANSWER.fabric(), before);
        final BootstrapLocator single = new BootstrapLocator(leader.address(), token, first);
        single.onLate();
        final BootstrapLocator group =
            new BootstrapLocator(group(deadPort, leader.address().port()), token, first);
        group.onLate();
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (group.address().equals(before))
        {
            assertThat(System.nanoTime() - deadlineNs).as("in time").isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        assertThat(group.address()).isEqualTo(ANSWER.metaServer());
        assertThat(single.address()).isEqualTo(before);
    }

    private static BootstrapAnswer naming(final int port)
    {
        return ANSWER.withMembers(group(port).all());
    }

    private static void await(final BooleanSupplier condition)
    {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - deadlineNs).as("in time").isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    /** A member that was added later leads at an address with which nobody was started. */
    @Test
    void shouldFindTheLeaderWhereTheGroupSaidThatAMemberIs()
    {
        final PeerAddress before = new PeerAddress(new DeviceAddress(7, 8, 9), 1, 0, 0);
        final BootstrapLocator locator = new BootstrapLocator(group(deadPort), token,
            new BootstrapAnswer(4, ANSWER.fabric(), before).withMembers(group(leader.address().port()).all()));
        locator.onUnreachable();
        await(() -> locator.address().equals(ANSWER.metaServer()));
        assertThat(locator.members()).as("what the new one says").isEmpty();
        assertThat(locator.addresses()).isEqualTo(1);
    }

    /** One that was removed is named no more, and the list is as the last answer has it. */
    @Test
    void shouldAskAGroupNowAndThenWhoItsMembersAre()
    {
        leader.close();
        final AtomicReference<BootstrapAnswer> answer =
            new AtomicReference<>(ANSWER.withMembers(group(1, 2, 3).all()));
        leader = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0), token, answer::get, () -> AccessRules.NONE,
            (roles) -> null);
        final BootstrapLocator locator =
            new BootstrapLocator(leader.address(), token, ANSWER.withMembers(group(1, 2).all()), 1);
        await(() ->
        {
            locator.onCall();
            return locator.members().equals(group(1, 2, 3).all());
        });
        assertThat(locator.addresses()).as("and the given one").isEqualTo(4);
        answer.set(ANSWER.withMembers(group(1, 3, 4).all()));
        await(() ->
        {
            locator.onCall();
            return locator.members().equals(group(1, 3, 4).all());
        });
    }

    @Test
    void shouldAskNeitherASingleOneNorAgainAtOnce()
    {
        final BootstrapLocator single = new BootstrapLocator(leader.address(), token, naming(1), 1);
        final BootstrapLocator early =
            new BootstrapLocator(leader.address(), token, ANSWER.withMembers(group(1, 2).all()));
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        single.onCall();
        early.onCall();
        assertThat(single.isAsking()).isFalse();
        assertThat(early.isAsking()).isFalse();
        early.onLate();
        assertThat(early.isAsking()).as("of a group, which it is by what it named").isTrue();
    }

    /** Who listens by now at an address that was named has another token: the given one is waited for all the same. */
    @Test
    void shouldNotTakeTheRefusalOfANamedOneForThatOfTheCluster()
    {
        final AtomicInteger asked = new AtomicInteger();
        assertThat(GroupBootstrap.ask(group(1), group(2).all(), TIMEOUT_MS, (member, timeoutMs) ->
        {
            if (2 == member.port())
            {
                throw new BootstrapException(Reason.WRONG_TOKEN, "it is no member any more", null);
            }
            if (asked.incrementAndGet() > 3)
            {
                return ANSWER;
            }
            throw new BootstrapException(Reason.UNREACHABLE, "refused", null);
        })).isEqualTo(ANSWER);
        assertThatThrownBy(() -> GroupBootstrap.ask(group(1), group(2).all(), 200, (member, timeoutMs) ->
        {
            throw new BootstrapException(2 == member.port() ? Reason.WRONG_TOKEN : Reason.UNREACHABLE,
                "port " + member.port(), null);
        })).as("what the given one said").hasMessage("port 1");
    }

    /** Another cluster with the same token, where a member was: only at a given address it is the cluster by now. */
    @Test
    void shouldNotGoOverToAnotherClusterAtANamedAddress()
    {
        final BootstrapAnswer mine = new BootstrapAnswer(5, ANSWER.fabric(), ANSWER.metaServer());
        final int other = leader.address().port();
        assertThatThrownBy(() -> BootstrapClient.find(
            group(deadPort), mine.withMembers(group(other).all()), token, 300))
            .isInstanceOfSatisfying(BootstrapException.class, (ex) ->
                assertThat(ex.reason()).isEqualTo(Reason.UNREACHABLE))
            .hasMessageContaining(":" + deadPort);
        assertThat(BootstrapClient.find(
            group(deadPort), ANSWER.withMembers(group(other).all()), token, TIMEOUT_MS)).isEqualTo(ANSWER);
        assertThat(BootstrapClient.find(
            group(other), mine.withMembers(group(other).all()), token, TIMEOUT_MS)).as("given").isEqualTo(ANSWER);
    }

    /** No question lasts longer than what is left, and none begins after that. */
    @Test
    void shouldKeepTheDeadline()
    {
        final long startNs = System.nanoTime();
        final AtomicInteger longest = new AtomicInteger();
        assertThatThrownBy(() -> GroupBootstrap.ask(group(1, 2, 3), List.of(), 300, (member, timeoutMs) ->
        {
            longest.accumulateAndGet(timeoutMs, Math::max);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(3 == member.port() ? 0 : timeoutMs));
            throw new BootstrapException(Reason.UNREACHABLE, "silent", null);
        })).isInstanceOf(BootstrapException.class);
        assertThat(longest.get()).isBetween(1, 300);
        assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(290))
            .isLessThan(TimeUnit.MILLISECONDS.toNanos(5_000));
    }

    @Test
    void shouldSayWhenNobodyAnswersOrTheTokenIsAnother()
    {
        leader.close();
        assertThatThrownBy(() -> ask(group(deadPort, leader.address().port()), 200))
            .isInstanceOfSatisfying(BootstrapException.class, (ex) ->
                assertThat(ex.reason()).isEqualTo(Reason.UNREACHABLE));
        leader = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0),
            ClusterToken.ofHex("ab".repeat(32), "test"), ANSWER, () -> AccessRules.NONE, (roles) -> null);
        assertThatThrownBy(() -> ask(group(deadPort, leader.address().port()), TIMEOUT_MS))
            .isInstanceOfSatisfying(BootstrapException.class, (ex) ->
                assertThat(ex.reason()).isEqualTo(Reason.WRONG_TOKEN));
    }
}
