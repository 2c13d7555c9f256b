package io.verbena.compute.group;

import io.verbena.compute.MemoryRig;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewPage;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.OneSidedPort;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A port to the memory of a group: there while its view is active, and not a moment longer. */
class GroupLinkTest
{
    private static final int GROUP = 40;
    private static final int MEMBER = MemoryRig.MEMORY_NODE;
    private static final int UNKNOWN_NODE = 77;
    private static final long LONG_NS = 50_000_000;
    private static final View FIRST = View.first(GROUP, List.of(new PeerIdentity(MEMBER, 1)));

    private final MemoryRig rig = new MemoryRig();
    private final GroupLinks groups = rig.chunks.groups();

    @BeforeEach
    void open()
    {
        groups.open(rig.parts);
        rig.meta.answer("views", (arguments) -> new ViewPage(List.of(), false));
        rig.reach();
        rig.meta.run(groups::poll);
    }

    @AfterEach
    void close()
    {
        groups.close();
        rig.close();
    }

    private GroupLink link(final View view)
    {
        rig.parts.views().hear(view);
        return groups.link(GROUP);
    }

    @Test
    void shouldBeReadyWhenItsMembersAre()
    {
        final GroupLink link = link(FIRST);
        assertThat(link.isReady()).isFalse();
        rig.meta.runUntil(link::isReady);
        assertThat(link.view()).isEqualTo(FIRST);
        assertThat(link.port().isReady()).isTrue();
        assertThat(link.failure()).isEmpty();
        assertThat(groups.isBusy()).isFalse();
    }

    @Test
    void shouldBeLeftWhenAViewIsHeardToBeOver()
    {
        final GroupLink link = link(FIRST);
        rig.meta.runUntil(link::isReady);
        final OneSidedPort port = link.port();
        rig.parts.views().hear(FIRST.closing(0, new PeerIdentity(99, 1)));
        assertThat(link.isReady()).as("when that call has returned").isFalse();
        assertThat(port.isFailed()).isTrue();
        rig.meta.runFor(LONG_NS);
        assertThat(link.isReady()).isFalse();
        assertThat(link.retryAtNs()).as("nothing to try until a later view").isEqualTo(Long.MAX_VALUE);
        final View next = FIRST.closing(0, new PeerIdentity(99, 1)).reconciling().next();
        rig.parts.views().hear(next);
        rig.meta.runUntil(link::isReady);
        assertThat(link.view()).isEqualTo(next);
        assertThat(link.port()).isNotSameAs(port);
    }

    /** Nothing that is under way is lost for it: the members are the same. */
    @Test
    void shouldKeepItsPortWhileAMemoryNodeIsFilledAndWhenItIsNoLonger()
    {
        final GroupLink link = link(FIRST);
        rig.meta.runUntil(link::isReady);
        final OneSidedPort port = link.port();
        final View filling = FIRST.filling(new PeerIdentity(77, 1), new PeerIdentity(99, 1));
        for (final View later : List.of(filling, filling.notFilling()))
        {
            rig.parts.views().hear(later);
            assertThat(link.isReady()).isTrue();
            assertThat(link.newest()).isEqualTo(later);
            assertThat(link.port()).isSameAs(port);
        }
        rig.parts.views().hear(filling.filling(filling.entering(), new PeerIdentity(99, 1)).filled());
        assertThat(link.isReady()).isFalse();
    }

    /** Its memory may be another one: the view is to be closed by the meta server. */
    @Test
    void shouldNotUseAMemberUnderAnotherIncarnation()
    {
        final GroupLink link = link(View.first(GROUP, List.of(new PeerIdentity(MEMBER, 5))));
        rig.meta.runFor(LONG_NS);
        assertThat(link.isReady()).isFalse();
        assertThat(link.failure()).contains("memory node " + MEMBER, "not connected");
    }

    @Test
    void shouldComeBackInTheSameViewWhenAConnectionBreaks()
    {
        final GroupLink link = link(FIRST);
        rig.meta.runUntil(link::isReady);
        rig.stop();
        rig.pass(1);
        rig.meta.runUntil(() -> !rig.link().isReady());
        rig.start();
        rig.register();
        rig.meta.runUntil(() -> rig.link().isReady());
        rig.meta.runFor(4 * LONG_NS);
        assertThat(link.isReady()).isTrue();
        assertThat(link.view()).isEqualTo(FIRST);
    }

    /** What comes at the end of a pause: a member that is lost may have served it. */
    @Test
    void shouldCountNothingThatIsCompleteWithoutTheLease()
    {
        final GroupLink link = link(FIRST);
        rig.meta.runUntil(link::isReady);
        final TableCreator first = creator(0);
        rig.meta.runUntil(first::isFinished);
        assertThat(first.state()).isEqualTo(TableCreator.State.DONE);
        rig.loseLease();
        final TableCreator second = creator(2);
        rig.meta.runFor(LONG_NS);
        assertThat(second.state()).isNotEqualTo(TableCreator.State.DONE);
    }

    private TableCreator creator(final int chunk)
    {
        final TablePlan plan = TablePlan.ofShape("t" + chunk, 7 + chunk, 42, 1, 1, new int[]{GROUP});
        plan.place(GROUP, MemoryRig.offset(chunk));
        plan.place(GROUP, MemoryRig.offset(chunk + 1));
        return rig.engine.createTable(plan, Long.MAX_VALUE / 2);
    }

    /**
     * A table that is half created when its member comes back: under another incarnation it may have other memory, and
     * gets all that was written, as it does when it may have been no member in a view between; under the same one in
     * the same view nothing is written again.
     */
    @ParameterizedTest
    @CsvSource({"1, 1, false", "2, 2, true", "1, 2, false", "1, 3, true"})
    void shouldHaveWrittenAgainWhatAnotherMemberDoesNotHave(
        final int incarnation, final int number, final boolean isWrittenAgain)
    {
        final GroupLink link = link(FIRST);
        rig.meta.runUntil(link::isReady);
        final TablePlan plan = TablePlan.ofShape("t", 7, 42, 1, 1, new int[]{GROUP, UNKNOWN_NODE});
        plan.place(GROUP, MemoryRig.offset(0));
        plan.place(UNKNOWN_NODE, MemoryRig.offset(0));
        rig.engine.createTable(plan, Long.MAX_VALUE / 2);
        rig.meta.runUntil(() -> 0 != rig.word(MemoryRig.offset(0)));
        rig.meta.runFor(LONG_NS);

        rig.stop();
        rig.pass(1);
        rig.meta.runUntil(() -> !rig.link().isReady());
        rig.start();
        rig.register(incarnation);
        if (number > 1)
        {
            rig.parts.views().hear(new View(GROUP, number, ViewState.ACTIVE, 0,
                List.of(new PeerIdentity(MEMBER, incarnation)), 0, PeerIdentity.UNREGISTERED, 1,
                PeerIdentity.UNREGISTERED));
        }
        rig.meta.runFor(4 * LONG_NS);
        assertThat(link.isReady()).as("%s", link).isTrue();
        assertThat(0 != rig.word(MemoryRig.offset(0))).isEqualTo(isWrittenAgain);
    }

    /** An id that a table names is that of a group, or of a memory node, as the next answer of the meta server says. */
    @Test
    void shouldFindOutWhatAnIdIs()
    {
        rig.meta.answer("views", (arguments) -> new ViewPage(List.of(FIRST), false));
        groups.add(GROUP);
        groups.requestBlocks(GROUP);
        groups.add(MEMBER + 1);
        rig.meta.runUntil(() -> null != groups.get(GROUP));
        assertThat(groups.get(GROUP + 1)).isNull();
        assertThat(groups.get(MEMBER + 1)).isNull();
        assertThat(rig.links().byId().get(MEMBER + 1)).isNotNull();
        rig.meta.runUntil(() -> groups.get(GROUP).isReady());
        rig.meta.runUntil(() -> rig.count("mirrorChunk") > 0);
    }

    /** The descriptor of a table may be read before the news that there is a group of that number. */
    @Test
    void shouldTakeAnIdForAGroupAsSoonAsThatIsHeard()
    {
        rig.meta.runUntil(() -> rig.parts.views().isCurrent());
        groups.add(GROUP);
        groups.requestBlocks(GROUP);
        assertThat(rig.links().byId().get(GROUP)).as("a memory node, as far as is known").isNotNull();
        rig.parts.views().hear(FIRST);
        assertThat(rig.links().byId().get(GROUP)).isNull();
        rig.meta.runUntil(() -> groups.get(GROUP).isReady() && rig.count("mirrorChunk") > 0);
    }

    /** It is no reason for the node to end, and another one is reached meanwhile. */
    @Test
    void shouldTryAgainWhereThereIsNoMemoryForAConnection()
    {
        groups.add(MEMBER + 1);
        groups.add(MEMBER + 2);
        rig.meta.refuseMemory(1);
        rig.meta.runUntil(() -> 1 == rig.failures.requestCount());
        assertThat(rig.links().byId().get(MEMBER + 1)).isNull();
        assertThat(rig.links().byId().get(MEMBER + 2)).isNotNull();
        final long failedNs = rig.meta.nowNs();
        assertThat(groups.nextAtNs() - failedNs).as("when the node is woken").isPositive()
            .isLessThanOrEqualTo(GroupLinks.RETRY_PAUSE_NS);

        final long asked = rig.meta.count("views");
        rig.meta.refuseMemory(1);
        rig.meta.runUntil(() -> 2 == rig.failures.requestCount());
        assertThat(rig.meta.nowNs() - failedNs).as("after a pause")
            .isGreaterThan(GroupLinks.RETRY_PAUSE_NS - LONG_NS / 10);
        assertThat(rig.links().byId().get(MEMBER + 1)).isNull();
        rig.meta.runUntil(() -> null != rig.links().byId().get(MEMBER + 1));
        assertThat(rig.meta.count("views")).as("the meta server has no part in it").isEqualTo(asked);
        assertThat(rig.failures.requestCount()).isEqualTo(2);
        assertThat(groups.nextAtNs()).as("nothing is left to do").isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldTryAgainWhereThereIsNoMemoryForAGroup()
    {
        rig.meta.answer("views", (arguments) -> new ViewPage(List.of(FIRST), false));
        groups.add(GROUP);
        groups.requestBlocks(GROUP);
        rig.meta.refuseMemory(1);
        rig.meta.runUntil(() -> 1 == rig.failures.requestCount());
        assertThat(groups.get(GROUP)).isNull();
        assertThat(groups.all()).isEmpty();
        rig.meta.runUntil(() -> null != groups.get(GROUP));
        rig.meta.runUntil(() -> groups.get(GROUP).isReady() && rig.count("mirrorChunk") > 0);
        assertThat(rig.failures.requestCount()).isEqualTo(1);
    }

    /** It was a memory node, as far as was known, and is not reached as one any more. */
    @Test
    void shouldTryAgainWhereThereIsNoMemoryForAGroupThatIsHeardOf()
    {
        rig.meta.runUntil(() -> rig.parts.views().isCurrent());
        groups.add(GROUP);
        rig.meta.refuseMemory(1);
        rig.parts.views().hear(FIRST);
        assertThat(rig.failures.requestCount()).isEqualTo(1);
        assertThat(rig.links().byId().get(GROUP)).isNull();
        assertThat(groups.get(GROUP)).isNull();
        rig.meta.runFor(GroupLinks.RETRY_PAUSE_NS - LONG_NS);
        assertThat(groups.get(GROUP)).as("not before the pause is over").isNull();
        rig.meta.runUntil(() -> null != groups.get(GROUP));
        rig.meta.runUntil(() -> groups.get(GROUP).isReady() && rig.count("mirrorChunk") > 0);
    }
}
