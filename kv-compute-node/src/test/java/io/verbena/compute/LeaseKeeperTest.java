package io.verbena.compute;

import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.raas.identity.PeerIdentity;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class LeaseKeeperTest
{
    private static final long INTERVAL_NS = 2_000_000;

    private final MetaRig rig = new MetaRig();
    private final List<Heartbeat> heard = new ArrayList<>();
    private final LeaseKeeper keeper;
    private long operations;
    private long passedEpoch = 9;
    private boolean wantsEpochs;
    private boolean isWorking = true;
    private List<PeerIdentity> left = List.of();

    LeaseKeeperTest()
    {
        rig.answer("heartbeat", (arguments) -> new Heartbeat(11, 9, 20, MetaRig.LEASE_NS, List.of(), List.of()));
        keeper = new LeaseKeeper(rig.link, rig.registered(),
            new ComputeNodeConfiguration().heartbeatIntervalNs(INTERVAL_NS).callTimeoutNs(MetaRig.TIMEOUT_NS),
            heard::add, () -> isWorking ? ++operations : operations, () -> passedEpoch, () -> wantsEpochs,
            () -> left);
        rig.run(keeper::poll);
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldKeepTheLeaseAsLongAsTheMetaServerAnswers()
    {
        rig.runFor(5 * MetaRig.LEASE_NS);
        assertThat(keeper.isHeld(rig.nowNs())).isTrue();
        assertThat(keeper.isUnheard()).isFalse();
        assertThat(heard).isNotEmpty().allMatch((heartbeat) -> 11 == heartbeat.epoch());
        assertThat(rig.count("heartbeat")).as("one an interval, at work")
            .isBetween(5 * MetaRig.LEASE_NS / INTERVAL_NS / 2, 5 * MetaRig.LEASE_NS / INTERVAL_NS);
        assertThat(rig.late()).as("nobody has it looked for").isZero();
    }

    /** The leader of a group may stand still: the next one is looked for before the heartbeat has failed. */
    @Test
    void shouldHaveTheMetaServerLookedForOnceWhenAHeartbeatIsLate()
    {
        rig.runUntil(() -> !heard.isEmpty());
        rig.silent(true);
        final long silentAtNs = rig.nowNs();
        rig.runUntil(() -> rig.late() > 0);
        assertThat(rig.nowNs() - silentAtNs).isLessThan(MetaRig.TIMEOUT_NS);
        rig.runFor(MetaRig.TIMEOUT_NS / 4);
        assertThat(rig.late()).isEqualTo(1);
        assertThat(keeper.isUnheard()).as("the heartbeat is under way").isFalse();
        rig.silent(false);
        rig.runFor(MetaRig.LEASE_NS);
        assertThat(keeper.isHeld(rig.nowNs())).isTrue();
        assertThat(rig.late()).isEqualTo(1);
        rig.silent(true);
        rig.runUntil(() -> rig.late() > 1);
        assertThat(keeper.isHeld(rig.nowNs())).as("also the next time, before the lease ends").isTrue();
    }

    @Test
    void shouldEndTheLeaseByItsOwnClockWhenNobodyAnswers()
    {
        rig.runUntil(() -> !heard.isEmpty());
        rig.silent(true);
        final long silentAtNs = rig.nowNs();
        rig.runUntil(keeper::isUnheard);
        assertThat(keeper.isHeld(rig.nowNs())).as("it goes on for as long as the lease lasts").isTrue();
        rig.runUntil(() -> !keeper.isHeld(rig.nowNs()));
        assertThat(rig.nowNs() - silentAtNs).as("from before the last answered heartbeat was sent")
            .isLessThanOrEqualTo(MetaRig.LEASE_NS);
    }

    @Test
    void shouldKeepTheLeaseWhenTheMetaServerIsBackInTime()
    {
        rig.runUntil(() -> !heard.isEmpty());
        rig.silent(true);
        rig.runFor(MetaRig.LEASE_NS / 2);
        assertThat(keeper.isUnheard()).isTrue();
        rig.silent(false);
        rig.runUntil(() -> !keeper.isUnheard());
        rig.runFor(2 * MetaRig.LEASE_NS);
        assertThat(keeper.isHeld(rig.nowNs())).isTrue();
    }

    @Test
    void shouldLoseTheLeaseAtOnceWhenTheMetaServerHasEndedTheRegistration()
    {
        rig.runUntil(() -> !heard.isEmpty());
        rig.refuse("heartbeat", ControlStatus.UNKNOWN_NODE);
        final long refusedAtNs = rig.nowNs();
        rig.runUntil(() -> !keeper.isHeld(rig.nowNs()));
        assertThat(rig.nowNs() - refusedAtNs).isLessThan(MetaRig.LEASE_NS / 2);
    }

    @Test
    void shouldGoOnWhenAHeartbeatIsRefusedForNow()
    {
        rig.refuse("heartbeat", ControlStatus.UNAVAILABLE);
        rig.runFor(MetaRig.LEASE_NS / 2);
        assertThat(keeper.isHeld(rig.nowNs())).isTrue();
        assertThat(keeper.isUnheard()).isTrue();
        assertThat(heard).isEmpty();
    }

    @Test
    void shouldBeatAFewTimesALeaseAndAwaitNewsWhenThereIsNothingToDo()
    {
        isWorking = false;
        rig.runFor(MetaRig.LEASE_NS);
        final long before = rig.count("heartbeat");
        rig.runFor(4 * MetaRig.LEASE_NS);
        assertThat(rig.count("heartbeat") - before).isBetween(4L, 4L * 6);
        assertThat(rig.count("awaitChange")).as("once, until it is answered").isEqualTo(1);
    }

    @Test
    void shouldReportSoonWhichMemoryNodesItHasLeft()
    {
        isWorking = false;
        rig.runUntil(() -> !rig.awaitingChanges.isEmpty());
        final List<Object> reported = new ArrayList<>();
        rig.answer("heartbeat", (arguments) ->
        {
            reported.add(arguments[6]);
            return new Heartbeat(11, 9, 20, MetaRig.LEASE_NS, List.of(), List.of());
        });
        left = List.of(new PeerIdentity(3, 4));
        final long leftAtNs = rig.nowNs();
        rig.runUntil(() -> reported.contains(left));
        assertThat(rig.nowNs() - leftAtNs).isLessThan(2 * INTERVAL_NS);
        rig.runFor(MetaRig.LEASE_NS);
        assertThat(reported.getLast()).as("again and again").isEqualTo(left);
        assertThat(reported).as("a few times a lease again").hasSizeLessThan(9);
    }

    @Test
    void shouldBeatSoonWhenNewsCome()
    {
        isWorking = false;
        rig.runUntil(() -> !rig.awaitingChanges.isEmpty());
        final long before = rig.count("heartbeat");
        final long newsAtNs = rig.nowNs();
        assertThat(rig.awaitingChanges.removeFirst().give()).isTrue();
        rig.runUntil(() -> rig.count("heartbeat") > before);
        assertThat(rig.nowNs() - newsAtNs).isLessThan(2 * INTERVAL_NS);
    }
}
