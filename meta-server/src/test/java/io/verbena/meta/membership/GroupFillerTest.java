package io.verbena.meta.membership;

import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Which memory node comes in by itself, and when. */
class GroupFillerTest extends GroupRig
{
    private static final long DELAY_NS = 1_000_000_000;
    private static final long STEP_NS = DELAY_NS / 40;

    private final GroupFiller filler = new GroupFiller(views, conductor.table(), DELAY_NS);

    private void lackHead()
    {
        loseHead();
        filler.poll(nowNs);
    }

    /** @return who comes in within a time; {@link PeerIdentity#UNREGISTERED} for nobody. */
    private PeerIdentity after(final long durationNs)
    {
        for (final long endNs = nowNs + durationNs; nowNs < endNs && !views.view(GROUP).hasEntering();
            nowNs += STEP_NS)
        {
            filler.poll(nowNs);
        }
        return views.view(GROUP).entering();
    }

    @Test
    void shouldWaitForTheDelaySinceAMemberIsLacking()
    {
        lackHead();
        final PeerIdentity spare = memory("rack-4");
        assertThat(after(DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
        assertThat(after(DELAY_NS)).isEqualTo(spare);
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(middle, spare, primary);
        assertThat(after(20 * DELAY_NS)).as("nothing is lacking").isEqualTo(PeerIdentity.UNREGISTERED);
        leave(spare);
        work();
        end(true);
        memory("rack-5");
        assertThat(after(DELAY_NS)).as("since it is lacking again").isEqualTo(PeerIdentity.UNREGISTERED);
    }

    /** Whose lease may last still, while its process has ended. */
    @Test
    void shouldNotTakeAMemoryNodeThatWasNotHeardOfSince()
    {
        final PeerIdentity lost = memory("rack-4");
        nowNs++;
        lackHead();
        assertThat(after(4 * DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
        conductor.heartbeat(lost.nodeId(), lost.incarnation(), 0, nowNs);
        assertThat(after(DELAY_NS)).isEqualTo(lost);
    }

    /** Nor one that has left, or may never hear that it is registered. */
    @Test
    void shouldTryNobodyWhoIsNotThereAndThenAtOnceWhoIs()
    {
        lackHead();
        leave(memory("rack-4"));
        join(NodeRole.COMPUTE_NODE, FailureDomain.NONE);
        final PeerIdentity silent = register(NodeRole.MEMORY_NODE, "rack-5");
        assertThat(after(2 * DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
        conductor.heartbeat(silent.nodeId(), silent.incarnation(), 0, nowNs);
        assertThat(after(8 * STEP_NS)).isEqualTo(silent);
    }

    @Test
    void shouldDoNothingWithoutADelay()
    {
        lackHead();
        memory("rack-4");
        final GroupFiller never = new GroupFiller(views, conductor.table(), 0);
        for (int i = 0; i < 100; i++)
        {
            assertThat(never.poll(nowNs += DELAY_NS)).isZero();
        }
        assertThat(views.view(GROUP).hasEntering()).isFalse();
    }

    /** In a failure domain of its own, then in the fewest groups, then of the least number. */
    @Test
    void shouldChooseWhoIsLostWithTheFewest()
    {
        lackHead();
        final PeerIdentity beside = memory("rack-2");
        final PeerIdentity busy = memory("rack-4");
        final PeerIdentity idle = memory("rack-4");
        views.begin(View.first(8, List.of(busy, beside)));
        assertThat(after(2 * DELAY_NS)).isEqualTo(idle);
        leave(idle);
        work();
        assertThat(after(2 * DELAY_NS)).isEqualTo(busy);
    }

    @Test
    void shouldRatherShareADomainThanLackACopy()
    {
        lackHead();
        final PeerIdentity beside = memory("rack-2");
        assertThat(after(2 * DELAY_NS)).isEqualTo(beside);
    }

    /** As is a member. */
    @Test
    void shouldCountOnOneWithoutALabelToBeElsewhere()
    {
        lackHead();
        memory("rack-2");
        final PeerIdentity elsewhere = memory(FailureDomain.NONE);
        assertThat(after(2 * DELAY_NS)).isEqualTo(elsewhere);
    }

    /** One that did not come in is tried again when all others were, and each a delay later. */
    @Test
    void shouldTryAnotherOneAfterAnAttemptThatFailed()
    {
        lackHead();
        final PeerIdentity one = memory("rack-4");
        final PeerIdentity two = memory("rack-5");
        assertThat(after(2 * DELAY_NS)).isEqualTo(one);
        end(false);
        end(true);
        assertThat(views.view(GROUP).members()).containsExactly(middle, primary);
        assertThat(after(DELAY_NS / 2)).isEqualTo(PeerIdentity.UNREGISTERED);
        assertThat(after(DELAY_NS)).isEqualTo(two);
        end(false);
        end(true);
        assertThat(after(3 * DELAY_NS)).isEqualTo(one);
    }

    /** It may take hours, which count for nobody's delay. */
    @Test
    void shouldWaitWhileOneIsFilled()
    {
        lackHead();
        final PeerIdentity one = memory("rack-4");
        final PeerIdentity two = memory("rack-5");
        assertThat(after(2 * DELAY_NS)).isEqualTo(one);
        for (int i = 0; i < 100; i++)
        {
            filler.poll(nowNs += DELAY_NS);
        }
        final View filling = views.view(GROUP);
        assertThat(filling.entering()).isEqualTo(one);
        views.onReconciled(filling.reconciler(), ViewAttempt.of(filling), false);
        assertThat(after(DELAY_NS / 2)).isEqualTo(PeerIdentity.UNREGISTERED);
        assertThat(after(DELAY_NS)).isEqualTo(two);
    }

    /** One memory node at a time: all of them would share what may be copied. */
    @Test
    void shouldWaitWhileOneIsFilledForAnotherGroup()
    {
        lackHead();
        final PeerIdentity spare = memory("rack-4");
        final int other = GROUP + 1;
        views.begin(new View(other, 1, ViewState.ACTIVE, 0, List.of(primary), 0, PeerIdentity.UNREGISTERED, 2,
            PeerIdentity.UNREGISTERED));
        assertThat(after(2 * DELAY_NS)).isEqualTo(spare);
        conductor.heartbeat(spare.nodeId(), spare.incarnation(), 0, nowNs);
        for (int i = 0; i < 100; i++)
        {
            filler.poll(nowNs += DELAY_NS);
        }
        assertThat(views.view(GROUP).isFilling()).isTrue();
        assertThat(views.view(other).hasEntering()).isFalse();
        end(true);
        filler.poll(nowNs += DELAY_NS);
        assertThat(views.view(other).isFilling()).isTrue();
    }

    @Test
    void shouldWaitWhileAnotherGroupIsChanging()
    {
        lackHead();
        final PeerIdentity other = memory("rack-4");
        final PeerIdentity another = memory("rack-5");
        views.begin(View.first(8, List.of(other, another)));
        leave(other);
        work();
        assertThat(views.view(8).state()).isEqualTo(ViewState.CLOSING);
        assertThat(after(4 * DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
    }

    @Test
    void shouldTryAgainWhenThereIsAComputeNode()
    {
        lackHead();
        final PeerIdentity spare = memory("rack-4");
        leave(compute);
        assertThat(after(4 * DELAY_NS)).isEqualTo(PeerIdentity.UNREGISTERED);
        join(NodeRole.COMPUTE_NODE, FailureDomain.NONE);
        assertThat(after(3 * DELAY_NS)).isEqualTo(spare);
    }
}
