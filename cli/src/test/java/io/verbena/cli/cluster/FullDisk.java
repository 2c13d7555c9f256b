package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.ExitStatus;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A cluster one of whose memory nodes has its data on a file system of its own, which is full at times. A process,
 * because the file system is mounted in the mount namespace of it and of its children only.
 */
public final class FullDisk
{
    private static Path folder;

    private FullDisk()
    {
    }

    /** @param args folder of the cluster, with a small file system mounted at {@code memory-1}. */
    public static void main(final String[] args) throws IOException
    {
        folder = Path.of(args[0]);
        final Path filler = folder.resolve("memory-1/checkpoint/filler");
        boolean isUp = false;
        try
        {
            expect(ExitStatus.OK, "up: ", "up", "--memory", "64");
            isUp = true;
            expect(ExitStatus.OK, "", "put", "hello", "world");
            expect(ExitStatus.OK, "memory-1: 1 records, 1 changed", "checkpoint");

            fill(filler);
            expect(ExitStatus.OK, "", "put", "more", "x".repeat(10_000));
            expect(ExitStatus.CANNOT_CREATE, "verbena: memory-1: ", "checkpoint");
            expect(ExitStatus.OK, "x", "get", "more");
            expect(ExitStatus.OK, "checkpoint_failure:", "status");
            expect(ExitStatus.FAILED, "memory-1: its records stay in shared memory", "down");
            Files.delete(filler);
            expect(ExitStatus.OK, "memory-1: 2 records in its checkpoint", "down");
            isUp = false;
        }
        finally
        {
            Files.deleteIfExists(filler);
            if (isUp)
            {
                run("down", "--discard");
            }
        }
        System.out.println("PASSED");
    }

    private static void fill(final Path filler) throws IOException
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

    private static CommandLines.Result run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", folder.toString()));
        return CommandLines.run(all);
    }

    private static void expect(final int status, final String text, final String... arguments)
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
