package io.verbena.cli.cluster;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** The AOT cache: a compute node records what it did, and a cache that does not fit keeps nothing from starting. */
@Timeout(180)
class CacheTrainingSystemTest
{
    @TempDir
    Path folder;

    @Test
    void shouldRecordWhatAComputeNodeDoesAndLeaveNoProcess()
    {
        final Path configuration = folder.resolve("record");
        CacheTraining.run(configuration);
        // The JVM makes it when it ends in order, after it has served; it is empty where the class path has folders.
        assertThat(configuration).exists();
        assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive)).as("processes").isEmpty();
    }

    @Test
    void shouldStartWithACacheThatIsNone() throws Exception
    {
        final Path cache = Files.writeString(folder.resolve("verbena.aot"), "no cache");
        final File output = folder.resolve("output").toFile();
        final Process process = new ProcessBuilder(NodeLauncher.commandLine(
            List.of("-XX:AOTCache=" + cache, "-Xlog:aot*=off", "-Xlog:cds*=off"), List.of("version")))
            .redirectErrorStream(true).redirectOutput(output).start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(output.toPath())).isZero();
        assertThat(output).content().startsWith("verbena ");
    }
}
