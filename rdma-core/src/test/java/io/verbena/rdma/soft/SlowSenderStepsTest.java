package io.verbena.rdma.soft;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Senders and connectors that are stopped or killed after each of their steps hold up nobody else. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class SlowSenderStepsTest
{
    private static final String SCENARIO = "SlowSenderScenario";

    @Test
    void shouldHoldUpNobodyWhereverItStopsOrDies() throws ReflectiveOperationException
    {
        SteppedPlays.playShipped(SCENARIO, 640);
    }

    /** The seed to begin with is one that noticed it, so that this does not take long. */
    @ParameterizedTest
    @CsvSource({
        "InboxReader, isBefore, ClaimWord.visitor, isEverybody, 440, a stopped sender holds up",
        "InboxReader, carryOver, SharedWords.compareAndSetLong, leaveAlone, 440, overrun",
        "CompletionInbox, publish, SharedWords.getAndBitwiseOrLong, readThenSet, 544, lost",
        "SoftConnectionListener, take, SharedWords.compareAndSetLong, leaveAlone, 127, held up: second",
        "SoftDevice, isConnecting, SoftConnectionListener.hasClaimOf, holdsNothing, 123, two visitors" })
    void shouldNoticeTwin(
        final String type, final String method, final String callee, final String replacement, final long firstSeed,
        final String noticed)
        throws ReflectiveOperationException
    {
        final SteppedLoader.Twin twin = new SteppedLoader.Twin(type, method, callee, replacement);
        assertThat(SteppedPlays.playTwin(SCENARIO, twin, firstSeed)).contains(noticed);
    }
}
