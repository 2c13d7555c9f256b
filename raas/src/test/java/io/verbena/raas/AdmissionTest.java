package io.verbena.raas;

import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.rdma.verbs.MemoryRegion;

import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@link Admission}. */
class AdmissionTest
{
    @Test
    void shouldGiveNoAccessToMemoryToWhoMayOnlyCallOrIsRefused()
    {
        final Admission calls = Admission.callsOnly();
        assertThat(calls.isAccepted()).isTrue();
        assertThat(calls.accessFlags()).isZero();
        assertThat(calls.regions()).isEmpty();
        final Admission refused = Admission.refuse("full");
        assertThat(refused.isAccepted()).isFalse();
        assertThat(refused.accessFlags()).isZero();
        assertThat(refused.reason()).isEqualTo("full");
    }

    @Test
    void shouldTakeNoMoreThanItsMessageHolds()
    {
        assertThat(Admission.accept(1, new byte[Admission.MAX_PRIVATE_DATA_BYTES]).privateData())
            .hasSize(Admission.MAX_PRIVATE_DATA_BYTES);
        assertThatThrownBy(() -> Admission.accept(1, new byte[Admission.MAX_PRIVATE_DATA_BYTES + 1]))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("64 bytes of private data, not 0 and 65");
        final List<MemoryRegion> regions = Collections.nCopies(Admission.MAX_REGIONS + 1, null);
        assertThatThrownBy(() -> new Admission(true, 1, regions, new byte[0], ""))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("takes 4 regions");
    }
}
