package io.verbena.meta;

import io.verbena.raas.PeerAddress;
import io.verbena.protocol.access.AccessRules;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;

import java.security.SecureRandom;

import static org.assertj.core.api.Assertions.assertThat;

class RegistrationSecretsTest
{
    private final IdentitySecret cluster = IdentitySecret.random(new SecureRandom());
    private final RegistrationSecrets secrets =
        new RegistrationSecrets(cluster, null, () -> AccessRules.NONE, null, false);

    @Test
    void shouldGiveEachRegistrationASecretOfItsOwn()
    {
        final IdentitySecret secret = secrets.of(new PeerIdentity(3, 7));
        assertThat(secrets.of(new PeerIdentity(3, 8))).as("the next incarnation").isNotEqualTo(secret);
        assertThat(secrets.of(new PeerIdentity(4, 7))).as("another node").isNotEqualTo(secret);
        assertThat(new RegistrationSecrets(IdentitySecret.random(new SecureRandom()), null,
            () -> AccessRules.NONE, null, false).of(new PeerIdentity(3, 7))).as("another cluster").isNotEqualTo(secret);
        assertThat(new RegistrationSecrets(cluster, null, () -> AccessRules.NONE, null, false)
            .of(new PeerIdentity(3, 7))).as("after a restart").isEqualTo(secret);
        assertThat(secrets.towards(new PeerAddress(new DeviceAddress(1, 2), 1, 3, 7))).isEqualTo(secret);
    }

    @Test
    void shouldHaveNoneForWhoCannotBeRegistered()
    {
        assertThat(secrets.of(PeerIdentity.UNREGISTERED)).isNull();
        assertThat(secrets.of(PeerIdentity.CLIENT)).isNull();
        assertThat(secrets.of(PeerIdentity.META_SERVER)).isNull();
        assertThat(secrets.of(new PeerIdentity(-1, 1))).isNull();
        assertThat(secrets.of(new PeerIdentity(1, 0))).isNull();
        assertThat(secrets.of(new PeerIdentity(1, -1))).isNull();
    }
}
