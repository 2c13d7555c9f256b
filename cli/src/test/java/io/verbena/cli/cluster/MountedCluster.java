package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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
}
