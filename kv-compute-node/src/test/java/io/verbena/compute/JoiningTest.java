package io.verbena.compute;

import io.verbena.compute.figures.JoinTimeline;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class JoiningTest
{
    private static final long SECOND_NS = 1_000_000_000;
    private static final long JOIN_NS = 3 * SECOND_NS;
    private static final long SHORTEST_PAUSE_NS = 10_000_000;
    private static final long LONGEST_PAUSE_NS = 160_000_000;

    private final MetaRig rig = new MetaRig();
    private final List<Long> failedAtNs = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private int unreachable;
    private final Joining joining = new Joining(rig.raas.device(), rig.metaServer,
        new ComputeNodeConfiguration().callTimeoutNs(MetaRig.TIMEOUT_NS).joinTimeoutNs(JOIN_NS),
        new JoinTimeline(rig.nowNs()), new UnexpectedFailures(rig.world.clock()));

    /** What the node's duty cycle does with it. */
    private long poll(final long nowNs)
    {
        final int workCount = joining.poll(nowNs);
        if (!joining.failure().isEmpty())
        {
            failures.add(joining.failure());
            failedAtNs.add(nowNs);
            unreachable += joining.isMetaServerUnreachable() ? 1 : 0;
            joining.close();
            joining.pause(nowNs);
        }
        return workCount;
    }

    @AfterEach
    void close()
    {
        joining.close();
        rig.close();
    }

    @Test
    void shouldRegister()
    {
        rig.run(this::poll);
        assertThat(joining.isRegistered()).isFalse();
        rig.runUntil(joining::isRegistered);
        assertThat(joining.failure()).isEmpty();
        assertThat(joining.isUnderWay()).isTrue();
        assertThat(joining.isMetaServerUnreachable()).isFalse();
        assertThat(joining.counters().verbs()).isPositive();
        assertThat(joining.transports().counts().values()).contains(1);
        joining.close();
        assertThat(joining.isUnderWay()).isFalse();
        assertThat(joining.isRegistered()).isFalse();
        assertThat(joining.counters().verbs()).isZero();
        assertThat(joining.transports().counts()).isEmpty();
    }

    @Test
    void shouldTryAgainAfterPausesThatGrow()
    {
        rig.refuse("register", ControlStatus.UNAVAILABLE);
        rig.run(this::poll);
        rig.runFor(2 * SECOND_NS);
        assertThat(failures).as("in two seconds").hasSizeBetween(13, 60)
            .allMatch((failure) -> failure.startsWith("cannot register at the meta server: UNAVAILABLE"));
        assertThat(pauseNs(0)).isBetween(SHORTEST_PAUSE_NS, LONGEST_PAUSE_NS / 4);
        assertThat(pauseNs(failedAtNs.size() - 2))
            .isBetween(LONGEST_PAUSE_NS / 2, LONGEST_PAUSE_NS + MetaRig.TIMEOUT_NS);
        assertThat(unreachable).isZero();
        assertThat(rig.count("register")).as("one call an attempt").isEqualTo(failures.size());

        joining.onServing();
        failedAtNs.clear();
        rig.runUntil(() -> failedAtNs.size() > 1);
        assertThat(pauseNs(0)).as("a first one again").isBetween(SHORTEST_PAUSE_NS, LONGEST_PAUSE_NS / 4);
    }

    /** Its certificate names another role, say; a node that has served may be allowed again. */
    @Test
    void shouldKnowThatItMayNotJoin()
    {
        rig.refuse("register", ControlStatus.UNAVAILABLE);
        rig.run(this::poll);
        rig.runUntil(() -> failures.size() > 1);
        assertThat(joining.isForbidden()).isFalse();
        rig.refuse("register", ControlStatus.FORBIDDEN);
        failures.clear();
        rig.runUntil(() -> failures.size() > 0);
        assertThat(joining.isForbidden()).as("it may know too little yet").isFalse();
        rig.runUntil(joining::isForbidden);
        assertThat(failures).hasSize(2);
        assertThat(failures).last().asString().startsWith("cannot register at the meta server: FORBIDDEN");
        joining.onServing();
        assertThat(joining.isForbidden()).isFalse();
    }

    private void refuseFor(final long delayNs)
    {
        rig.answer("register", (arguments) ->
        {
            throw new ControlException(ControlStatus.UNAVAILABLE, "many register", delayNs);
        });
    }

    @Test
    void shouldAskAgainWhenTheMetaServerWantsItAndNoLaterThanSeconds()
    {
        final long delayNs = SECOND_NS / 2;
        refuseFor(delayNs);
        rig.run(this::poll);
        rig.runUntil(() -> failedAtNs.size() > 1);
        assertThat(pauseNs(0)).isBetween(delayNs, 2 * delayNs + MetaRig.TIMEOUT_NS);
        refuseFor(1_000 * SECOND_NS);
        failedAtNs.clear();
        rig.runUntil(() -> failedAtNs.size() > 1);
        assertThat(pauseNs(0)).as("a server that is mistaken").isBetween(SECOND_NS, 2 * SECOND_NS + MetaRig.TIMEOUT_NS);
        rig.refuse("register", ControlStatus.UNAVAILABLE);
        rig.runUntil(() -> failedAtNs.size() > 2);
        failedAtNs.clear();
        rig.runUntil(() -> failedAtNs.size() > 1);
        assertThat(pauseNs(0)).as("it said so once").isLessThanOrEqualTo(LONGEST_PAUSE_NS + MetaRig.TIMEOUT_NS);
    }

    private long pauseNs(final int index)
    {
        return failedAtNs.get(index + 1) - failedAtNs.get(index);
    }

    @Test
    void shouldBeLateOnlyWhenItHasNeverServed()
    {
        final long beganNs = rig.nowNs();
        assertThat(joining.isLate(beganNs + JOIN_NS)).isFalse();
        assertThat(joining.isLate(beganNs + JOIN_NS + 1)).isTrue();
        joining.onServing();
        assertThat(joining.isLate(beganNs + JOIN_NS + 1)).isFalse();
    }

    @Test
    void shouldKnowThatTheMetaServerIsSilentAndJoinWhenItIsBack()
    {
        rig.silent(true);
        rig.run(this::poll);
        rig.runUntil(() -> failures.size() > 2);
        assertThat(unreachable).as("when it failed").isEqualTo(failures.size());
        rig.silent(false);
        rig.runUntil(joining::isRegistered);
    }
}
