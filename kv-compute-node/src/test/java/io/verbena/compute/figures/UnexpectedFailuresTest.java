package io.verbena.compute.figures;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class UnexpectedFailuresTest
{
    private final UnexpectedFailures failures = new UnexpectedFailures(() -> 0);

    @Test
    void shouldCountAReplyThatCannotBeReadAndGoOn()
    {
        failures.onCallbackError(
            new ControlException(ControlStatus.MALFORMED_REPLY, "planted", new RuntimeException()));
        assertThat(failures.requestCount()).isEqualTo(1);
    }

    /** The engine's listeners are callbacks, too: what they throw breaks what other operations depend on. */
    @Test
    void shouldEndTheNodeWithAnyOtherError()
    {
        final RuntimeException planted = new IllegalStateException("planted");
        assertThatThrownBy(() -> failures.onCallbackError(planted)).isSameAs(planted);
        assertThat(failures.requestCount()).isZero();
    }
}
