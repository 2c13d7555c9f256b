package io.verbena.cli.doctor;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
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
    private static final int READ_BYTES = 64 * KIB;

    /**
     * Many bytes at a time, the first too: a number under {@code proc/sys} ends behind the first read, and {@link
     * Files#readAllBytes} begins with one byte where the size of a file is 0.
     *
     * @return the text of a file, without blanks around it.
     */
    String text(final String file)
    {
        try (InputStream in = Files.newInputStream(root.resolve(file)))
        {
            final ByteArrayOutputStream all = new ByteArrayOutputStream();
            final byte[] part = new byte[READ_BYTES];
            for (int length = in.read(part); length > 0; length = in.read(part))
            {
                all.write(part, 0, length);
            }
            return all.toString(StandardCharsets.UTF_8).strip();
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
