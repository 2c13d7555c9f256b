package io.verbena.memory;

import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.MetaDispatcher;
import io.verbena.protocol.control.MetaService;
import io.verbena.protocol.session.MetaLink;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewPage;
import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.Device;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** What a memory node asks and reports about groups once it is a member. */
@Timeout(60)
class GroupWatchTest
{
    private static final int PORT = 1;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** No multiple of other times, so that it shows that a call is under way. */
    private static final long RETRY_PAUSE_NS = 7_654_321;
    private static final int GROUP = 9;
    private static final int BEFORE = 7;
    private static final int NOW = 8;
    private static final PeerIdentity SELF = new PeerIdentity(3, NOW);
    private static final PeerIdentity OTHER = new PeerIdentity(1, 5);
    private static final View VIEW = View.first(GROUP, List.of(OTHER, new PeerIdentity(3, BEFORE)));
    private static final View DESERTED = VIEW.closing(3, PeerIdentity.UNREGISTERED);
    private static final RestoredGroup RESTORED = new RestoredGroup(GROUP, 1, 700, 5, true);

    @TempDir
    private Path directory;
    private final List<RestoredGroup> reported = new ArrayList<>();
    private final List<Integer> givenUp = new ArrayList<>();
    private final GroupCoverage coverage = new GroupCoverage();
    private List<View> views = List.of(DESERTED);
    private int asked;
    private SoftFabric fabric;
    private Device serverDevice;
    private Device clientDevice;
    private RaasContext server;
    private RaasContext client;
    private MetaLink link;
    private MemoryFolder folder;
    private RestoredGroups restored;
    private GroupWatch watch;
    private int groupCount;
    private long nowNs = 1;

    @BeforeEach
    void open()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory.resolve("fabric")));
        serverDevice = fabric.openDevice("server");
        clientDevice = fabric.openDevice("client");
        server = RaasContext.open(serverDevice, new RaasConfiguration());
        server.serve(PORT, (caller, source) -> Admission.callsOnly(), new MetaDispatcher(service()));
        client = RaasContext.open(clientDevice, new RaasConfiguration());
        client.identity(SELF);
        link = new MetaLink(
            client, MetaServerLocator.at(new PeerAddress(serverDevice.address(), PORT, 1, 1)), TIMEOUT_NS);
        folder = MemoryFolder.open(directory.resolve("node"), 0, 1 << 20);
        restored = new RestoredGroups(folder);
        watch = new GroupWatch(link, coverage, restored, givenUp::add, () -> groupCount, TIMEOUT_NS, RETRY_PAUSE_NS);
    }

    @AfterEach
    void close()
    {
        link.close();
        folder.close();
        client.close();
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
    }

    @SuppressWarnings("unchecked")
    private MetaService service()
    {
        return (MetaService)Proxy.newProxyInstance(
            MetaService.class.getClassLoader(), new Class<?>[]{MetaService.class}, (proxy, method, arguments) ->
            switch (method.getName())
            {
                case "views" ->
                {
                    asked++;
                    yield new ViewPage(
                        views.stream().filter((view) -> view.group() > (Integer)arguments[2]).toList(), false);
                }
                case "onRestored" ->
                {
                    assertThat(arguments[0]).isEqualTo(SELF);
                    reported.addAll((List<RestoredGroup>)arguments[1]);
                    yield null;
                }
                default -> InvocationHandler.invokeDefault(proxy, method, arguments);
            });
    }

    private void begin(final int since, final boolean hasGroups)
    {
        groupCount = hasGroups ? 1 : 0;
        watch.begin(SELF, since, nowNs);
    }

    /** For so long by the clock of the node; each call is answered at once. */
    private void run(final long millis)
    {
        for (final long endNs = nowNs + TimeUnit.MILLISECONDS.toNanos(millis); nowNs < endNs; nowNs += STEP_NS)
        {
            settle();
        }
    }

    /** Until no call is under way. */
    private void settle()
    {
        final long deadlineNs = client.clock().nanoTime() + TIMEOUT_NS;
        while (0 != watch.poll(nowNs) || RETRY_PAUSE_NS == watch.idleNs(nowNs))
        {
            server.poll();
            client.poll();
            assertThat(client.clock().nanoTime() - deadlineNs).as("answered in time").isNegative();
        }
    }

    @Test
    void shouldReportWhatWasRestoredUntilItIsTaken()
    {
        restored.set(List.of(RESTORED));
        begin(NOW, true);
        run(600);
        assertThat(reported).isNotEmpty().containsOnly(RESTORED);
        assertThat(watch.idleNs(nowNs)).isLessThan(TimeUnit.SECONDS.toNanos(1));
        final int before = reported.size();
        run(1_200);
        assertThat(reported).as("again and again").hasSizeGreaterThan(before);
        views = List.of(DESERTED.returned(1, SELF));
        run(600);
        assertThat(restored.all()).as("the view is not active").containsExactly(RESTORED);
        views = List.of(DESERTED.returned(1, SELF).reconciling().next());
        run(600);
        assertThat(restored.all()).isEmpty();
        assertThat(givenUp).isEmpty();
        assertThat(coverage.wanted()).containsEntry(GROUP, 2L);
        reported.clear();
        run(1_200);
        assertThat(reported).isEmpty();
        assertThat(watch.idleNs(nowNs)).isEqualTo(Long.MAX_VALUE);
    }

    /** Nobody could go on otherwise. */
    @Test
    void shouldReportThatNothingIsRestoredOfAGroup()
    {
        restored.set(List.of(RestoredGroup.nothing(GROUP)));
        begin(NOW, false);
        run(600);
        assertThat(reported).isNotEmpty().containsOnly(RestoredGroup.nothing(GROUP));
    }

    /** All but a few records is there: more than any checkpoint has. */
    @Test
    void shouldReportNothingOfMemoryThatIsDamaged()
    {
        begin(NOW, true);
        run(1_200);
        assertThat(asked).isPositive();
        assertThat(reported).isEmpty();
        assertThat(watch.idleNs(nowNs)).as("nothing is to be waited for").isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldReportNothingWhereItHasItsMemory()
    {
        restored.set(List.of(RESTORED));
        begin(BEFORE, true);
        run(1_200);
        assertThat(reported).as("of the process before").isEmpty();
        assertThat(restored.all()).containsExactly(RESTORED);
    }

    @Test
    void shouldGiveUpWhatTheGroupGoesOnWithout()
    {
        restored.set(List.of(RESTORED));
        begin(NOW, true);
        run(600);
        assertThat(givenUp).isEmpty();
        views = List.of(VIEW.closing(2, PeerIdentity.UNREGISTERED).reconciling().next());
        run(600);
        assertThat(givenUp).containsExactly(GROUP);
        assertThat(RestoredGroups.of(folder, true).all()).isEmpty();
        run(1_200);
        assertThat(givenUp).hasSize(1);
    }

    @Test
    void shouldAskNobodyWhereThereAreNoGroups()
    {
        begin(NOW, false);
        run(1_200);
        assertThat(asked).isZero();
        assertThat(watch.idleNs(nowNs)).isEqualTo(Long.MAX_VALUE);
        coverage.ask();
        assertThat(watch.idleNs(nowNs)).isZero();
        run(100);
        assertThat(asked).as("the checkpointer does").isEqualTo(1);
        assertThat(coverage.isAsked()).isFalse();
    }

    /** A table is made, and all memory may be lost before the next checkpoint is due. */
    @Test
    void shouldAskForTheViewOfAGroupThatItHasNotHadBefore()
    {
        final View first = View.first(GROUP, List.of(OTHER, SELF));
        views = List.of(first);
        begin(BEFORE, false);
        run(600);
        assertThat(coverage.wanted()).isEmpty();
        groupCount = 1;
        assertThat(watch.idleNs(nowNs)).isZero();
        run(600);
        assertThat(asked).isEqualTo(1);
        assertThat(coverage.wanted()).containsEntry(GROUP, 1L);
        groupCount = 2;
        views = List.of(first, View.first(GROUP + 1, List.of(OTHER, SELF)));
        run(600);
        assertThat(coverage.wanted()).containsKeys(GROUP + 1);
        assertThat(asked).isEqualTo(2);
    }

    /** The node goes on, with what it has; what is on disk is not behind what it does. */
    @Test
    void shouldGoOnWhenItCannotWriteThatAGroupHasGoneOn() throws IOException
    {
        restored.set(List.of(RESTORED));
        begin(NOW, true);
        run(600);
        final Path inTheWay = Files.createDirectory(directory.resolve("node/restored.properties.unfinished"));
        views = List.of(DESERTED.returned(1, SELF).reconciling().next());
        run(1_200);
        assertThat(restored.all()).containsExactly(RESTORED);
        Files.delete(inTheWay);
        run(1_200);
        assertThat(restored.all()).isEmpty();
        assertThat(RestoredGroups.of(folder, true).all()).isEmpty();
    }

    @Test
    void shouldAskForTheViewBehindOneThatItHasClosed()
    {
        views = List.of();
        begin(BEFORE, false);
        final View left = View.first(GROUP, List.of(OTHER, SELF, new PeerIdentity(2, 6)));
        coverage.closed(GROUP, 1);
        views = List.of(left.closing(5, PeerIdentity.UNREGISTERED).reconciling());
        run(1_200);
        assertThat(asked).isBetween(2, 4);
        assertThat(coverage.wanted()).isEmpty();
        views = List.of(left.closing(5, PeerIdentity.UNREGISTERED).reconciling().next());
        run(600);
        assertThat(coverage.wanted()).containsEntry(GROUP, 2L);
        assertThat(watch.idleNs(nowNs)).isEqualTo(Long.MAX_VALUE);
    }

    /** Views that were asked for before a checkpoint began may lack what was acknowledged in between. */
    @Test
    void shouldNotAnswerAQuestionByWhatWasAskedForBefore()
    {
        views = List.of(VIEW);
        begin(BEFORE, true);
        final long first = coverage.ask();
        assertThat(watch.poll(nowNs)).as("begins to ask").isPositive();
        final long second = coverage.ask();

        while (!coverage.isAnswered(first))
        {
            watch.poll(nowNs);
            server.poll();
            client.poll();
        }

        assertThat(coverage.isAnswered(second)).isFalse();
        settle();
        assertThat(coverage.isAnswered(second)).isTrue();
        assertThat(asked).isEqualTo(2);
    }

    /** More groups than fit a message take turns. */
    @Test
    void shouldReportAllGroups()
    {
        final List<RestoredGroup> all = new ArrayList<>();
        final List<View> deserted = new ArrayList<>();
        for (int group = 1; group <= 130; group++)
        {
            all.add(new RestoredGroup(group, 1, group, 0, true));
            deserted.add(View.first(group, VIEW.members()).closing(3, PeerIdentity.UNREGISTERED));
        }
        views = deserted.subList(0, 1);
        restored.set(all);
        begin(NOW, true);
        run(600);
        assertThat(reported).containsOnly(all.getFirst());
        views = List.copyOf(deserted).subList(0, 120);
        run(2_500);
        assertThat(reported).containsAll(all.subList(0, 120)).doesNotContain(all.get(120));
    }
}
