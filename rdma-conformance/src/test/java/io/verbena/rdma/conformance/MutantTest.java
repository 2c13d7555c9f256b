package io.verbena.rdma.conformance;

import io.verbena.rdma.conformance.RuleResult.Verdict;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** A suite that cannot fail is worth nothing: each fault has a rule, by name, that finds it. */
class MutantTest
{
    /** Fault, the rule that has to find it, and how the fault is made. */
    static Stream<Arguments> mutants()
    {
        return Stream.of(
            mutant("Order.shouldFlushEverythingOutstandingWhenMovedToError", Mutants::dropsFlushes),
            mutant("Order.shouldCompleteInPostingOrder", Mutants::completesOutOfOrder),
            mutant("Protection.shouldFailAsAccessErrorWhenRemoteKeyIsUnknown",
                () -> Mutants.swapsStatus(WorkCompletionStatus.REM_ACCESS_ERR, WorkCompletionStatus.REM_INV_REQ_ERR)),
            mutant("Protection.shouldFailAsInvalidRequestWhenAtomicIsNotAligned",
                () -> Mutants.swapsStatus(WorkCompletionStatus.REM_INV_REQ_ERR, WorkCompletionStatus.REM_ACCESS_ERR)),
            mutant("Protection.shouldFailBothSidesWhenSendIsLongerThanReceive",
                () -> Mutants.swapsStatus(WorkCompletionStatus.LOC_LEN_ERR, WorkCompletionStatus.WR_FLUSH_ERR)),
            mutant("Order.shouldFailSendWhenPeerNeverPostsReceive", () ->
                Mutants.swapsStatus(WorkCompletionStatus.RNR_RETRY_EXC_ERR, WorkCompletionStatus.RETRY_EXC_ERR)),
            mutant("Data.shouldDeliverImmediateWhenSendWithImmediate", Mutants::losesImmediates),
            mutant("Data.shouldDeliverSendWhenReceiveIsPosted", Mutants::miscountsReceivedBytes),
            mutant("Queues.shouldStaySilentForUnsignaledSuccess", Mutants::signalsEverything),
            mutant("Order.shouldReadOldBytesWhenLaterWriteIsFenced", Mutants::ignoresFences),
            mutant("Data.shouldTakePayloadAtPostTimeWhenInline", Mutants::ignoresInline),
            mutant("Data.shouldMoveAnyAlignmentAndLengthExactly", Mutants::losesTheLastByteOfWrites),
            mutant("Data.shouldAddAndReturnOldValueWhenFetchAdd", Mutants::addsTwice),
            mutant("Retries.shouldExecuteEachAtomicExactlyOnce", Mutants::addsTwice),
            mutant("Protection.shouldFailAsAccessErrorWhenRegionWasClosed", Mutants::keepsServingClosedRegions),
            mutant("Protection.shouldFailAsInvalidRequestWhenQueuePairLacksReadRight", Mutants::givesEveryRight),
            mutant("Order.shouldFlushWaitingSendsWhenMovedToError", Mutants::stopsNothing),
            mutant("Queues.shouldFailAsRetryExceededWhenPeerQueuePairIsInError", Mutants::stopsNothing),
            mutant("Protection.shouldFailAsAccessErrorWhenRegionLacksRight", Mutants::hidesErrors),
            mutant("Queues.shouldReclaimUnsignaledSlotsOnlyWhenLaterSignaledCompletionIsPolled",
                Mutants::reclaimsSlotsAtOnce),
            mutant("RandomPrograms.shouldAgreeWithModelOnRandomPrograms", Mutants::losesTheLastByteOfWrites));
    }

    /** The same for objects beyond RC queue pairs. */
    static Stream<Arguments> mutantsOfOtherObjects()
    {
        return Stream.of(
            mutant("AsyncEvents.shouldRaiseAccessEventWhenRemoteKeyIsUnknown", Mutants::losesEvents),
            mutant("States.shouldTellThatSendQueueIsDrained", Mutants::losesEvents),
            mutant("SharedReceives.shouldTellThatFailedQueuePairConsumesNoMore", Mutants::losesEvents),
            mutant("SharedReceives.shouldRaiseLimitEventOnceWhenFewerReceivesAreLeftAndDisarmIt",
                Mutants::forgetsTheLimit),
            mutant("Notifications.shouldRaiseOneEventForEachArming", Mutants::neverWakes),
            mutant("Notifications.shouldRaiseEventForSolicitedOnlyWhenSenderAsked", Mutants::wakesForEverything),
            mutant("MemoryWindows.shouldRefuseAccessBeforeWindow", Mutants::bindsTheWholeRegion),
            mutant("RandomPrograms.shouldAgreeWithModelThroughMemoryWindow", Mutants::bindsTheWholeRegion),
            mutant("DynamicConnections.shouldRefuseWrongAccessKeyAndCountIt", Mutants::acceptsAnyAccessKey),
            mutant("Unreliable.shouldWriteAndSendUnreliably", Mutants::losesImmediates),
            mutant("RandomPrograms.shouldAgreeWithModelOnUnreliableConnection", Mutants::losesTheLastByteOfWrites),
            mutant("RandomPrograms.shouldAgreeWithModelOnSharedReceives", Mutants::addsTwice),
            mutant("Order.shouldShowWrittenBytesToTargetWhenLaterImmediateHasArrived", Mutants::writesLate),
            mutant("Retries.shouldLoseNoAdditionOfSeveralQueuePairs", Mutants::addsTwice),
            mutant("Retries.shouldConsumeOneReceiveForEachMessage", Mutants::sendsTwice),
            mutant("MemoryWindows.shouldFailToInvalidateTwice",
                () -> Mutants.swapsStatus(WorkCompletionStatus.LOC_QP_OP_ERR, WorkCompletionStatus.SUCCESS)),
            mutant("MemoryWindows.shouldTakeWindowBackBySendOfUnreliablePeer", Mutants::losesImmediates),
            mutant("Datagrams.shouldRefuseWindowsOnDatagramQueuePair", Mutants::refusesNothing),
            mutant("Datagrams.shouldRefuseInvalidationOnDatagramQueuePair", Mutants::refusesNothing),
            mutant("Segments.shouldGatherWriteFromSeveralPlaces", Mutants::losesSegments),
            mutant("Segments.shouldGatherFromSeveralRegions", Mutants::takesSegmentsWithTheKeyBefore),
            mutant("Segments.shouldFailAsAWholeWhenKeyOfLaterSegmentIsUnknown",
                Mutants::takesSegmentsWithTheKeyBefore),
            mutant("Segments.shouldFailReadWhenLaterSegmentIsNotWritable", Mutants::takesSegmentsWithTheKeyBefore),
            mutant("RandomPrograms.shouldAgreeWithModelOnRandomPrograms", Mutants::losesSegments));
    }

    private static Arguments mutant(final String rule, final Supplier<Mutant> mutant)
    {
        return arguments(rule, mutant);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource({"mutants", "mutantsOfOtherObjects"})
    void shouldBeFoundByItsRuleAndByNothingWhenSound(final String rule, final Supplier<Mutant> mutant)
    {
        assertThat(run(rule, Mutant::new)).as("without the fault").isEqualTo(Verdict.PASS);
        assertThat(run(rule, mutant)).as("with the fault").isEqualTo(Verdict.FAIL);
    }

    /** Faults that only show when a response is lost and its request comes again. */
    @ParameterizedTest
    @ValueSource(strings = {
        "Retries.shouldExecuteEachAtomicExactlyOnce", "Retries.shouldConsumeOneReceiveForEachMessage",
        "Retries.shouldLoseNoAdditionOfSeveralQueuePairs"})
    void shouldFindRequestsThatAreExecutedTwiceWhenTheyComeAgain(final String rule)
    {
        final SimFabricOptions lossy = new SimFabricOptions().responseLoss(0.2);
        assertThat(run(rule, lossy)).as("recognised").isEqualTo(Verdict.PASS);
        assertThat(run(rule, lossy.repeatsRecognised(false))).as("executed again").isEqualTo(Verdict.FAIL);
    }

    private static Verdict run(final String rule, final SimFabricOptions options)
    {
        final ConformancePath path = ConformancePath.of(
            "lossy", AllowList.NOTHING, () -> new SimRig(new SimFabric(4711, options)));
        return ConformanceRun.run(path, Pattern.compile("^" + Pattern.quote(rule) + "$"), () -> 0, result -> { })
            .getFirst().verdict();
    }

    @Test
    void shouldShrinkFailingProgramAndPrintItsSeed()
    {
        final RuleResult result = run("RandomPrograms.shouldAgreeWithModelOnRandomPrograms", AllowList.NOTHING,
            Mutants::losesTheLastByteOfWrites).getFirst();
        assertThat(result.detail()).containsPattern("-Dverbena.verbs.seed=\\d+ on RC, shrunk to 1 steps");
    }

    @Test
    void shouldFailWhenRuleOnAllowListPasses()
    {
        final RuleResult result = run("Data.shouldDeliverSendWhenReceiveIsPosted",
            AllowList.parse("test", "Data.shouldDeliverSendWhenReceiveIsPosted unsupported not yet"), Mutant::new)
            .getFirst();
        assertThat(result.verdict()).isEqualTo(Verdict.FAIL);
        assertThat(result.detail()).contains("passes", "not yet", "take it off");
    }

    @Test
    void shouldFailWhenRuleOnAllowListFailsOtherwiseThanAsUnsupported()
    {
        final String rule = "Data.shouldDeliverSendWhenReceiveIsPosted";
        assertThat(run(rule, AllowList.parse("test", rule + " unsupported not yet"), Mutants::miscountsReceivedBytes))
            .extracting(RuleResult::verdict).containsExactly(Verdict.FAIL);
        final AllowList deviating = AllowList.parse("test", rule + " deviates a known fault");
        assertThat(run(rule, deviating, Mutants::miscountsReceivedBytes))
            .extracting(RuleResult::verdict, RuleResult::detail)
            .containsExactly(tuple(Verdict.UNSUPPORTED, "deviates: a known fault"));
    }

    @Test
    void shouldFailWhenAllowListNamesNoRule()
    {
        final List<RuleResult> results = run("Data.shouldDeliverSendWhenReceiveIsPosted",
            AllowList.parse("test", "# why\n\nData.shouldFly unsupported it cannot"), Mutant::new);
        assertThat(results).extracting(RuleResult::rule, RuleResult::verdict).containsExactly(
            tuple("Data.shouldDeliverSendWhenReceiveIsPosted", Verdict.PASS),
            tuple("Data.shouldFly", Verdict.FAIL));
    }

    @Test
    void shouldNotRunWhatAllowListKeepsFromRunning()
    {
        final String rule = "Data.shouldDeliverSendWhenReceiveIsPosted";
        assertThat(run(rule, AllowList.parse("test", rule + " not-run it ends the machine"), Mutant::new))
            .extracting(RuleResult::verdict, RuleResult::detail)
            .containsExactly(tuple(Verdict.UNSUPPORTED, "not run: it ends the machine"));
    }

    @Test
    void shouldHoldRuleAgainstListThatAmends()
    {
        final String rule = "Data.shouldDeliverSendWhenReceiveIsPosted";
        final AllowList list = AllowList.parse("test", rule + " deviates a known fault");
        final AllowList amended = list.amendedBy(AllowList.parse("variant", rule + " holds without the fault"));
        assertThat(run(rule, amended, Mutants::miscountsReceivedBytes))
            .extracting(RuleResult::verdict).containsExactly(Verdict.FAIL);
        assertThat(run(rule, amended, Mutant::new))
            .extracting(RuleResult::verdict).containsExactly(Verdict.PASS);
    }

    private static Verdict run(final String rule, final Supplier<Mutant> mutant)
    {
        final List<RuleResult> results = run(rule, AllowList.NOTHING, mutant);
        assertThat(results).as(rule).hasSize(1);
        return results.getFirst().verdict();
    }

    private static List<RuleResult> run(final String rule, final AllowList allowList, final Supplier<Mutant> mutant)
    {
        final ConformancePath path = ConformancePath.of("mutant", allowList, () -> new MutantRig(
            new SimRig(new SimFabric(4711, new SimFabricOptions().holdsCallersMemory(true))), mutant.get()));
        return ConformanceRun.run(path, Pattern.compile("^" + Pattern.quote(rule) + "$"), () -> 0, result -> { });
    }
}
