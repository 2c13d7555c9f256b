package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.Registration;
import io.verbena.raas.RpcStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A lease ends here before it ends at the meta server, whenever the replies arrive. */
class LeaseTest
{
    private static <T> ControlCall<T> ended(final long calledAtNs, final T result)
    {
        final ControlCall<T> call = new ControlCall<>("test", (buffer, offset, lengthBytes) -> result, calledAtNs);
        final UnsafeBuffer reply = new UnsafeBuffer(new byte[ControlHeaderDescriptor.LENGTH_BYTES]);
        ControlHeaderDescriptor.encode(reply, 0, ControlStatus.OK);
        call.onReply(RpcStatus.OK, reply, 0, reply.capacity());
        return call;
    }

    @Test
    void shouldCountFromBeforeTheRegistrationWasSent()
    {
        final Lease lease = new Lease();
        lease.begin(ended(1_000, new Registration(1, 2, 3, 4, 5, 6, 300, 7)));
        assertThat(lease.leftNs(1_000)).isEqualTo(300);
        assertThat(lease.leftNs(1_299)).isEqualTo(1);
        assertThat(lease.leftNs(1_300)).isZero();
        assertThat(lease.lengthNs()).isEqualTo(300);
    }

    @Test
    void shouldCountFromBeforeTheHeartbeatWasSent()
    {
        final Lease lease = new Lease();
        lease.begin(ended(1_000, new Registration(1, 2, 3, 4, 5, 6, 300, 7)));
        lease.renew(ended(1_200, new Heartbeat(5, 4, 6, 500)));
        assertThat(lease.leftNs(1_500)).isEqualTo(200);
        assertThat(lease.lengthNs()).isEqualTo(500);
    }
}
