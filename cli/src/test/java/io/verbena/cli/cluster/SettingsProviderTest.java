package io.verbena.cli.cluster;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.OptionSpec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SettingsProviderTest
{
    private static final OptionSpec OPTION = OptionSpec.builder("-m", "--memory-nodes").type(int.class).build();

    @TempDir
    private Path directory;

    private static String value(final Map<String, String> environment) throws IOException
    {
        return new SettingsProvider(environment).defaultValue(OPTION);
    }

    @Test
    void shouldAskTheEnvironmentThenTheFileThenTheOptionItself() throws IOException
    {
        final Path file = directory.resolve("settings");
        Files.writeString(file, "memory-nodes=2\n");
        assertThat(value(Map.of())).isNull();
        assertThat(value(Map.of("VERBENA_CONFIG", file.toString()))).isEqualTo("2");
        assertThat(value(Map.of("VERBENA_CONFIG", file.toString(), "VERBENA_MEMORY_NODES", "3"))).isEqualTo("3");
    }

    @Test
    void shouldNotGoOnWithoutAFileThatIsNamed()
    {
        assertThatThrownBy(() -> value(Map.of("VERBENA_CONFIG", directory.resolve("none").toString())))
            .isInstanceOf(NoSuchFileException.class);
    }
}
