package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionAttempt.State;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** When an attempt gives up on packets that are not answered, at times that are said to it. */
@Timeout(60)
class ServiceAttemptTest
{
    private static final long TIMEOUT_NS = TimeUnit.HOURS.toNanos(1);
    private static final long FOUND_OUT_NS = TimeUnit.SECONDS.toNanos(5);
    /** Less than this, and a busy peer, or a few packets lost, would look like a closed port. */
    private static final long PATIENT_NS = TimeUnit.SECONDS.toNanos(2);

    /** Never answered. */
    private static final class SilentCheck implements PathCheck
    {
        private int asked;
        private boolean isClosed;

        @Override
        public void ask()
        {
            asked++;
        }

        @Override
        public String problem()
        {
            return "is it open?";
        }

        @Override
        public void close()
        {
            isClosed = true;
        }
    }

    @Test
    void shouldFindOutWithinFiveSecondsThatPacketsAreNotAnswered() throws IOException
    {
        final SilentCheck check = new SilentCheck();
        try (FakeDevice device = new FakeDevice())
        {
            device.check = check;
            final ServiceAttempt attempt = new ServiceAttempt(
                device, new FakeQueuePair(1), device.address(), Runnable::run, 0, TIMEOUT_NS);
            attempt.channel(ConnectionChannel.requesting(
                SocketChannel.open(), attempt, TIMEOUT_NS, attempt.request(7, new byte[0])));
            attempt.onConnected();
            final long beforeNs = System.nanoTime();
            attempt.onAccepted(new ConnectionMessage(
                ConnectionMessage.ACCEPT, 7, 2, 3, 5, 4, new DeviceAddress(0, 1), new byte[0]));
            final long afterNs = System.nanoTime();

            attempt.onLook(beforeNs + PATIENT_NS);
            assertThat(attempt.poll()).isEqualTo(State.PENDING);
            assertThat(check.asked).as("again at each look").isEqualTo(1);
            attempt.onLook(afterNs + FOUND_OUT_NS);
            assertThat(attempt.poll()).isEqualTo(State.UNREACHABLE);
            assertThat(attempt.problem()).isEqualTo("is it open?");
            assertThat(check.isClosed).isTrue();
        }
    }
}
