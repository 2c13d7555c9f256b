package io.verbena.rdma.soft;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.concurrent.TimeUnit;

/**
 * Receives that several processes claim at once, in every order that a seed may bring; with a claimer that is stopped
 * or dies between any two accesses.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class SharedRingStepsTest
{
    private static final String SCENARIO = "SharedRingScenario";

    @Test
    void shouldDeliverOnceWhateverTheOrderAndWhoeverStopsOrDies() throws ReflectiveOperationException
    {
        SteppedPlays.playShipped(SCENARIO, 100);
    }

    /** The seed to begin with is one that noticed it, so that this does not take long. */
    @ParameterizedTest
    @CsvSource({
        "ReceiveRing, claimAt, SharedWords.compareAndSetLong, compareThenSet, 1",
        "ReceiveRing, oldest, SharedWords.compareAndSetLong, leaveAlone, 6",
        "SoftSharedReceiveQueue, nextFree, SharedWords.compareAndSetLong, leaveAlone, 45",
        "CompletionInbox, claim, SharedWords.compareAndSetLong, compareThenSet, 5",
        "SoftReceiveSide, flushDeadClaims, SoftCompletionQueue.hasReceived, neverReceived, 90" })
    void shouldNoticeTwin(
        final String type, final String method, final String callee, final String replacement, final long firstSeed)
        throws ReflectiveOperationException
    {
        final SteppedLoader.Twin twin = new SteppedLoader.Twin(type, method, callee, replacement);
        SteppedPlays.playTwin(SCENARIO, twin, firstSeed);
    }
}
