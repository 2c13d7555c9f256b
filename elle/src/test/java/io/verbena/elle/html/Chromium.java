package io.verbena.elle.html;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Assumptions;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A browser without a window, if this machine has one. */
final class Chromium
{
    private static final long TIMEOUT_S = 120;

    private final Path program;
    private final Path directory;

    private Chromium(final Path program, final Path directory)
    {
        this.program = program;
        this.directory = directory;
    }

    /** Skips the calling test, and says so, where there is no Chromium. */
    static Chromium orSkip(final Path directory)
    {
        final Path found = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                .map(name -> Path.of(folder, name)))
            .filter(Files::isExecutable).findFirst().orElse(null);
        Assumptions.assumeTrue(found != null,
            "SKIPPED: no chromium, chromium-browser or google-chrome on the PATH: pages were not opened in a browser");
        return new Chromium(found, directory);
    }

    /** The document as it is after its scripts have run. */
    String open(final String page, final String fragment) throws IOException, InterruptedException
    {
        return run(page, fragment, "--dump-dom");
    }

    /** A picture of the page. */
    Path picture(final String page) throws IOException, InterruptedException
    {
        final Path picture = directory.resolve("picture.png");
        run(page, "", "--screenshot=" + picture);
        return picture;
    }

    private String run(final String page, final String fragment, final String action)
        throws IOException, InterruptedException
    {
        final Path file = Files.writeString(directory.resolve("page.html"), page);
        final Path out = directory.resolve("out.txt");
        final Path profile = Files.createTempDirectory("page-test-profile");
        final List<String> command = new ArrayList<>(List.of(program.toString(), "--headless", "--no-sandbox",
            "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--window-size=1400,900", "--virtual-time-budget=5000",
            "--user-data-dir=" + profile, action, file.toUri() + fragment));
        final Process process = new ProcessBuilder(command)
            .redirectOutput(out.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try
        {
            assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).as("Chromium within %d s", TIMEOUT_S).isTrue();
        }
        finally
        {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            remove(profile);
        }
        return Files.readString(out, StandardCharsets.UTF_8);
    }

    /** A dying browser may still write into its profile; what then remains must not fail a test. */
    private static void remove(final Path tree) throws IOException
    {
        try (Stream<Path> paths = Files.walk(tree))
        {
            paths.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
        catch (final UncheckedIOException ignored)
        {
            // Something vanished while it was listed.
            tree.toFile().deleteOnExit();
        }
    }
}
