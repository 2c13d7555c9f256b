package io.verbena.memory;

import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RegionLayoutTest
{
    /** Its key is published: no fence takes it away from anybody. */
    @Test
    void shouldLetNobodyChangeTheRegionUnderItsOwnKey()
    {
        try (SimWorld world = new SimWorld(1, new SimFabricOptions());
            RaasContext raas = RaasContext.open(world.addNode("memory").device(), new RaasConfiguration());
            MemoryRegion region = RegionLayout.allocate(raas, new MemoryNodeConfiguration()))
        {
            assertThat(region.accessFlags()).isEqualTo(AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
        }
    }
}
