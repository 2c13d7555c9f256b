package io.verbena.embedded;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A program with a cluster inside is told to end by SIGTERM while it writes. */
@Timeout(120)
class EmbeddedExitSystemTest
{
    private static final int TERMINATED = 128 + 15;

    @TempDir
    private Path directory;

    @Test
    void shouldAnswerWhatIsUnderWayAndLeaveNothingBehind() throws Exception
    {
        final Path fabric = directory.resolve("fabric");
        final Process process = program("soft:" + fabric);
        try
        {
            assertThat(process.inputReader().readLine()).isEqualTo("busy");
            process.toHandle().destroy(); // unlike the process, it leaves the pipe open
            final List<String> said = process.inputReader().lines().toList();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(said).last().asString().startsWith("outcomes: {acknowledged=").doesNotContain("UNKNOWN");
            assertThat(process.exitValue()).isEqualTo(TERMINATED);
            assertThat(fabric).as("its shared memory").doesNotExist();
        }
        finally
        {
            process.destroyForcibly();
        }
    }

    private static Process program(final String fabric) throws Exception
    {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter((argument) -> argument.startsWith("--")).forEach(command::add);
        command.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m", "-cp", System.getProperty("java.class.path"),
            InterruptedProgram.class.getName(), fabric));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}
