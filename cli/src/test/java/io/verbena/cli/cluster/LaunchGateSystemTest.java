package io.verbena.cli.cluster;

import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.role.LaunchGate;
import io.verbena.cli.role.RoleProcess;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A process that a command starts and is killed before it has written that down. */
@Timeout(60)
class LaunchGateSystemTest
{
    @TempDir
    private Path directory;
    private Process process;

    @AfterEach
    void end() throws InterruptedException
    {
        process.destroyForcibly().waitFor();
    }

    private void start() throws IOException
    {
        process = new ProcessBuilder(NodeLauncher.commandLine(List.of("-XX:+UseSerialGC", LaunchGate.flag()), List.of(
            "meta-server", "--listen", "verbena://127.0.0.1:0", "--data", data().toString(),
            "--fabric", "soft:" + directory.resolve("fabric")))).redirectErrorStream(true).start();
    }

    private Path data()
    {
        return directory.resolve("data");
    }

    @Test
    void shouldEndAndMakeNothingWhenWhoStartedItHasEnded() throws Exception
    {
        start();
        process.getOutputStream().close();
        try (BufferedReader said = process.inputReader())
        {
            assertThat(said.readAllLines()).singleElement().asString()
                .contains("the command that started this process was killed meanwhile");
        }
        assertThat(process.waitFor()).isEqualTo(ExitStatus.INTERRUPTED);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldGoOnWhenItIsWrittenDown() throws Exception
    {
        start();
        LaunchGate.open(process);
        try (BufferedReader said = process.inputReader())
        {
            assertThat(said.lines().anyMatch((line) -> line.startsWith(RoleProcess.READY))).isTrue();
        }
        assertThat(data()).isDirectory();
    }
}
