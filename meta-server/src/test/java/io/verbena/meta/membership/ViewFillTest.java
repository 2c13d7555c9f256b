package io.verbena.meta.membership;

import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A memory node is filled while the view of a group is active. */
class ViewFillTest extends GroupRig
{
    private PeerIdentity spare;
    private View filling;

    @BeforeEach
    void begin()
    {
        loseHead();
        spare = memory("rack-4");
        calls.clear();
        filling = views.enter(GROUP, spare.nodeId());
    }

    private void report(final View of, final boolean isFilled)
    {
        views.onReconciled(of.reconciler(), ViewAttempt.of(of), isFilled);
    }

    private void shouldGoOnWithout(final View without)
    {
        assertThat(without.state()).isEqualTo(ViewState.ACTIVE);
        assertThat(without.number()).isEqualTo(filling.number());
        assertThat(without.hasEntering()).isFalse();
        assertThat(without.members()).containsExactly(middle, primary);
        assertThat(store.load().views()).containsExactly(without);
    }

    @Test
    void shouldNameWhoFillsUntilTheMemoryNodeKnows()
    {
        assertThat(filling.reconciler()).isEqualTo(compute);
        assertThat(filling.state()).isEqualTo(ViewState.ACTIVE);
        work();
        work();
        assertThat(calls).containsExactly(
            spare.nodeId() + " is filled 2.1", spare.nodeId() + " is filled 2.1");
        assertThat(views.isChanging()).as("it is asked again").isTrue();
        views.onConfirmed(middle, filling);
        work();
        assertThat(calls).as("a member is not asked").hasSize(3);
        views.onConfirmed(spare, filling.filling(spare, compute));
        work();
        assertThat(calls).as("of another attempt").hasSize(4);
        views.onConfirmed(spare, filling);
        work();
        assertThat(calls).hasSize(4);
        assertThat(views.isChanging()).isFalse();
        assertThat(views.view(GROUP)).isEqualTo(filling);
    }

    @Test
    void shouldCloseTheViewWhenItIsFilled()
    {
        views.onConfirmed(spare, filling);
        views.onReconciled(new PeerIdentity(99, 1), ViewAttempt.of(filling), true);
        report(filling.filling(spare, compute), true);
        assertThat(views.view(GROUP)).as("of another node, of another attempt").isEqualTo(filling);
        report(filling, true);
        final View closing = views.view(GROUP);
        assertThat(closing.state()).isEqualTo(ViewState.CLOSING);
        assertThat(closing.entering()).isEqualTo(spare);
        assertThat(closing.reconciler()).isEqualTo(compute);
        report(filling, false);
        assertThat(work()).as("late").isEqualTo(closing);
        assertThat(calls).as("what it said before does not count").contains(spare.nodeId() + " closes 2.2");
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(middle, spare, primary);
    }

    @Test
    void shouldGoOnWhenItIsNotFilled()
    {
        report(filling, false);
        shouldGoOnWithout(views.view(GROUP));
        assertThat(views.enter(GROUP, spare.nodeId()).attempt()).isEqualTo(3);
    }

    @Test
    void shouldGoOnWhenItEnds()
    {
        leave(spare);
        shouldGoOnWithout(work());
    }

    /** The view would be closed for nothing. */
    @Test
    void shouldNotCloseTheViewForWhoHasEndedWhenItIsReportedToBeFilled()
    {
        leave(spare);
        report(filling, true);
        shouldGoOnWithout(views.view(GROUP));
        shouldGoOnWithout(work());
    }

    /** One that cannot fill, for a reason of its own, is not named for ever; nor does one fill for all groups. */
    @Test
    void shouldNameComputeNodesInTurn()
    {
        final PeerIdentity other = join(NodeRole.COMPUTE_NODE, FailureDomain.NONE);
        report(filling, false);
        final View second = views.enter(GROUP, spare.nodeId());
        report(second, false);
        final View third = views.enter(GROUP, spare.nodeId());
        assertThat(List.of(second.reconciler(), third.reconciler())).containsExactlyInAnyOrder(compute, other);

        final List<PeerIdentity> named = new ArrayList<>();
        for (int group = GROUP + 1; group < GROUP + 3; group++)
        {
            final View lacking = new View(group, 1, ViewState.ACTIVE, 0, List.of(primary), 0,
                PeerIdentity.UNREGISTERED, 2, PeerIdentity.UNREGISTERED);
            views.begin(lacking);
            named.add(views.enter(group, spare.nodeId()).reconciler());
        }
        assertThat(named).containsExactlyInAnyOrder(compute, other);
    }

    @Test
    void shouldNameAnotherComputeNodeWhenWhoFillsEnds()
    {
        final PeerIdentity other = join(NodeRole.COMPUTE_NODE, FailureDomain.NONE);
        leave(compute);
        final View again = work();
        assertThat(again.isFilling()).isTrue();
        assertThat(again.attempt()).isEqualTo(2);
        assertThat(again.reconciler()).isEqualTo(other);
        work();
        assertThat(calls).contains(spare.nodeId() + " is filled 2.2");
        report(filling, true);
        assertThat(views.view(GROUP)).as("who ended was late").isEqualTo(again);
        leave(other);
        shouldGoOnWithout(work());
    }

    @Test
    void shouldCloseTheViewWithoutItWhenAMemberEnds()
    {
        leave(middle);
        final View closing = work();
        assertThat(closing.state()).isEqualTo(ViewState.CLOSING);
        assertThat(closing.hasEntering()).isFalse();
        assertThat(closing.survivors()).containsExactly(primary);
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(primary);
    }

    @Test
    void shouldGoOnAsAnotherMetaServer()
    {
        views.onConfirmed(spare, filling);
        conductor = start();
        views = conductor.views();
        calls.clear();
        assertThat(work()).isEqualTo(filling);
        assertThat(calls).containsExactly(spare.nodeId() + " is filled 2.1");
        report(filling, true);
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(middle, spare, primary);
    }

    @Test
    void shouldShowHowFarItIsWhileThatGoesOn()
    {
        final FillReports reports = views.fillReports();
        final FillProgress progress = new FillProgress(ViewAttempt.of(filling), 1, 2, 3, 4, 1, 5);
        final FillProgress other = new FillProgress(ViewAttempt.of(filling.filling(spare, compute)), 1, 2, 3, 4, 1, 5);
        assertThat(reports.all()).isEmpty();
        reports.onReport(middle, progress);
        reports.onReport(compute, other);
        reports.onReport(compute, new FillProgress(new ViewAttempt(8, 1, 1), 1, 2, 3, 4, 1, 5));
        assertThat(reports.all()).as("of another node, attempt, group").isEmpty();
        reports.onReport(compute, progress);
        assertThat(reports.all()).containsExactly(progress);
        report(filling, true);
        assertThat(reports.all()).as("it is filled").isEmpty();
        reports.onReport(compute, progress);
        assertThat(reports.all()).as("late").isEmpty();
        reports.onReport(compute, new FillProgress(ViewAttempt.of(views.view(GROUP)), 1, 2, 3, 4, 1, 5));
        assertThat(reports.all()).as("nobody is filled in this attempt").isEmpty();
    }
}
