package io.verbena.cli.console;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.OptionSpec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SettingsProviderTest
{
    private static final OptionSpec OPTION = OptionSpec.builder("-m", "--memory-nodes").type(int.class).build();

    @TempDir
    private Path directory;

    private static String value(final Map<String, String> environment) throws IOException
    {
        return new SettingsProvider(environment, () -> Set.of("memory-nodes", "health-port")).defaultValue(OPTION);
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
    void shouldReadWhatJavaReadsAsPropertiesAndKnowEachLine() throws IOException
    {
        final Path file = directory.resolve("settings");
        Files.writeString(file, "# memory-nodes=1\\\n\n! health-port=\n" +
            "  health-port : \\\n  94\\\n01\nmemory-nodes = 2\\\\\n");
        final SettingsProvider settings = new SettingsProvider(
            Map.of("VERBENA_CONFIG", file.toString()), () -> Set.of("memory-nodes", "health-port"));
        assertThat(settings.defaultValue(OPTION)).isEqualTo("2\\");
        assertThat(settings.origin(OPTION)).isEqualTo("VERBENA_CONFIG=" + file + ", line 7");
        final OptionSpec port = OptionSpec.builder("--health-port").type(int.class).build();
        assertThat(settings.defaultValue(port)).isEqualTo("9401");
        assertThat(settings.origin(port)).isEqualTo("VERBENA_CONFIG=" + file + ", line 6");
    }

    @Test
    void shouldSayWhereAValueComesFrom() throws IOException
    {
        final Path file = Files.writeString(directory.resolve("settings"), "memory-nodes=2\n");
        assertThat(SettingsProvider.none().origin(OPTION)).isNull();
        assertThat(new SettingsProvider(Map.of("VERBENA_CONFIG", file.toString(), "VERBENA_MEMORY_NODES", "3"),
            () -> Set.of("memory-nodes")).origin(OPTION)).isEqualTo("VERBENA_MEMORY_NODES in the environment");
    }

    @Test
    void shouldRefuseASettingThatIsThereTwice() throws IOException
    {
        final Path file = Files.writeString(
            directory.resolve("settings"), "memory-nodes=2\nhealth-port=1\nmemory-nodes=2\n");
        assertThatThrownBy(() -> value(Map.of("VERBENA_CONFIG", file.toString())))
            .isInstanceOf(CommandFailedException.class)
            .hasMessageEndingWith("settings: line 3: memory-nodes is in line 1 too; leave one out");
    }

    @Test
    void shouldNotGoOnWithoutAFileThatIsNamed()
    {
        assertThatThrownBy(() -> value(Map.of("VERBENA_CONFIG", directory.resolve("none").toString())))
            .isInstanceOf(CommandFailedException.class).hasMessageStartingWith("VERBENA_CONFIG=" + directory)
            .hasMessageEndingWith("/none: cannot be read (no such file or folder)");
    }

    @Test
    void shouldRefuseWhatIsNoSettingByItsName() throws IOException
    {
        final Path file = directory.resolve("settings");
        final Map<String, String> environment = Map.of("VERBENA_CONFIG", file.toString());
        Files.writeString(file, "memory-nodes=2\nhealth-port=1\nmemory-nodse=3\n");
        assertThatThrownBy(() -> value(environment)).isInstanceOf(CommandFailedException.class)
            .hasMessageEndingWith("settings: line 3: no command has an option --memory-nodse");
        Files.writeString(file, "memory-nodes=\\u12\n");
        assertThatThrownBy(() -> value(environment)).isInstanceOf(CommandFailedException.class)
            .hasMessageContaining("line 1 is no setting (Malformed");
        Files.write(file, new byte[]{(byte)0xff});
        assertThatThrownBy(() -> value(environment)).isInstanceOf(CommandFailedException.class)
            .hasMessageContaining("cannot be read (not text in UTF-8)");
    }
}
