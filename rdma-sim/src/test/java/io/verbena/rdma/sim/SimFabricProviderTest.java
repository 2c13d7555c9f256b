package io.verbena.rdma.sim;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SimFabricProviderTest
{
    @Test
    void shouldOpenSimFabricWithSeedOfName()
    {
        try (Fabric fabric = Fabrics.open("sim:77"))
        {
            assertThat(fabric.provider()).isEqualTo("sim");
            assertThat(((SimFabric)fabric).seed()).isEqualTo(77);
        }
        assertThatThrownBy(() -> Fabrics.open("sim:many"))
            .isInstanceOf(RdmaException.class).hasMessageContaining("'many'");
    }
}
