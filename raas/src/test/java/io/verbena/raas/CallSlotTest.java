package io.verbena.raas;

import io.verbena.raas.rpc.RpcReplyListener;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class CallSlotTest
{
    /** The two things that must be over, in every order. */
    @ParameterizedTest
    @ValueSource(strings = {"ES", "SE"})
    void shouldBeFreeOnlyWhenTheCallerHasItsAnswerAndTheSendIsOver(final String order)
    {
        final RpcClient.CallSlot slot = new RpcClient.CallSlot();
        final RpcReplyListener listener = (callId, status, payload, offset, length) -> {};
        slot.open(null, listener, 0, 8);
        assertThat(slot.isQueued()).isTrue();
        slot.onPosted(null);
        for (int i = 0; i < order.length(); i++)
        {
            assertThat(slot.freeWhenDone()).as("before step %s of %s", i, order).isFalse();
            switch (order.charAt(i))
            {
                case 'E' -> assertThat(slot.end()).isSameAs(listener);
                case 'S' -> slot.onSent();
                default -> throw new IllegalStateException(order);
            }
        }
        assertThat(slot.freeWhenDone()).isTrue();
        assertThat(slot.freeWhenDone()).as("only once").isFalse();
    }
}
