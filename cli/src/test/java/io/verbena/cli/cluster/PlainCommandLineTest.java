package io.verbena.cli.cluster;

import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.role.ComputeNodeCommand;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** A compute node's command line: understood the short way as by the library, or not at all. */
class PlainCommandLineTest
{
    private static final CommandLine.IFactory FACTORY = new CommandLine.IFactory()
    {
        @Override
        public <K> K create(final Class<K> type) throws Exception
        {
            return SettingsProvider.class == type ?
                type.cast(SettingsProvider.none()) : CommandLine.defaultFactory().create(type);
        }
    };

    @ParameterizedTest
    @ValueSource(strings = {
        "compute-node --cluster verbena://h:1 --token-file /a/token",
        "compute-node --token-file token --health-port 80 --cluster verbena://h:1",
        "compute-node --busy-poll --cluster verbena://h:1 --token-file /a/b=c/token",
        "compute-node --encrypt --cluster verbena://h:1 --token-file /a/token",
        "compute-node --cluster verbena://h:1 --token-file /a/token --health-port 007 --busy-poll"})
    void shouldUnderstandAsTheLibraryDoes(final String line)
    {
        final String[] words = line.split(" ");
        final ComputeNodeCommand expected = new ComputeNodeCommand();
        new CommandLine(expected, FACTORY).parseArgs(Arrays.copyOfRange(words, 1, words.length));
        assertThat(ComputeNodeCommand.plain(words, Map.of("HOME", "/h", "VERBENA_HOME", "/v"))).isNotNull()
            .usingRecursiveComparison().ignoringFields("spec").isEqualTo(expected);
    }

    @Test
    void shouldUnderstandWhatUpPasses()
    {
        final Path token = Path.of("/dev/shm/cluster/token");
        final String address = "verbena://127.0.0.1:7400";
        assertThat(ComputeNodeCommand.plain(
            LocalCluster.nodeArguments("compute-node", address, token).toArray(String[]::new), Map.of())).isNotNull();
        assertThat(ComputeNodeCommand.plain(
            LocalCluster.nodeArguments("compute-node", address, token, "--busy-poll").toArray(String[]::new),
            Map.of())).isNotNull();
    }

    /** Each option of the command, and where the library looks for more, whoever adds one later. */
    @Test
    void shouldKnowWhereTheLibraryLooks()
    {
        final String[] words = "compute-node --cluster verbena://h:1 --token-file /a/token".split(" ");
        new CommandLine(new ComputeNodeCommand(), FACTORY).getCommandSpec().options().stream()
            .map((option) -> "VERBENA_" + option.longestName().substring(2).replace('-', '_').toUpperCase(Locale.ROOT))
            .forEach((name) -> assertThat(ComputeNodeCommand.plain(words, Map.of(name, "1"))).as(name).isNull());
        for (final String name : List.of("VERBENA_CONFIG", "VERBENA_DEBUG", "VERBENA_STACKTRACE"))
        {
            assertThat(ComputeNodeCommand.plain(words, Map.of(name, "1"))).as(name).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "",
        "memory-node --cluster verbena://h:1 --token-file /a/token",
        "compute-node",
        "compute-node --help",
        "compute-node --cluster verbena://h:1",
        "compute-node --cluster verbena://h:1 --token-file",
        "compute-node --cluster verbena://h:1 --token-file --busy-poll",
        "compute-node --cluster verbena://h:1 --cluster verbena://h:2 --token-file /a/token",
        "compute-node --cluster=verbena://h:1 --token-file /a/token",
        "compute-node --cluster verbena://h:1 --token-file @words",
        "compute-node --cluster verbena://h:1 --token-file 'a",
        "compute-node @words --cluster verbena://h:1 --token-file /a/token",
        "compute-node --cluster verbena://h:1 --token-file /a/token --health-port x",
        "compute-node --cluster verbena://h:1 --token-file /a/token --health-port 99999999999",
        "compute-node --cluster verbena://h:1 --token-file /a/token --stacktrace",
        "compute-node --cluster verbena://h:1 --token-file /a/token --busy-poll --busy-poll"})
    void shouldLeaveTheRestToTheLibrary(final String line)
    {
        assertThat(ComputeNodeCommand.plain(line.isEmpty() ? new String[0] : line.split(" "), Map.of())).isNull();
    }

    @Test
    void shouldLeaveSettingsOfTheEnvironmentToTheLibrary()
    {
        assertThat(ComputeNodeCommand.plain(
            "compute-node --cluster verbena://h:1 --token-file /a/token".split(" "),
            Map.of("VERBENA_HEALTH_PORT", "80"))).isNull();
    }
}
