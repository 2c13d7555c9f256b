package io.verbena.load.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A processor for the requester and one for the responders, by the program {@code taskset}: left to itself the kernel
 * may place both on one, and each exchange takes a time slice.
 */
final class WirePlaces
{
    private static final String ALLOWED = "Cpus_allowed_list:";
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path PROGRAM = Path.of("/usr/bin/taskset");

    private WirePlaces()
    {
    }

    /** The words before a command that place it on the first processor of this process. */
    static List<String> near() throws IOException
    {
        final String allowed = allowed();
        return hasChoice(allowed) ? List.of(PROGRAM.toString(), "-c", allowed.split("[,-]")[0]) : List.of();
    }

    /** The last processor of the process that started this one, whose list is given. */
    static List<String> far(final String allowed)
    {
        final String[] ends = allowed.split("[,-]");
        return hasChoice(allowed) ? List.of(PROGRAM.toString(), "-c", ends[ends.length - 1]) : List.of();
    }

    /** The processors of this process, as the kernel writes them: 0-3,8. */
    static String allowed() throws IOException
    {
        return Files.readAllLines(STATUS).stream().filter(line -> line.startsWith(ALLOWED)).findFirst()
            .orElse(ALLOWED).substring(ALLOWED.length()).strip();
    }

    private static boolean hasChoice(final String allowed)
    {
        return Files.isExecutable(PROGRAM) && (allowed.contains("-") || allowed.contains(","));
    }
}
