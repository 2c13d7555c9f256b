package io.verbena.cli.record;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What is at a file's name before, and what is there behind it. */
@Timeout(60)
class DumpFileTest
{
    @TempDir
    private Path folder;

    private static void write(final Path file, final String text) throws IOException
    {
        try (DumpFile dump = DumpFile.open(file))
        {
            dump.out().write(text.getBytes(StandardCharsets.UTF_8));
            assertThat(dump.isStandardOutput()).isFalse();
            dump.complete();
        }
    }

    private static String rights(final Path file) throws IOException
    {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private void assertHolds(final int files) throws IOException
    {
        try (Stream<Path> all = Files.list(folder))
        {
            assertThat(all).as("nothing is left").hasSize(files);
        }
    }

    @Test
    void shouldTakeALongNameOfAnyCharacters() throws IOException
    {
        final Path file = folder.resolve("x".repeat(49) + "\ud83d\ude00".repeat(20));
        write(file, "new");
        assertThat(file).hasContent("new");
        assertHolds(1);
    }

    @Test
    void shouldReplaceWhenAllIsWrittenAndKeepTheRights() throws IOException
    {
        final Path file = Files.writeString(folder.resolve("file"), "old");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r---w-"));
        final Path own = Files.writeString(folder.resolve("file.partial"), "mine");
        try (DumpFile dump = DumpFile.open(file); DumpFile other = DumpFile.open(file))
        {
            dump.out().write('a');
            other.out().write('b');
            assertThat(file).hasContent("old");
            dump.complete();
            assertThat(file).hasContent("a");
        }
        assertThat(file).as("the other one was not complete").hasContent("a");
        assertThat(rights(file)).isEqualTo("rw-r---w-");
        assertThat(own).hasContent("mine");
        assertHolds(2);
    }

    @Test
    void shouldMakeAFileWithTheRightsOfAnyNewOne() throws IOException
    {
        final Path file = folder.resolve("n".repeat(255));
        write(file, "new");
        assertThat(file).hasContent("new");
        assertThat(rights(file)).isEqualTo(rights(Files.writeString(folder.resolve("other"), "")));
        assertHolds(2);
    }

    @Test
    void shouldReplaceWhatIsBehindLinks() throws IOException
    {
        Files.createDirectory(folder.resolve("deep"));
        final Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("second"));
        Files.createSymbolicLink(folder.resolve("second"), Path.of("deep/file"));
        for (final String text : new String[]{"made", "replaced"})
        {
            write(link, text);
            assertThat(folder.resolve("deep/file")).hasContent(text).isRegularFile();
            assertThat(link).isSymbolicLink();
        }
        Files.createSymbolicLink(folder.resolve("round"), Path.of("round"));
        assertThatThrownBy(() -> DumpFile.open(folder.resolve("round"))).isInstanceOf(FileSystemException.class);
    }

    @Test
    void shouldWriteANamedPipeAsItStandsAndNoFolder() throws Exception
    {
        final Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
        final CompletableFuture<String> read = new CompletableFuture<>();
        final Thread reader = Thread.ofPlatform().daemon().start(() ->
        {
            try
            {
                read.complete(Files.readString(pipe));
            }
            catch (final IOException ex)
            {
                read.completeExceptionally(ex);
            }
        });
        write(pipe, "through");
        assertThat(read.get()).isEqualTo("through");
        reader.join();
        assertThat(Files.readAttributes(pipe, "isOther", LinkOption.NOFOLLOW_LINKS)).containsEntry("isOther", true);
        assertHolds(1);
        assertThatThrownBy(() -> DumpFile.open(folder)).isInstanceOf(FileSystemException.class);
        assertThatThrownBy(() -> DumpFile.open(folder.resolve("none/file"))).isInstanceOf(FileSystemException.class);
    }

    /** As {@code dump /dev/stdout | head}: that is no failure, and a file that cannot be written is one. */
    @Test
    void shouldTakeItForNoFailureWhenWhoReadsStandardOutputHasLeft() throws IOException
    {
        try (DumpFile standard = DumpFile.open(Path.of("/dev/stdout"));
            DumpFile file = DumpFile.open(folder.resolve("all.jsonl")))
        {
            assertThat(standard.isLeft(new IOException("Broken pipe"))).isTrue();
            assertThat(standard.isLeft(new IOException("No space left on device"))).isFalse();
            assertThat(file.isLeft(new IOException("Broken pipe"))).isFalse();
        }
    }
}
