package io.verbena.raas.identity;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** {@link PeerIdentity}: of which kind each identity is, at the bounds of the numbers of users too. */
class PeerIdentityTest
{
    private static final int FIRST_USER = 65_536;
    private static final PeerIdentity NODE = new PeerIdentity(7, 33);
    private static final PeerIdentity LAST_NODE = new PeerIdentity(FIRST_USER, 1);
    private static final PeerIdentity USER = PeerIdentity.user(1, 4);
    private static final PeerIdentity LAST_USER = PeerIdentity.user(65_535, 1);
    private static final PeerIdentity BEHIND_USERS = new PeerIdentity(2 * FIRST_USER, 1);
    private static final PeerIdentity JOINING = PeerIdentity.joining(1, 5);
    private static final Map<PeerIdentity, String> TEXTS = Map.of(
        NODE, "node 7 incarnation 33",
        USER, "user 1 generation 4",
        USER.withLogin(9), "user 1 generation 4 with certificate 9",
        LAST_USER, "user 65535 generation 1",
        JOINING, "the holder of certificate 1",
        PeerIdentity.META_SERVER, "meta server",
        PeerIdentity.OPERATOR, "operator",
        PeerIdentity.CLIENT, "client",
        PeerIdentity.UNREGISTERED, "unregistered node or operator");

    private static List<PeerIdentity> all()
    {
        return List.of(NODE, LAST_NODE, USER, USER.withLogin(9), LAST_USER, BEHIND_USERS, JOINING,
            PeerIdentity.META_SERVER, PeerIdentity.OPERATOR, PeerIdentity.CLIENT, PeerIdentity.UNREGISTERED);
    }

    @Test
    void shouldTellUsersFromNodes()
    {
        assertThat(all().stream().filter(PeerIdentity::isUser)).containsExactly(USER, USER.withLogin(9), LAST_USER);
        assertThat(all().stream().map(PeerIdentity::userNumber)).containsExactly(0, 0, 1, 1, 65_535, 0, 0, 0, 0, 0, 0);
    }

    @Test
    void shouldTellClientsFromAllOthers()
    {
        assertThat(all().stream().filter(PeerIdentity::isClient)).containsExactly(
            USER, USER.withLogin(9), LAST_USER, PeerIdentity.OPERATOR, PeerIdentity.CLIENT);
    }

    /** With a login or a certificate it claims more than nothing. */
    @Test
    void shouldLetNobodyElseProveNothing()
    {
        assertThat(all().stream().filter(PeerIdentity::isAnonymous))
            .containsExactly(PeerIdentity.CLIENT, PeerIdentity.UNREGISTERED);
        assertThat(PeerIdentity.CLIENT.withLogin(1).isAnonymous()).isFalse();
        assertThat(PeerIdentity.UNREGISTERED.withLogin(1).isAnonymous()).isFalse();
    }

    /** One process alone knows which numbers it has used: a node, and the meta server. */
    @Test
    void shouldShareWhatMoreThanOneProcessMayHave()
    {
        assertThat(all().stream().filter((identity) -> !identity.isShared()))
            .containsExactly(NODE, LAST_NODE, BEHIND_USERS, PeerIdentity.META_SERVER);
    }

    @Test
    void shouldTellTheRolesOfWhoJoinsByACertificateAndOfNobodyElse()
    {
        assertThat(all().stream().map(PeerIdentity::joiningRoles)).containsExactly(0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0);
        assertThat(all().stream().map(PeerIdentity::certificate)).containsExactly(0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0);
        final PeerIdentity last = PeerIdentity.joining(PeerIdentity.MAX_CERTIFICATE, 31);
        assertThat(last.certificate()).isEqualTo(PeerIdentity.MAX_CERTIFICATE);
        assertThat(last.joiningRoles()).isEqualTo(31);
        assertThat(last.isAnonymous() || last.isClient()).isFalse();
        assertThat(new PeerIdentity(0, 31).certificate()).as("no identity").isZero();
        assertThat(new PeerIdentity(0, 31).joiningRoles()).isZero();
    }

    @Test
    void shouldNameEach()
    {
        TEXTS.forEach((identity, text) -> assertThat(identity).hasToString(text));
    }
}
