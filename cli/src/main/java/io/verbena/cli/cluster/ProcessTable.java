package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.OwnerOnly;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The processes of a cluster on this host, one file each. A process is known by its number and the time at which it
 * started, both checked before any signal: a number that another process has got meanwhile is never touched. Its files
 * are changed under its monitor.
 */
public final class ProcessTable
{
    private static final String SUFFIX = ".properties";

    /**
     * A process that was started.
     *
     * @param name       within the cluster, such as {@code compute-2}.
     * @param pid        its number.
     * @param startMs    when it started, ms since 1970; 0 where the system does not report it.
     * @param healthPort of its health endpoint.
     * @param place      program that runs a command on its host; null: this host.
     */
    public record Entry(String name, long pid, long startMs, int healthPort, String place)
    {
        /** Of a process on this host. */
        Entry(final String name, final long pid, final long startMs, final int healthPort)
        {
            this(name, pid, startMs, healthPort, null);
        }

        /** The process, if it lives and is the one that was started. */
        public Optional<ProcessHandle> process()
        {
            return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).filter((process) -> startMs == start(process))
                .filter((process) -> !isZombie(pid));
        }

        public boolean isLive()
        {
            return process().isPresent();
        }

        /**
         * Sends the process a signal that the JDK has no method for.
         *
         * @param signal its name, such as {@code STOP}.
         * @throws CommandFailedException when the process has ended, or the command {@code kill} cannot be run.
         */
        public void signal(final String signal) throws InterruptedException
        {
            final ProcessHandle process = process().orElseThrow(
                () -> new CommandFailedException(ExitStatus.UNAVAILABLE, name + " has ended", null));
            try
            {
                new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
            }
            catch (final IOException ex)
            {
                throw new CommandFailedException(
                    ExitStatus.UNAVAILABLE, "kill cannot be run: " + ex.getMessage(), ex);
            }
        }
    }

    /** Of /proc/PID/stat, counted from the state. */
    private static final int THREADS_FIELD = 17;
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Path folder;

    public ProcessTable(final Path folder)
    {
        this.folder = folder;
    }

    static long start(final ProcessHandle process)
    {
        return process.info().startInstant().map((instant) -> instant.toEpochMilli()).orElse(0L);
    }

    /** All that were started and not ended by {@link #end}, by name. */
    public synchronized List<Entry> entries()
    {
        if (!Files.isDirectory(folder))
        {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder))
        {
            final List<Entry> entries = new ArrayList<>();
            files.filter((file) -> file.getFileName().toString().endsWith(SUFFIX)).sorted()
                .forEach((file) -> read(file).ifPresent(entries::add));
            entries.sort(Comparator.comparing((final Entry entry) -> !entry.name().startsWith("meta"))
                .thenComparing((final Entry entry) -> entry.name().length())
                .thenComparing(Entry::name));
            return entries;
        }
        catch (final IOException ex)
        {
            throw failed("cannot be listed", ex);
        }
    }

    synchronized void add(final Entry entry)
    {
        final Properties properties = new Properties();
        properties.setProperty("pid", Long.toString(entry.pid()));
        properties.setProperty("start_ms", Long.toString(entry.startMs()));
        properties.setProperty("health_port", Integer.toString(entry.healthPort()));
        if (null != entry.place())
        {
            properties.setProperty("place", entry.place());
        }
        try
        {
            OwnerOnly.createFolder(folder);
            // Whole or not at all: others read it meanwhile, and this process may be killed.
            final Path unfinished = folder.resolve(entry.name() + ".unfinished");
            try (Writer writer = Files.newBufferedWriter(unfinished))
            {
                properties.store(writer, null);
            }
            Files.move(unfinished, file(entry.name()), StandardCopyOption.ATOMIC_MOVE);
        }
        catch (final IOException ex)
        {
            throw failed("cannot be written", ex);
        }
    }

    /**
     * Ends a process: by SIGTERM, and when that takes too long by SIGKILL; then forgets it.
     *
     * @param entry     that may be dead already.
     * @param timeoutMs for an orderly end.
     * @return false when it had to be killed.
     */
    boolean end(final Entry entry, final long timeoutMs)
    {
        final Optional<ProcessHandle> process = entry.process();
        boolean isOrderly = true;
        if (process.isPresent())
        {
            process.get().destroy();
            isOrderly = awaitEnd(entry, timeoutMs);
            if (!isOrderly && entry.isLive())
            {
                process.get().destroyForcibly();
                awaitEnd(entry, timeoutMs);
            }
        }
        forget(entry);
        return isOrderly;
    }

    /** Gives a process another name, which none has; killed in between, it has both. */
    synchronized void rename(final Entry entry, final String name)
    {
        add(new Entry(name, entry.pid(), entry.startMs(), entry.healthPort(), entry.place()));
        forget(entry);
    }

    synchronized void forget(final Entry entry)
    {
        try
        {
            Files.deleteIfExists(file(entry.name()));
        }
        catch (final IOException ex)
        {
            throw failed("cannot be changed", ex);
        }
    }

    private static boolean awaitEnd(final Entry entry, final long timeoutMs)
    {
        final long beganNs = SystemNanoClock.INSTANCE.nanoTime();
        while (entry.isLive())
        {
            if (Thread.currentThread().isInterrupted() ||
                SystemNanoClock.INSTANCE.nanoTime() - beganNs > TimeUnit.MILLISECONDS.toNanos(timeoutMs))
            {
                return false;
            }
            LockSupport.parkNanos(POLL_NS);
        }
        return true;
    }

    /**
     * Whether a process has ended and only waits for its parent to hear of it. In a container whose first process does
     * not listen, that is forever. One whose first thread has ended before the others, which still hold its files, says
     * that it is a zombie too, but counts them.
     */
    static boolean isZombie(final long pid)
    {
        try
        {
            final String stat =
                Files.readString(Path.of("/proc", Long.toString(pid), "stat"), StandardCharsets.ISO_8859_1);
            // PID (NAME) STATE ..., and a name may hold anything.
            final String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return ("Z".equals(fields[0]) || "X".equals(fields[0])) && Integer.parseInt(fields[THREADS_FIELD]) <= 1;
        }
        catch (final IOException | IndexOutOfBoundsException | NumberFormatException ex)
        {
            return false; // ended between two lookups, which the next one finds
        }
    }

    /** None when the process was forgotten meanwhile, by another command. */
    private Optional<Entry> read(final Path file)
    {
        final Properties properties = new Properties();
        final String name = file.getFileName().toString();
        try (Reader reader = Files.newBufferedReader(file))
        {
            properties.load(reader);
            return Optional.of(new Entry(
                name.substring(0, name.length() - SUFFIX.length()),
                Long.parseLong(properties.getProperty("pid")),
                Long.parseLong(properties.getProperty("start_ms")),
                Integer.parseInt(properties.getProperty("health_port")),
                properties.getProperty("place")));
        }
        catch (final NoSuchFileException ex)
        {
            return Optional.empty();
        }
        catch (final IOException | NumberFormatException ex)
        {
            throw new CommandFailedException(ExitStatus.BAD_DATA, file + " is no entry of a process (" + ex +
                "): if no process of the cluster runs, delete it", ex);
        }
    }

    private Path file(final String name)
    {
        return folder.resolve(name + SUFFIX);
    }

    private CommandFailedException failed(final String what, final IOException ex)
    {
        return new CommandFailedException(
            ExitStatus.CANNOT_CREATE, "table of processes " + folder + ' ' + what + ": " + ex, ex);
    }
}
