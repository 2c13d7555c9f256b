package io.verbena.embedded;

import io.verbena.rdma.sim.schedule.SimRepetition;

import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.stream.Stream;

import static org.junit.jupiter.api.Named.named;

/** A seed that failed can be run again: each kind of simulated run here does the same twice, step by step. */
class RepetitionSimTest
{
    static Stream<Named<Runnable>> runs()
    {
        return Stream.concat(durable(), Stream.of(
            named("nodes come and go", () -> new ClusterSimTest().shouldFailNoOperationWhenComputeNodesComeAndGo(1)),
            named("nodes crash", () -> new ClusterSimTest().shouldStayLinearizableWhenComputeNodesCrashAndPause(2)),
            named("remote client", () -> new RemoteClientSimTest().shouldFailNoOperationWhenComputeNodesComeAndGo(1)),
            named("remote client, nodes crash",
                () -> new RemoteClientSimTest().shouldStayLinearizableWhenComputeNodesDieAndConnectionsBreak(2)),
            named("meta server moves",
                () -> new MetaServerMoveSimTest().shouldAnswerAsIfTheMetaServerHadNotMoved(3)),
            named("growing, nodes crash",
                () -> new GrowingTableSimTest().shouldStayLinearizableWhenSplittersCrash(2)),
            named("reclaiming", () -> new ReclamationSimTest().shouldLoseNoByteWhenNodesCrashAndPause(1)),
            named("reclaiming, late looks", () -> new ReclamationSimTest().shouldLoseNoByteWhenLooksAreLate(1)),
            named("reads before connecting", () ->
                new ReadBeforeConnectSimTest().shouldServeReadsWhileMemoryNodesStandStillAndChangesAfterwards(1)),
            named("resting", () -> new RestingNodeSimTest().shouldNotHoldUpWhoWaitsForEpochs(1)),
            named("many tables", () -> new ManyTablesSimTest().shouldLeaveNoTableOutWhenQuestionsTimeOut()),
            named("figures of space",
                () -> new SpaceFiguresSimTest().shouldAgreeWithTheListWhileOperationsAreUnderWay(1)),
            named("returned index",
                () -> new IndexReturnSimTest().shouldLeaveAChunkAloneThatIsSomebodyElsesWhenItIsReturnedAgain())));
    }

    /** Seeds 2 and 3: named memory outlives its process in the one, and not in the other. */
    private static Stream<Named<Runnable>> durable()
    {
        return Stream.of(
            named("adoption", () -> DurabilityRun.adoption(2, Flaw.NONE)),
            named("adoption, other memory", () -> DurabilityRun.adoption(3, Flaw.NONE)),
            named("restoration", () -> DurabilityRun.restoration(2, Flaw.NONE)),
            named("restoration, damaged", () -> DurabilityRun.restoration(3, Flaw.BATCH_SYNCED)),
            named("restored while growing", () -> DurabilityRun.growing(2, Flaw.NONE)),
            named("restored while growing, seen once", () -> DurabilityRun.growing(2, Flaw.LOOK_AGAIN)),
            named("restored while shrinking", () -> DurabilityRun.shrinking(2, Flaw.NONE)),
            named("cut short while growing", () -> DurabilityRun.growingCutShort(2, Flaw.NONE)),
            named("cut short", () -> DurabilityRun.cutShort(40, Flaw.NONE)),
            named("torn", () -> DurabilityRun.torn(Flaw.WHOLE_BLOCK)),
            named("late", () -> DurabilityRun.late(2, Flaw.NONE)),
            named("away", () -> DurabilityRun.away(2, Flaw.NONE)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("runs")
    void shouldDoTheSameAgain(final Runnable run)
    {
        SimRepetition.check(run);
    }
}
