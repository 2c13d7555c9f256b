package io.verbena.compute.figures;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.User;
import io.verbena.protocol.message.DeniedOperations;
import io.verbena.protocol.request.RequestKind;
import io.verbena.raas.identity.PeerIdentity;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class DeniedTallyTest
{
    private static final PeerIdentity ANN = PeerIdentity.user(3, 7);
    private static final AccessRules RULES =
        AccessRules.of(null, 1, List.of(new User("ann", 3, 7, 1, null, List.of())));

    private final DeniedTally denied = new DeniedTally();

    @Test
    void shouldCountByCallerOperationAndTable()
    {
        assertThat(denied.isEmpty()).isTrue();
        denied.add(ANN, RequestKind.GET, "t");
        denied.add(PeerIdentity.user(3, 7), RequestKind.GET, new String("t"));
        denied.add(PeerIdentity.user(3, 6), RequestKind.GET, "t");
        denied.add(ANN, RequestKind.PUT, "t");
        denied.add(ANN, RequestKind.GET, "u");
        denied.add(PeerIdentity.CLIENT, RequestKind.GET, null);
        denied.add(PeerIdentity.CLIENT, RequestKind.GET, null);
        denied.add(PeerIdentity.CLIENT, RequestKind.GET, "t");
        assertThat(denied.isEmpty()).isFalse();
        assertThat(denied.take(RULES)).containsExactly(
            new DeniedOperations("user ann", "GET in table t", 2),
            new DeniedOperations("user ann, with a secret of before", "GET in table t", 1),
            new DeniedOperations("user ann", "PUT in table t", 1),
            new DeniedOperations("user ann", "GET in table u", 1),
            new DeniedOperations("client", "GET", 2),
            new DeniedOperations("client", "GET in table t", 1));
        assertThat(denied.isEmpty()).isTrue();
        denied.add(ANN, RequestKind.GET, "t");
        assertThat(denied.take(RULES)).as("from the beginning").containsExactly(
            new DeniedOperations("user ann", "GET in table t", 1));
    }

    @Test
    void shouldCountPeersThatProvedNothingOnceWithTheLastOfThem()
    {
        for (int i = 1; i <= 50; i++)
        {
            denied.addUnproved(new String("connections"), 2, "fd00::" + i);
        }
        denied.add(PeerIdentity.UNREGISTERED, "in clear", null);
        denied.addUnproved("connections", 1, "fd00::7");
        assertThat(denied.take(RULES)).containsExactly(
            new DeniedOperations("peer that proved nothing", "connections, the last of fd00::7", 101),
            new DeniedOperations("unregistered node or operator", "in clear", 1));
        for (int i = 0; i < 11; i++)
        {
            denied.add(PeerIdentity.user(i, 1), RequestKind.GET, "t");
        }
        denied.addUnproved("connections", 5, "fd00::8");
        assertThat(denied.take(RULES)).hasSize(DeniedOperations.MAX_REPORTED)
            .endsWith(new DeniedOperations("others", "other operations", 5));
    }

    @Test
    void shouldKeepElevenAndCountTheRest()
    {
        for (int i = 0; i < 11; i++)
        {
            denied.add(PeerIdentity.user(i, 1), RequestKind.GET, "t" + i);
        }
        denied.add(PeerIdentity.user(10, 1), RequestKind.GET, "t10");
        denied.add(PeerIdentity.user(10, 1), RequestKind.GET, "t11");
        denied.add(PeerIdentity.user(12, 1), RequestKind.GET, "t12");
        final List<DeniedOperations> taken = denied.take(RULES);
        assertThat(taken).hasSize(DeniedOperations.MAX_REPORTED).endsWith(
            new DeniedOperations(RULES.nameOf(PeerIdentity.user(10, 1)), "GET in table t10", 2),
            new DeniedOperations("others", "other operations", 2));
        denied.add(ANN, RequestKind.GET, "t");
        assertThat(denied.take(RULES)).hasSize(1);
    }

    @Test
    void shouldNotHideWhatIsDeniedToOthersBehindNamesThatOneHasMadeUp()
    {
        final PeerIdentity ben = PeerIdentity.user(4, 1);
        for (int i = 0; i < 1_000; i++)
        {
            denied.add(ANN, RequestKind.GET, "made-up-" + i);
        }
        denied.add(ben, RequestKind.PUT, "t");
        denied.add(ANN, RequestKind.GET, "made-up-2");
        assertThat(denied.take(RULES)).containsExactly(
            new DeniedOperations("user ann", "GET in table made-up-0", 1),
            new DeniedOperations("user ann", "GET in table made-up-1", 1),
            new DeniedOperations("user ann", "GET in table made-up-2", 2),
            new DeniedOperations("user ann", "other operations", 997),
            new DeniedOperations(RULES.nameOf(ben), "PUT in table t", 1));
    }
}
