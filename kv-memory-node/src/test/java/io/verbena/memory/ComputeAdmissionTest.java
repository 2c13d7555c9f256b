package io.verbena.memory;

import io.verbena.raas.identity.PeerIdentity;
import org.junit.jupiter.api.Test;

import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class ComputeAdmissionTest
{
    private final ComputeAdmission admission = new ComputeAdmission(10, Set.of(new PeerIdentity(1, 4)));

    @Test
    void shouldAdmitMemberFromBeforeAndWhoeverCameLater()
    {
        assertThat(admission.admits(new PeerIdentity(1, 4))).isTrue();
        assertThat(admission.admits(new PeerIdentity(9, 11))).isTrue();
    }

    @Test
    void shouldRefuseWhoeverEndedBeforeThisLifeBegan()
    {
        assertThat(admission.admits(new PeerIdentity(1, 3))).isFalse();
        assertThat(admission.admits(new PeerIdentity(2, 4))).isFalse();
        assertThat(admission.admits(new PeerIdentity(2, 10))).isFalse();
    }
}
