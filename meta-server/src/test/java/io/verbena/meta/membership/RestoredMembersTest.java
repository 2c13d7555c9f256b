package io.verbena.meta.membership;

import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** All members of a group are lost, with their memory: the latest checkpoint counts, and never beside a memory. */
class RestoredMembersTest extends GroupRig
{
    private final List<PeerIdentity> all = List.of(head, middle, primary);

    @BeforeEach
    void loseAll()
    {
        views.begin(View.first(GROUP, all));
        all.forEach(this::leave);
        assertThat(work().isDeserted()).isTrue();
    }

    private PeerIdentity rejoin(final PeerIdentity member)
    {
        final PeerIdentity back = conductor.rejoin(
            new NodeRegistration(member.nodeId(), NodeRole.MEMORY_NODE, new DeviceAddress(1, ++endpoints), 1,
                new RemoteRegion(4096, 4096, 1), conductor.table().member(member.nodeId()).node().memoryId(), 9,
                ReadTargetAddress.NONE),
            member.nodeId(), nowNs).node().identity();
        conductor.heartbeat(back.nodeId(), back.incarnation(), 0, nowNs);
        return back;
    }

    /** Comes back without its memory. */
    private PeerIdentity comeBack(final PeerIdentity member)
    {
        final PeerIdentity back = rejoin(member);
        views.onReturned(back, back.incarnation());
        return back;
    }

    private void restored(final PeerIdentity member, final long number, final long startedMs)
    {
        restored(member, number, startedMs, false);
    }

    private void restored(
        final PeerIdentity member, final long number, final long startedMs, final boolean isOfPrimary)
    {
        views.returning().onRestored(member, List.of(0 == number ? RestoredGroup.nothing(GROUP) :
            new RestoredGroup(GROUP, number, startedMs, 5, isOfPrimary)));
    }

    @Test
    void shouldTakeTheLatestCheckpointWhenTheMemoryOfAllIsGone()
    {
        final PeerIdentity first = comeBack(head);
        final PeerIdentity second = comeBack(middle);
        final PeerIdentity third = comeBack(primary);
        restored(first, 1, 700);
        restored(second, 0, 0);
        assertThat(work().isDeserted()).as("one is to report still").isTrue();
        assertThat(views.isChanging()).isFalse();
        restored(third, 1, 800);
        assertThat(views.isChanging()).isTrue();
        assertThat(work().survivors()).containsExactly(third);
        assertThat(work().members()).containsExactly(head, middle, third);
        assertThat(views.whyClosed(GROUP)).isEmpty();
        for (int i = 0; i < 4; i++)
        {
            assertThat(work().survivors()).as("the others stay lost").containsExactly(third);
        }
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(third);
        assertThat(views.view(GROUP).state()).isEqualTo(ViewState.ACTIVE);
        assertThat(views.view(GROUP).lacksMember()).isTrue();
    }

    @Test
    void shouldTakeTheLaterViewBeforeTheLaterTime()
    {
        final PeerIdentity first = comeBack(head);
        restored(comeBack(middle), 0, 0);
        final PeerIdentity third = comeBack(primary);
        restored(first, 2, 700);
        restored(third, 1, 800);
        assertThat(work().survivors()).containsExactly(first);
    }

    /** Of the last view that of the head is as good. */
    @Test
    void shouldTakeTheLaterOneOfHeadAndPrimaryOfTheLastView()
    {
        for (final boolean isPrimaryLater : new boolean[]{true, false})
        {
            final RestoredMembersTest other = new RestoredMembersTest();
            other.loseAll();
            final PeerIdentity first = other.comeBack(other.head);
            other.restored(first, 1, 800);
            other.restored(other.comeBack(other.middle), 0, 0);
            final PeerIdentity third = other.comeBack(other.primary);
            other.restored(third, 1, isPrimaryLater ? 900 : 700, true);
            assertThat(other.work().survivors()).containsExactly(isPrimaryLater ? third : first);
        }
    }

    /** What stood at the head of an earlier view may have been undone, and refused, before the last one began. */
    @Test
    void shouldTakeThatOfAHeadOfAnEarlierViewOnlyWhereThereIsNoneOfAPrimary()
    {
        for (final boolean isOfPrimary : new boolean[]{true, false})
        {
            final RestoredMembersTest other = new RestoredMembersTest();
            other.views.begin(View.first(GROUP + 1, List.of(other.head, other.primary)));
            View third = other.views.view(GROUP + 1);
            for (int number = 1; number < 3; number++)
            {
                third = third.closing(0, PeerIdentity.UNREGISTERED).reconciling().next();
            }
            final View deserted = third.closing(3, PeerIdentity.UNREGISTERED);
            assertThat(deserted.number()).isEqualTo(3);
            other.leave(other.head);
            other.leave(other.primary);
            final PeerIdentity first = other.comeBack(other.head);
            final PeerIdentity last = other.comeBack(other.primary);
            other.views.returning().onRestored(first, List.of(new RestoredGroup(GROUP + 1, 2, 900, 5, false)));
            other.views.returning().onRestored(last, List.of(new RestoredGroup(GROUP + 1, 1, 100, 5, isOfPrimary)));
            assertThat(other.views.returning().whoReturns(deserted)).isEqualTo(isOfPrimary ? 1 : 0);
        }
    }

    /** Whoever it is, and in whatever order they return. */
    @Test
    void shouldTakeNoCheckpointWhileAMemberMayHaveItsMemory()
    {
        for (int i = 0; i < 3; i++)
        {
            final RestoredMembersTest other = new RestoredMembersTest();
            other.loseAll();
            final List<PeerIdentity> order = new ArrayList<>(other.all);
            Collections.rotate(order, i);
            other.requireMemoryOfTheLastOne(order);
        }
    }

    private void requireMemoryOfTheLastOne(final List<PeerIdentity> order)
    {
        restored(comeBack(order.get(0)), 1, 700);
        assertThat(work().isDeserted()).as("two are not up").isTrue();
        restored(comeBack(order.get(1)), 1, 800);
        assertThat(work().isDeserted()).as("one is not up").isTrue();
        final PeerIdentity last = rejoin(order.get(2));
        assertThat(work().isDeserted()).as("it has not said since when it has its memory").isTrue();
        restored(last, 1, 900);
        assertThat(work().isDeserted()).as("nor by its report").isTrue();
        views.onReturned(last, order.get(2).incarnation());
        assertThat(work().survivors()).as("it has its memory").containsExactly(last);
    }

    @Test
    void shouldNotWaitForAForgottenMember()
    {
        restored(comeBack(head), 0, 0);
        final PeerIdentity third = comeBack(primary);
        restored(third, 1, 800);
        assertThat(work().isDeserted()).isTrue();
        assertThat(views.whyClosed(GROUP)).contains("; node " + middle.nodeId() + " incarnation " +
            middle.incarnation() + " is not up", ", and no checkpoint of the group",
            ", and 5 records of a checkpoint of view 1");
        conductor.forgetMemory(middle.nodeId());
        assertThat(work().survivors()).containsExactly(third);
    }

    @Test
    void shouldStayClosedWhenNobodyHasACheckpoint()
    {
        all.forEach((member) -> restored(comeBack(member), 0, 0));
        assertThat(work().isDeserted()).isTrue();
        assertThat(views.isChanging()).isFalse();
        assertThat(views.whyClosed(GROUP)).contains(", and no checkpoint of the group; node ")
            .endsWith(" only, and no checkpoint of the group");
    }

    @Test
    void shouldTakeNoCheckpointWhileAMemberIsLeft()
    {
        final GroupRig other = new GroupRig()
        {
        };
        other.views.begin(View.first(GROUP, List.of(other.head, other.primary)));
        other.leave(other.head);
        other.work();
        other.views.returning().onRestored(other.head, List.of(new RestoredGroup(GROUP, 1, 9, 1, true)));
        assertThat(other.work().survivors()).containsExactly(other.primary);
    }

    /** A report counts for one registration. */
    @Test
    void shouldForgetReportsOfRegistrationsThatAreOver()
    {
        restored(comeBack(head), 1, 700);
        restored(comeBack(middle), 0, 0);
        final PeerIdentity gone = comeBack(primary);
        restored(gone, 1, 900);
        leave(gone);
        assertThat(work().isDeserted()).isTrue();
        final PeerIdentity again = comeBack(primary);
        assertThat(work().isDeserted()).as("it has not reported").isTrue();
        restored(again, 0, 0);
        assertThat(work().survivors()).extracting(PeerIdentity::nodeId).containsExactly(head.nodeId());
    }

    /** What was chosen is lost again before the next view begins, and has lost that memory, too. */
    @Test
    void shouldChooseAgainWhenTheChosenOneIsLost()
    {
        restored(comeBack(head), 1, 700);
        restored(comeBack(middle), 0, 0);
        final PeerIdentity third = comeBack(primary);
        restored(third, 1, 800);
        assertThat(work().survivors()).containsExactly(third);
        leave(third);
        assertThat(work().isDeserted()).isTrue();
        final PeerIdentity again = rejoin(primary);
        views.onReturned(again, third.incarnation());
        assertThat(work().survivors()).as("with what it had restored").containsExactly(again);
        leave(again);
        work();
        final PeerIdentity last = comeBack(primary);
        restored(last, 0, 0);
        assertThat(work().survivors()).extracting(PeerIdentity::nodeId).containsExactly(head.nodeId());
    }
}
