package io.verbena.protocol.session;

import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;

import java.security.SecureRandom;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What a node proves towards whom, and by what it knows who connects to it. */
class CredentialsTest
{
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final IdentitySecret FIRST = IdentitySecret.random(RANDOM);
    private static final IdentitySecret SECOND = IdentitySecret.random(RANDOM);
    private static final IdentitySecret TOKEN = IdentitySecret.random(RANDOM);
    private static final PeerIdentity CALLER = new PeerIdentity(8, 9);

    private final Credentials credentials = new Credentials(new Registration(3, 7, 1, 1, 1, 1, 1, 1,
        new RegistrationSecret(1, FIRST, null),
        List.of(Credentials.sentToken(FIRST, new AdmissionToken(5, 6, 1, TOKEN))), List.of()));

    private static PeerAddress address(final int nodeId, final int incarnation)
    {
        return new PeerAddress(new DeviceAddress(1, 2, 3), 1, nodeId, incarnation);
    }

    private void renew(final RegistrationSecret secret)
    {
        credentials.renew(new Heartbeat(1, 1, 1, 1, List.of(), List.of(), secret, List.of()));
    }

    @Test
    void shouldShowATokenToTheMemoryNodeThatItIsForOnly()
    {
        assertThat(credentials.towards(address(5, 6))).isEqualTo(TOKEN);
        assertThat(credentials.towards(address(5, 7))).as("it has come back").isNull();
        assertThat(credentials.towards(address(5, 5))).as("an earlier one").isNull();
        assertThat(credentials.towards(address(4, 6))).isNull();
        assertThat(credentials.towards(address(0, 0))).as("the meta server").isEqualTo(FIRST);
    }

    @Test
    void shouldKnowWhoConnectsBySecretsOfThisRoundAndOfTheOneBefore()
    {
        assertThat(credentials.ofCaller(CALLER)).isEqualTo(Credentials.token(FIRST, CALLER));
        assertThat(credentials.ofCaller(PeerIdentity.META_SERVER)).isEqualTo(FIRST);
        assertThat(credentials.ofCallerBefore(CALLER)).as("nothing is before the first").isNull();
        assertThat(credentials.ofCallerBefore(PeerIdentity.META_SERVER)).isNull();
        renew(new RegistrationSecret(2, SECOND, FIRST));
        assertThat(credentials.ofCaller(CALLER)).isEqualTo(Credentials.token(SECOND, CALLER));
        assertThat(credentials.ofCaller(PeerIdentity.META_SERVER)).isEqualTo(SECOND);
        assertThat(credentials.ofCallerBefore(CALLER)).isEqualTo(Credentials.token(FIRST, CALLER));
        assertThat(credentials.ofCallerBefore(PeerIdentity.META_SERVER)).isEqualTo(FIRST);
        assertThat(credentials.towards(address(0, 0))).isEqualTo(SECOND);
    }

    @Test
    void shouldKnowNobodyWhoIsNoNode()
    {
        renew(new RegistrationSecret(2, SECOND, FIRST));
        for (final PeerIdentity nobody : List.of(
            PeerIdentity.CLIENT, PeerIdentity.UNREGISTERED, PeerIdentity.OPERATOR, PeerIdentity.joining(7, 4)))
        {
            assertThat(credentials.ofCaller(nobody)).as("%s", nobody).isNull();
            assertThat(credentials.ofCallerBefore(nobody)).as("%s, before", nobody).isNull();
        }
    }
}
