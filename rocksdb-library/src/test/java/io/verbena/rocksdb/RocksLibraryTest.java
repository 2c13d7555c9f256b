package io.verbena.rocksdb;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Each in a process of its own, because a process loads the library once. */
@Timeout(60)
class RocksLibraryTest
{
    @TempDir
    private Path directory;

    @Test
    void shouldLeaveNothingOfItBehindNorOfAProcessBefore() throws Exception
    {
        final Path folder = Files.createDirectories(directory.resolve("library"));
        Files.writeString(folder.resolve("librocksdbjni-linux64.so"), "half of it, of a process that was killed");
        openOneIn(folder);
        assertThat(folder).doesNotExist();
        assertThat(temporary()).as("the system's temporary folder").isEmptyDirectory();
    }

    @Test
    void shouldLoadItAlsoWhereItsFolderCannotBeMade() throws Exception
    {
        final Path file = Files.writeString(directory.resolve("file"), "no folder");
        openOneIn(file.resolve("library"));
        assertThat(file).hasContent("no folder");
        assertThat(temporary()).as("an orderly end removes it").isEmptyDirectory();
    }

    private Path temporary()
    {
        return directory.resolve("temporary");
    }

    private void openOneIn(final Path folder) throws IOException, InterruptedException
    {
        Files.createDirectories(temporary());
        final Process process = new ProcessBuilder(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED",
            "-Xmx64m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Djava.io.tmpdir=" + temporary(),
            "-cp", System.getProperty("java.class.path"),
            DatabaseOpener.class.getName(), folder.toString(), directory.resolve("database").toString()))
            .redirectErrorStream(true).start();
        final String said = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(said).isEqualTo("opened\n");
        assertThat(process.exitValue()).isZero();
    }
}
