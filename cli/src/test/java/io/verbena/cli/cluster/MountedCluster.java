package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Commands on a cluster's folder, in a process that may mount what its children see too, and nobody else. */
final class MountedCluster
{
    private final Path folder;

    MountedCluster(final Path folder)
    {
        this.folder = folder;
    }

    static void mount(final String... arguments) throws IOException, InterruptedException
    {
        final List<String> command = new ArrayList<>(List.of("mount"));
        command.addAll(Arrays.asList(arguments));
        run(command);
    }

    static void unmount(final String path) throws IOException, InterruptedException
    {
        run(List.of("umount", path));
    }

    private static void run(final List<String> command) throws IOException, InterruptedException
    {
        final int status = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (0 != status)
        {
            throw new AssertionError(command + " ended with status " + status);
        }
    }

    CommandLines.Result run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", folder.toString()));
        return CommandLines.run(all);
    }

    /** Runs a command, says on standard output what it said, and fails when that is something else. */
    void expect(final int status, final String text, final String... arguments)
    {
        final CommandLines.Result result = run(arguments);
        final String said = result.out() + result.err();
        System.out.println(List.of(arguments).getFirst() + " " + result.status() + ": " + said.substring(0,
            Math.min(2_000, said.length())));
        if (status != result.status() || !said.contains(text))
        {
            throw new AssertionError("expected status " + status + " and '" + text + "'");
        }
    }

    /**
     * Runs a class in a namespace where it may mount things, with the folder of the cluster as its argument; skips the
     * test where that cannot be.
     *
     * @param directory   for its log.
     * @param mostMinutes that it may take.
     * @return what it said.
     */
    static String saidBy(
        final Class<?> program, final Path cluster, final Path directory, final int mostMinutes) throws Exception
    {
        final List<String> unshare = List.of("unshare", "--user", "--map-root-user", "--mount");
        final String refusal = refusal(unshare);
        assumeTrue(refusal.isEmpty(), "no file system can be mounted in a namespace of one's own here: " + refusal);
        final List<String> command = new ArrayList<>(unshare);
        command.addAll(NodeLauncher.commandLine(List.of("-XX:+UseSerialGC", "-Xmx256m",
            "-D" + MetaGroupFullDiskSystemTest.LEADER + '=' + Boolean.getBoolean(MetaGroupFullDiskSystemTest.LEADER)),
            List.of()));
        command.set(command.size() - 1, program.getName());
        command.add(cluster.toString());
        final Path log = directory.resolve("said.log");
        final Process process =
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try
        {
            assertThat(process.waitFor(mostMinutes, TimeUnit.MINUTES)).as(Files.readString(log)).isTrue();
            return Files.readString(log);
        }
        finally
        {
            process.destroyForcibly();
        }
    }

    /** Why nothing can be mounted, or nothing when it can. */
    private static String refusal(final List<String> unshare) throws IOException, InterruptedException
    {
        final List<String> command = new ArrayList<>(unshare);
        command.addAll(List.of("mount", "-t", "tmpfs", "tmpfs", "/mnt"));
        try
        {
            final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return 0 == process.waitFor() ? "" : said.isEmpty() ? "it does not say why" : said;
        }
        catch (final IOException ex)
        {
            return String.valueOf(ex.getMessage()); // there is no such program
        }
    }

    /** Writes a file until the file system is full. */
    static void fill(final Path filler) throws IOException
    {
        try (OutputStream out = Files.newOutputStream(filler))
        {
            final byte[] bytes = new byte[4096];
            while (true)
            {
                out.write(bytes);
            }
        }
        catch (final IOException full)
        {
            System.out.println("filled with " + Files.size(filler) + " bytes: " + full.getMessage());
        }
    }
}
