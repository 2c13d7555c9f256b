package io.verbena.cli.console;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class StandardStreamTest
{
    @Test
    void shouldBeMeantByOneNameOnly()
    {
        assertThat(StandardStream.input(Path.of("-"))).isEqualTo(Path.of("/dev/stdin"));
        assertThat(StandardStream.output(Path.of("-"))).isEqualTo(Path.of("/dev/stdout"));
        assertThat(StandardStream.input(Path.of("./-"))).isEqualTo(Path.of("./-"));
        assertThat(StandardStream.output(Path.of("--"))).isEqualTo(Path.of("--"));
    }
}
