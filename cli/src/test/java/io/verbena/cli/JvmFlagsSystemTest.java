package io.verbena.cli;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A JVM without the flags is told which ones, instead of failing somewhere deep inside. */
class JvmFlagsSystemTest
{
    @Test
    void shouldNameTheFlagsThatTheFileAndThePageName() throws IOException, InterruptedException
    {
        final Process process = new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC",
            "-cp", System.getProperty("java.class.path"), WithoutFlags.class.getName())
            .redirectErrorStream(true).start();
        final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        assertThat(said.lines()).hasSize(2);
        final String page = SourceTree.text(SourceTree.root().resolve("docs/client.md"));
        final List<String> flags = SourceTree.text(SourceTree.root().resolve("config/jvm.args")).lines()
            .filter((line) -> line.startsWith("-")).toList();
        assertThat(flags).isNotEmpty();
        assertThat(said.lines()).allSatisfy((line) ->
        {
            assertThat(line).contains(flags);
            assertThat(page.replaceAll(" \\\\\n +", " ")).as("quoted").contains(line);
        });
    }
}
