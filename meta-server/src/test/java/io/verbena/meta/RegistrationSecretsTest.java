package io.verbena.meta;

import io.verbena.meta.membership.ConductorOptions;
import io.verbena.meta.membership.MembershipConductor;
import io.verbena.meta.membership.MembershipOptions;
import io.verbena.meta.membership.MembershipTable;
import io.verbena.meta.membership.MetaLedger;
import io.verbena.meta.membership.Unheard;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.StoredSecrets;
import io.verbena.raas.PeerAddress;
import io.verbena.protocol.access.AccessRules;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;

import java.security.SecureRandom;
import java.util.function.IntPredicate;

import static org.assertj.core.api.Assertions.assertThat;

class RegistrationSecretsTest
{
    private final IdentitySecret cluster = IdentitySecret.random(new SecureRandom());
    private final RegistrationSecrets secrets =
        secrets(cluster, (number) -> 7 == number);

    private static RegistrationSecrets secrets(final IdentitySecret cluster, final IntPredicate revoked)
    {
        final InMemoryMetaStore store = new InMemoryMetaStore();
        final StoredSecrets stored = StoredSecrets.first(cluster, 0);
        final MetaState state = store.load();
        final MetaLedger ledger = MembershipConductor.openLedger(store, state, 1, stored);
        final MembershipTable members = new MembershipConductor(ledger, state, new ConductorOptions(
            new MembershipOptions(1_000, 1, 8), 1_000, 1_000, 1_000, false), new Unheard(), 0).table();
        return new RegistrationSecrets(
            new SecretRounds(ledger, members, stored, 1_000, new SecureRandom(), () -> 0, 0), members,
            () -> AccessRules.NONE, null, false, revoked);
    }

    @Test
    void shouldGiveEachRegistrationASecretOfItsOwn()
    {
        final IdentitySecret secret = secrets.of(new PeerIdentity(3, 7));
        assertThat(secrets.of(new PeerIdentity(3, 8))).as("the next incarnation").isNotEqualTo(secret);
        assertThat(secrets.of(new PeerIdentity(4, 7))).as("another node").isNotEqualTo(secret);
        assertThat(secrets(IdentitySecret.random(new SecureRandom()), (number) -> false)
            .of(new PeerIdentity(3, 7))).as("another cluster").isNotEqualTo(secret);
        assertThat(secrets(cluster, (number) -> false)
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

    @Test
    void shouldBindWhatTheHandshakeGivesToCertificateAndRoles()
    {
        final PeerIdentity compute = PeerIdentity.joining(6, 4);
        assertThat(compute.certificate()).isEqualTo(6);
        assertThat(compute.joiningRoles()).isEqualTo(4);
        assertThat(secrets.of(compute)).isEqualTo(secrets.joining(compute.incarnation()))
            .isNotEqualTo(secrets.of(PeerIdentity.joining(6, 2)))
            .isNotEqualTo(secrets.of(PeerIdentity.joining(5, 4)));
        assertThat(secrets.of(PeerIdentity.joining(6, 0))).as("no role").isNull();
        assertThat(secrets.of(PeerIdentity.joining(7, 4))).as("revoked").isNull();
        assertThat(secrets.joining(PeerIdentity.joining(7, 0).incarnation())).as("revoked, without roles").isNull();
        assertThat(PeerIdentity.joining(PeerIdentity.MAX_CERTIFICATE, 31).joiningRoles()).isEqualTo(31);
        assertThat(PeerIdentity.joining(PeerIdentity.MAX_CERTIFICATE, 31).certificate())
            .isEqualTo(PeerIdentity.MAX_CERTIFICATE);
        assertThat(PeerIdentity.OPERATOR.certificate()).isZero();
        assertThat(new PeerIdentity(0, -1).joiningRoles()).isZero();
    }
}
