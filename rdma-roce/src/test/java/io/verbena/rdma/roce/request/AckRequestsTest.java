package io.verbena.rdma.roce.request;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Which packets ask for an acknowledgement, by number and window. */
class AckRequestsTest
{
    private static final int INTERVAL = 4;
    private static final int WIDE = 100;
    /** PSNs wrap behind the third packet. */
    private static final int FIRST = 0xFF_FFFD;

    private final AckRequests requests = new AckRequests(INTERVAL);
    private int sequence = FIRST;

    @BeforeEach
    void start()
    {
        requests.start(FIRST);
    }

    private int next()
    {
        final int current = sequence;
        sequence = sequence + 1 & 0xFF_FFFF;
        return current;
    }

    private boolean asks(final boolean isNeeded, final int windowPackets)
    {
        return requests.asks(next(), isNeeded, windowPackets);
    }

    /** Packets until one asks, that one included. */
    private int untilAsked(final int windowPackets)
    {
        int count = 1;
        while (!asks(false, windowPackets))
        {
            assertThat(requests.isDue()).isFalse();
            assertThat(++count).isLessThan(WIDE);
        }
        assertThat(requests.isDue()).isTrue();
        return count;
    }

    /** Half of a small window, rounded up, so that the other half goes on meanwhile. */
    @ParameterizedTest
    @CsvSource({"1, 1", "2, 1", "3, 2", "4, 2", "6, 3", "7, 4", "8, 4", "9, 4", "100, 4"})
    void shouldAskOnceInAnIntervalOrInHalfAWindow(final int windowPackets, final int expected)
    {
        assertThat(untilAsked(windowPackets)).isEqualTo(expected);
        assertThat(untilAsked(windowPackets)).isEqualTo(expected);
    }

    @Test
    void shouldAskWhenItIsNeededAndCountFromThere()
    {
        assertThat(asks(false, WIDE)).isFalse();
        assertThat(asks(false, WIDE)).isFalse();
        assertThat(asks(true, WIDE)).isTrue();
        assertThat(requests.isDue()).isTrue();
        assertThat(untilAsked(WIDE)).isEqualTo(INTERVAL);
    }

    /** A READ or an atomic is answered whatever its packet asks for. */
    @Test
    void shouldCountFromARequestThatIsAnsweredAnyhow()
    {
        assertThat(asks(false, WIDE)).isFalse();
        assertThat(asks(false, WIDE)).isFalse();
        requests.onAsked(next());
        assertThat(requests.isDue()).isTrue();
        assertThat(untilAsked(WIDE)).isEqualTo(INTERVAL);
    }

    @Test
    void shouldNameThePsnAfterTheLastPacketThatAsked()
    {
        assertThat(requests.requestedEnd()).isEqualTo(FIRST);
        asks(false, WIDE);
        assertThat(requests.requestedEnd()).isEqualTo(FIRST);
        asks(true, WIDE);
        assertThat(requests.requestedEnd()).isEqualTo(FIRST + 2);
        requests.onAsked(next());
        assertThat(requests.requestedEnd()).isZero();
    }

    @Test
    void shouldForgetWhatWasSentBeforeItStarts()
    {
        asks(false, WIDE);
        asks(false, WIDE);
        sequence = 7;
        requests.start(7);
        assertThat(requests.requestedEnd()).isEqualTo(7);
        assertThat(untilAsked(WIDE)).isEqualTo(INTERVAL);
        assertThat(requests.requestedEnd()).isEqualTo(7 + INTERVAL);
    }
}
