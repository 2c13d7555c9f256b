package io.verbena.rdma.roce.device;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Two devices in two network namespaces of the kernel; the way between them comes to carry shorter packets only. */
@Timeout(60)
class ShrinkingPathSystemTest
{
    @TempDir
    private Path directory;

    @Test
    void shouldFailInTimeAndConnectAgainWithShorterPackets() throws IOException, InterruptedException
    {
        final String output = InNamespace.run(ShrinkingPathMain.class, List.of(directory.toString()));

        assertThat(output.lines().filter(line -> line.matches("(before|after|refused|again) .*"))).as(output)
            .satisfiesExactly(
                line -> assertThat(line).isEqualTo("before success"),
                line -> assertThat(line).isEqualTo("after transport retry counter exceeded"),
                line -> assertThat(line).contains(
                    "UNREACHABLE: packets of 4096 bytes do not reach", "connecting again tries 2048 bytes"),
                line -> assertThat(line).contains(
                    "UNREACHABLE: packets of 2048 bytes do not reach", "connecting again tries 1024 bytes"),
                line -> assertThat(line).isEqualTo("again success"));
    }
}
