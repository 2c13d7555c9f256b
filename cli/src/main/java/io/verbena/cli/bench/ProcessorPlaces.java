package io.verbena.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Binds threads to processors for a measurement, by the program {@code taskset}, and lets processes pause. Used by one
 * thread.
 */
final class ProcessorPlaces
{
    private static final String ALLOWED = "Cpus_allowed_list:";

    private final String all;
    private final List<String> single;

    private ProcessorPlaces(final String all, final List<String> single)
    {
        this.all = all;
        this.single = single;
    }

    /** Of this process; there is no choice where there is one processor, or no {@code taskset}. */
    static ProcessorPlaces ofThisProcess() throws InterruptedException
    {
        try
        {
            final String list = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter((line) -> line.startsWith(ALLOWED)).findFirst().orElse(ALLOWED)
                .substring(ALLOWED.length()).strip();
            final List<String> single = numbers(list);
            return new ProcessorPlaces(list, run("taskset", "--version") ? single : List.of());
        }
        catch (final IOException | NumberFormatException ex)
        {
            return new ProcessorPlaces("", List.of());
        }
    }

    /** As the kernel writes it: 0-3,8. */
    static List<String> numbers(final String list)
    {
        final List<String> numbers = new ArrayList<>();
        for (final String range : list.split(","))
        {
            final String[] ends = range.split("-");
            for (int i = Integer.parseInt(ends[0]); i <= Integer.parseInt(ends[ends.length - 1]); i++)
            {
                numbers.add(Integer.toString(i));
            }
        }
        return numbers;
    }

    /** Whether there are two to choose from. */
    boolean hasChoice()
    {
        return single.size() >= 2;
    }

    /** Binds this thread and others: -1 for all processors, else the one with that index. */
    void place(final List<Long> others, final int own, final int theirs) throws InterruptedException
    {
        if (!hasChoice())
        {
            return;
        }
        bind(thisThread(), own);
        for (final long other : others)
        {
            bind(other, theirs);
        }
    }

    private void bind(final long thread, final int index) throws InterruptedException
    {
        run("taskset", "-pc", index < 0 ? all : single.get(index), Long.toString(thread));
    }

    private static long thisThread()
    {
        try
        {
            return Long.parseLong(Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString());
        }
        catch (final IOException ex)
        {
            throw new IllegalStateException("/proc/thread-self cannot be read: " + ex, ex);
        }
    }

    /** Threads of a process whose name begins so. */
    static List<Long> threads(final long process, final String namePrefix)
    {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/" + process + "/task")))
        {
            return tasks.filter((task) -> name(task).startsWith(namePrefix))
                .map((task) -> Long.valueOf(task.getFileName().toString())).toList();
        }
        catch (final IOException ex)
        {
            return List.of();
        }
    }

    private static String name(final Path task)
    {
        try
        {
            return Files.readString(task.resolve("comm"));
        }
        catch (final IOException ex)
        {
            return ""; // it has ended
        }
    }

    /** Stops a process, or lets it go on. */
    static void pause(final long process, final boolean pauses) throws InterruptedException
    {
        run("sh", "-c", "kill -" + (pauses ? "STOP " : "CONT ") + process);
    }

    private static boolean run(final String... command) throws InterruptedException
    {
        try
        {
            return 0 == new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
        }
        catch (final IOException ex)
        {
            return false;
        }
    }
}
