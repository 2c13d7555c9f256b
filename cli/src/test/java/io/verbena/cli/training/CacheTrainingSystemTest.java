package io.verbena.cli.training;

import io.verbena.cli.cluster.NodeLauncher;

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
    private static final int SIGTERM_STATUS = 128 + 15;

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

    /** As by the launcher's limit, or Ctrl-C: the nodes are in sessions of their own, which neither reaches. */
    @Test
    void shouldLeaveNeitherProcessNorFileWhenItIsToldToEnd() throws Exception
    {
        final Path temporary = Files.createDirectory(folder.resolve("temporary"));
        final Process training = new ProcessBuilder(NodeLauncher.commandLine(
            List.of("-Djava.io.tmpdir=" + temporary), List.of("train-cache", folder.resolve("record").toString())))
            .redirectErrorStream(true).redirectOutput(folder.resolve("output").toFile()).start();
        try
        {
            while (training.isAlive() && training.children().count() < 2)
            {
                TimeUnit.MILLISECONDS.sleep(10);
            }
            final List<ProcessHandle> nodes = training.children().toList();
            assertThat(nodes).as(Files.readString(folder.resolve("output"))).hasSizeGreaterThanOrEqualTo(2);
            training.destroy();
            assertThat(training.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(training.exitValue()).isEqualTo(SIGTERM_STATUS);
            assertThat(nodes).noneMatch(ProcessHandle::isAlive);
            assertThat(temporary).as(Files.readString(folder.resolve("output"))).isDirectoryNotContaining(
                (file) -> file.getFileName().toString().startsWith(CacheTraining.PREFIX));
        }
        finally
        {
            training.descendants().forEach(ProcessHandle::destroyForcibly);
            training.destroyForcibly();
        }
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
