package io.verbena.cli.bench;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class ProcessorPlacesTest
{
    @Test
    void shouldReadWhatTheKernelWrites()
    {
        assertThat(ProcessorPlaces.numbers("0")).containsExactly("0");
        assertThat(ProcessorPlaces.numbers("0-2,7,9-10")).containsExactly("0", "1", "2", "7", "9", "10");
    }

    @Test
    void shouldBindThisThreadAndLetItGo() throws InterruptedException, IOException
    {
        final ProcessorPlaces places = ProcessorPlaces.ofThisProcess();
        assumeTrue(places.hasChoice(), "one processor, or no taskset");
        final String before = allowed();
        places.place(List.of(), 1, 1);
        final String bound = allowed();
        places.place(List.of(), -1, -1);
        assertThat(ProcessorPlaces.numbers(bound)).hasSize(1);
        assertThat(allowed()).isEqualTo(before);
    }

    private static String allowed() throws IOException
    {
        return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
            .filter((line) -> line.startsWith("Cpus_allowed_list:")).findFirst().orElseThrow().substring(18).strip();
    }
}
