package io.verbena.rdma.soft;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Windows that are bound and taken away while others use them, in every order that a seed may bring.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class WindowStepsTest
{
    private static final String SCENARIO = "WindowScenario";

    @Test
    void shouldLandNothingOutsideOfWhatIsBoundWhateverTheOrder() throws ReflectiveOperationException
    {
        SteppedPlays.playShipped(SCENARIO, 100);
    }

    /** The seed to begin with is one that noticed it, so that this does not take long. */
    @ParameterizedTest
    @CsvSource({
        "WindowRequests, begin, SoftConnection.insideMark, nobodyInside, 319",
        "SoftPeer, knownWindow, SoftPeer$MappedRegion.isBoundAs, hasSameKey, 401",
        "SoftPeer, open, SoftPeer.isStill, isNeverChanged, 260" })
    void shouldNoticeTwin(
        final String type, final String method, final String callee, final String replacement, final long firstSeed)
        throws ReflectiveOperationException
    {
        final SteppedLoader.Twin twin = new SteppedLoader.Twin(type, method, callee, replacement);
        assertThat(SteppedPlays.playTwin(SCENARIO, twin, firstSeed)).contains("landed");
    }
}
