package io.verbena.protocol.view;

import io.verbena.raas.identity.PeerIdentity;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class KnownViewsTest
{
    private static final PeerIdentity NAMED = new PeerIdentity(9, 9);
    private static final View FIRST =
        View.first(7, List.of(new PeerIdentity(1, 1), new PeerIdentity(2, 2), new PeerIdentity(3, 3)));
    private static final PeerIdentity NONE = PeerIdentity.UNREGISTERED;
    private static final View CLOSING = FIRST.closing(0b010, NAMED);
    private static final View RECONCILING = CLOSING.reconciling();
    private static final View AGAIN = RECONCILING.closing(0b100, NAMED);
    private static final View NEXT = AGAIN.reconciling().next();
    private static final List<View> ALL = List.of(FIRST, CLOSING, RECONCILING, AGAIN, AGAIN.reconciling(), NEXT);

    @Test
    void shouldOrderRecordsAsTheyWereWritten()
    {
        for (int one = 0; one < ALL.size(); one++)
        {
            for (int other = 0; other < ALL.size(); other++)
            {
                assertThat(ALL.get(one).isLaterThan(ALL.get(other))).as("%s, %s", one, other).isEqualTo(one > other);
            }
        }
        assertThat(ALL.stream().map(View::left)).containsExactly(0L, 1L, 1L, 1L, 1L, 1L);
        assertThat(NEXT).isEqualTo(new View(
            7, 2, ViewState.ACTIVE, 0, List.of(new PeerIdentity(1, 1)), 0, NONE, 3, NONE));
        assertThat(AGAIN.closing(1, NAMED).isDeserted()).isTrue();
        assertThat(AGAIN.closing(1, NAMED).returned(1, new PeerIdentity(2, 8)).survivors())
            .containsExactly(new PeerIdentity(2, 8));
    }

    @Test
    void shouldGoByTheLargestThatWasHeard()
    {
        final KnownViews known = new KnownViews();
        assertThat(known.left()).isEmpty();
        assertThat(known.isActive(7, 1)).isFalse();
        assertThat(known.hear(FIRST)).isTrue();
        assertThat(known.hear(FIRST)).isFalse();
        assertThat(known.isActive(7, 1)).isTrue();
        assertThat(known.left()).containsExactly(new LeftView(7, 0));
        assertThat(known.hear(RECONCILING)).isTrue();
        assertThat(known.hear(CLOSING)).isFalse();
        assertThat(known.hear(FIRST)).isFalse();
        assertThat(known.isActive(7, 1)).isFalse();
        assertThat(known.left()).containsExactly(new LeftView(7, 1));
        assertThat(known.hear(NEXT)).isTrue();
        assertThat(known.view(7)).isEqualTo(NEXT);
        assertThat(known.isActive(7, 1)).isFalse();
        assertThat(known.isActive(7, 2)).isTrue();
        assertThat(known.left()).containsExactly(new LeftView(7, 1));
    }

    /** A port to it may be open as long as it counts in a view that was heard of last. */
    @Test
    void shouldRelyOnMembersThatAreNotLostAndOnWhoComesIn()
    {
        final KnownViews known = new KnownViews();
        final PeerIdentity second = new PeerIdentity(2, 2);
        assertThat(known.relyOn(second)).isFalse();
        known.hear(FIRST);
        assertThat(known.relyOn(second)).isTrue();
        assertThat(known.relyOn(new PeerIdentity(2, 3))).as("an earlier incarnation goes with it").isTrue();
        assertThat(known.relyOn(new PeerIdentity(2, 1))).isFalse();
        assertThat(known.relyOn(new PeerIdentity(4, 9))).isFalse();
        known.hear(CLOSING);
        assertThat(known.relyOn(second)).isFalse();
        assertThat(known.relyOn(new PeerIdentity(3, 3))).isTrue();
        known.hear(NEXT);
        assertThat(known.relyOn(new PeerIdentity(3, 3))).isFalse();
        assertThat(known.relyOn(new PeerIdentity(1, 1))).isTrue();
        known.hear(NEXT.filling(new PeerIdentity(3, 8), NAMED));
        assertThat(known.relyOn(new PeerIdentity(3, 8))).isTrue();
        assertThat(known.relyOn(new PeerIdentity(3, 7))).isFalse();
    }

    @Test
    void shouldRefuseWhatNoViewIs()
    {
        final PeerIdentity one = new PeerIdentity(1, 1);
        assertThatThrownBy(() -> View.first(0, List.of(one))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> View.first(1, List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> View.first(1, List.of(one, new PeerIdentity(1, 2))))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new View(1, 1, ViewState.ACTIVE, 0, List.of(one), 1, NAMED, 1, NONE))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new View(1, 1, ViewState.CLOSING, 0, List.of(one), 0, NAMED, 1, NONE))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new View(1, 1, ViewState.CLOSING, 1, List.of(one), 2, NAMED, 1, NONE))
            .isInstanceOf(IllegalArgumentException.class);
        for (final View closing : List.of(FIRST.closing(0, NAMED), FIRST.closing(1, NAMED), AGAIN))
        {
            final boolean mayEnter = 0 == closing.lost();
            assertThat(mayEnter).as("%s", closing).isEqualTo(isView(closing, new PeerIdentity(9, 9)));
            assertThat(isView(closing, new PeerIdentity(2, 9))).as("a member").isFalse();
        }
        assertThat(isView(FIRST, new PeerIdentity(9, 9))).as("no attempt").isFalse();
        assertThat(isView(FIRST.notFilling(), new PeerIdentity(9, 9))).as("active").isTrue();
        final View full = View.first(
            1, IntStream.rangeClosed(1, View.MAX_MEMBERS).mapToObj((id) -> new PeerIdentity(id, 1)).toList());
        assertThat(isView(full.closing(0, NAMED), new PeerIdentity(9, 9))).as("too many").isFalse();
    }

    private static boolean isView(final View like, final PeerIdentity entering)
    {
        try
        {
            return null != new View(like.group(), like.number(), like.state(), like.attempt(), like.members(),
                like.lost(), like.reconciler(), like.copies(), entering);
        }
        catch (final IllegalArgumentException ex)
        {
            return false;
        }
    }

    /** Who comes in stands before the primary, and comes in with the attempt after it was filled or not at all. */
    @Test
    void shouldHaveAMemberComeInBeforeThePrimary()
    {
        final PeerIdentity entering = new PeerIdentity(9, 9);
        final View two = FIRST.closing(1, NAMED).reconciling().next();
        assertThat(two.lacksMember()).isTrue();
        final View filling = two.filling(entering, NAMED);
        assertThat(filling.isFilling()).isTrue();
        assertThat(filling.lacksMember()).isTrue();
        assertThat(filling.left()).as("it is used").isEqualTo(two.left());
        final View closing = filling.filled();
        assertThat(closing.reconciler()).isEqualTo(NAMED);
        assertThat(closing.lacksMember()).isFalse();
        assertThat(closing.survivors()).isEqualTo(two.members());
        assertThat(closing.closers()).containsExactly(
            new PeerIdentity(2, 2), new PeerIdentity(3, 3), entering);
        assertThat(closing.reconciling().hasEntering()).isTrue();
        final View three = closing.reconciling().next();
        assertThat(three.members()).containsExactly(new PeerIdentity(2, 2), entering, new PeerIdentity(3, 3));
        assertThat(three.lacksMember()).isFalse();
        assertThat(three.hasEntering()).isFalse();
        assertThat(closing.closing(0, NAMED).reconciling().next().members()).isEqualTo(two.members());
        final View only = FIRST.closing(3, NAMED).reconciling().next();
        assertThat(only.filling(entering, NAMED).filled().reconciling().next().members())
            .containsExactly(entering, new PeerIdentity(3, 3));
        assertThat(two.places(List.of(entering, new PeerIdentity(3, 3)))).isEqualTo(2);
    }

    @Test
    void shouldHearOfWhoIsFilledWithoutAnotherView()
    {
        final View filling = FIRST.filling(new PeerIdentity(9, 9), NAMED);
        assertThat(filling.isLaterThan(FIRST)).isTrue();
        assertThat(filling.filling(filling.entering(), NAMED).isLaterThan(filling)).isTrue();
        final View without = filling.notFilling();
        assertThat(without.isLaterThan(filling)).isTrue();
        assertThat(without.isFilling()).isFalse();
        assertThat(without.reconciler()).isEqualTo(PeerIdentity.UNREGISTERED);
        assertThat(without.members()).isEqualTo(FIRST.members());
        final View filled = filling.filled();
        assertThat(filled.isLaterThan(filling)).isTrue();
        assertThat(filled.attempt()).as("what was confirmed of the one before does not count").isEqualTo(2);
        assertThat(filled.isFilling()).isFalse();
        assertThat(filling.closing(1, NAMED).hasEntering()).as("a member is lost").isFalse();
        assertThat(filling.closing(1, NAMED).isLaterThan(filling)).isTrue();
    }
}
