package io.verbena.rdma.fabric;

import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class FabricsTest
{
    @Test
    void shouldOpenSoftFabricInDirectoryOfName(@TempDir final Path folder)
    {
        try (Fabric fabric = Fabrics.open("soft:" + folder.resolve("fabric")); Device device = fabric.openDevice("one"))
        {
            assertThat(fabric.provider()).isEqualTo("soft");
            assertThat(fabric.deviceNames()).containsExactly("one");
            assertThat(device.attributes().provider()).isEqualTo("soft");
        }
    }

    @Test
    void shouldNameWhatThereIsWhenProviderIsUnknown()
    {
        assertThatThrownBy(() -> Fabrics.open("infiniband"))
            .isInstanceOf(RdmaException.class)
            .hasMessageContaining("'infiniband'")
            .hasMessageContaining("soft[:DIRECTORY]");
    }
}
