package io.verbena.protocol.session;

import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.raas.identity.IdentitySecret;
import org.junit.jupiter.api.Test;

import java.security.SecureRandom;
import java.util.List;

import static io.verbena.protocol.control.EndedCalls.ended;
import static org.assertj.core.api.Assertions.assertThat;

/** A lease ends here before it ends at the meta server, whenever the replies arrive. */
class LeaseTest
{
    private static final Registration REGISTRATION = new Registration(
        1, 2, 3, 4, 5, 6, 300, 7,
        new RegistrationSecret(1, IdentitySecret.random(new SecureRandom()), null), List.of(), List.of());

    @Test
    void shouldCountFromBeforeTheRegistrationWasSent()
    {
        final Lease lease = new Lease();
        lease.begin(ended(1_000, REGISTRATION));
        assertThat(lease.leftNs(1_000)).isEqualTo(300);
        assertThat(lease.leftNs(1_299)).isEqualTo(1);
        assertThat(lease.leftNs(1_300)).isZero();
        assertThat(lease.lengthNs()).isEqualTo(300);
    }

    @Test
    void shouldCountFromBeforeTheHeartbeatWasSent()
    {
        final Lease lease = new Lease();
        lease.begin(ended(1_000, REGISTRATION));
        lease.renew(ended(1_200, new Heartbeat(5, 4, 6, 500, List.of(), List.of())));
        assertThat(lease.leftNs(1_500)).isEqualTo(200);
        assertThat(lease.lengthNs()).isEqualTo(500);
    }
}
