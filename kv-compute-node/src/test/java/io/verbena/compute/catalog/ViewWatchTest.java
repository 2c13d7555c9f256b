package io.verbena.compute.catalog;

import io.verbena.compute.MetaRig;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewPage;
import io.verbena.raas.identity.PeerIdentity;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** When a node asks for views, and what it says that it has left. */
class ViewWatchTest
{
    private static final long LONG_NS = 50_000_000;
    private static final View FIRST =
        View.first(9, List.of(new PeerIdentity(1, 1), new PeerIdentity(2, 2)));
    private static final View CLOSING = FIRST.closing(1, new PeerIdentity(3, 7));

    private final MetaRig rig = new MetaRig();
    private final List<View> heard = new ArrayList<>();
    private final List<List<LeftView>> reported = new ArrayList<>();
    private List<View> present = List.of();
    private CatalogWatch catalog;
    private ViewWatch watch;

    @BeforeEach
    void open()
    {
        rig.registered();
        final UnexpectedFailures failures = new UnexpectedFailures(rig.world.clock());
        catalog = new CatalogWatch(
            rig.link, new TableRegistry(rig.link, (descriptor) -> null, () -> 0, MetaRig.TIMEOUT_NS, failures),
            MetaRig.TIMEOUT_NS, failures);
        catalog.onHeard(1, 1);
        watch = new ViewWatch(rig.link, catalog, rig.nowNs(), MetaRig.TIMEOUT_NS, heard::add);
        answer();
        rig.run((nowNs) -> catalog.poll(nowNs) + watch.poll(nowNs));
    }

    @SuppressWarnings("unchecked")
    private void answer()
    {
        rig.answer("views", (arguments) ->
        {
            reported.add((List<LeftView>)arguments[1]);
            return new ViewPage(present, false);
        });
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldAskOnceForEachVersion()
    {
        rig.runFor(LONG_NS);
        assertThat(reported).hasSize(1);
        assertThat(watch.isBusy()).isFalse();
        catalog.onHeard(1, 2);
        rig.runFor(LONG_NS);
        assertThat(reported).hasSize(2);
        assertThat(watch.rounds()).isEqualTo(2);
    }

    @Test
    void shouldReportWhatItHasLeftAtOnceAndAgainWhileTheViewIsUnderChange()
    {
        present = List.of(FIRST);
        rig.runFor(LONG_NS);
        assertThat(heard).containsExactly(FIRST);
        assertThat(watch.views().isActive(9, 1)).isTrue();
        reported.clear();
        present = List.of(CLOSING);
        catalog.onHeard(1, 2);
        rig.runUntil(() -> 2 == heard.size());
        final long heardNs = rig.nowNs();
        rig.runUntil(() -> reported.size() == 2);
        assertThat(rig.nowNs() - heardNs).as("until it says so").isLessThan(1_000_000);
        assertThat(reported.getLast()).containsExactly(new LeftView(9, 1));
        rig.runFor(LONG_NS);
        assertThat(reported.size()).as("a meta server that was restarted asks again").isBetween(6, 14);
        present = List.of(CLOSING.reconciling().next());
        rig.runUntil(() -> 3 == heard.size());
        reported.clear();
        rig.runFor(LONG_NS);
        assertThat(reported).as("what is active, and was reported").hasSizeLessThanOrEqualTo(2);
        assertThat(watch.isBusy()).isFalse();
    }

    @Test
    void shouldAskAgainAfterAFailureAndWhenItIsWanted()
    {
        rig.refuse("views", ControlStatus.UNAVAILABLE);
        rig.runFor(LONG_NS);
        assertThat(watch.rounds()).isZero();
        answer();
        present = List.of(FIRST);
        rig.runUntil(() -> 1 == watch.rounds());
        rig.runFor(LONG_NS);
        final int asked = reported.size();
        final long next = watch.nextRound();
        watch.askAgain();
        assertThat(watch.isBusy()).isTrue();
        rig.runUntil(() -> watch.rounds() == next);
        assertThat(reported).hasSize(asked + 1);
    }

    /** Records come late, twice and in any order. */
    @Test
    void shouldKeepTheLatest()
    {
        watch.hear(CLOSING);
        watch.hear(FIRST);
        watch.hear(CLOSING);
        assertThat(heard).containsExactly(CLOSING);
        assertThat(watch.views().isActive(9, 1)).isFalse();
    }
}
