package io.verbena.cli.cluster;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class ClusterFolderTest
{
    private static final Path DEFAULT = Path.of(System.getProperty("user.home")).toAbsolutePath();

    @Test
    void shouldBeBelowHomeUnlessItIsGiven()
    {
        assertThat(ClusterFolder.of(null, "/some/home").path()).isEqualTo(Path.of("/some/home/.verbena/cluster"));
        assertThat(ClusterFolder.of(Path.of("/given"), "/some/home").path()).isEqualTo(Path.of("/given"));
        assertThat(ClusterFolder.of(null, null).path()).isEqualTo(DEFAULT.resolve(".verbena/cluster"));
        assertThat(ClusterFolder.of(null, "").path()).isEqualTo(DEFAULT.resolve(".verbena/cluster"));
    }
}
