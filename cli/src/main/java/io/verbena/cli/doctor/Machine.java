package io.verbena.cli.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A machine as its files under {@code proc}, {@code sys} and {@code dev} show it, and the JVM of this process. What
 * cannot be read is empty, or -1.
 *
 * @param root        of these folders.
 * @param processors  that this process may use.
 * @param javaVersion feature release of the JVM.
 * @param memoryBytes that memory nodes are to have here, together.
 * @param port        at which a meta server is to listen.
 */
record Machine(Path root, int processors, int javaVersion, long memoryBytes, int port)
{
    private static final int KIB = 1_024;

    /** @return the text of a file, without blanks around it. */
    String text(final String file)
    {
        try
        {
            return new String(Files.readAllBytes(root.resolve(file)), StandardCharsets.UTF_8).strip();
        }
        catch (final IOException ex)
        {
            return ""; // no such file in this kernel, or in this container
        }
    }

    /** @return the number that is all of a file, or -1. */
    long number(final String file)
    {
        return number(text(file), -1);
    }

    static long number(final String text, final long otherwise)
    {
        try
        {
            return Long.parseLong(text);
        }
        catch (final NumberFormatException ex)
        {
            return otherwise;
        }
    }

    /** @return a limit of this process by its name in {@code /proc/self/limits}; no limit is the largest number. */
    long limit(final String name)
    {
        final String line = text("proc/self/limits").lines().filter((each) -> each.startsWith(name)).findFirst()
            .orElse("");
        final String soft = line.isEmpty() ? "" : line.substring(name.length()).strip().split(" +")[0];
        return "unlimited".equals(soft) ? Long.MAX_VALUE : number(soft, -1);
    }

    /** @return a figure of {@code /proc/meminfo} in bytes, or -1. */
    long memoryFigureBytes(final String name)
    {
        final long kib = text("proc/meminfo").lines().filter((each) -> each.startsWith(name + ':')).findFirst()
            .map((line) -> number(line.substring(name.length() + 1).strip().split(" ")[0], -1)).orElse(-1L);
        return kib < 0 ? -1 : kib * KIB;
    }

    /** @return names in a folder, in ascending order; none where it is not there. */
    List<String> names(final String folder)
    {
        try (Stream<Path> files = Files.list(root.resolve(folder)))
        {
            return files.map((file) -> file.getFileName().toString()).sorted().toList();
        }
        catch (final IOException ex)
        {
            return List.of();
        }
    }

    /** @return bytes that may still be written below a folder, or -1 where it is not there. */
    long freeBytes(final String folder)
    {
        try
        {
            final FileStore store = Files.getFileStore(root.resolve(folder));
            return store.getUsableSpace();
        }
        catch (final IOException ex)
        {
            return -1;
        }
    }
}
