package io.verbena.cli.cluster;

import io.verbena.cli.CommandFailedException;
import io.verbena.cli.ExitStatus;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * The processes of a cluster on this host, one file each. A process is known by its number and the time at which it
 * started, both checked before any signal: a number that another process has got meanwhile is never touched. Its files
 * are changed under its monitor.
 */
final class ProcessTable
{
    private static final String SUFFIX = ".properties";

    /**
     * A process that was started.
     *
     * @param name       within the cluster, such as {@code compute-2}.
     * @param pid        its number.
     * @param startMs    when it started, ms since 1970; 0 where the system does not tell.
     * @param healthPort of its health endpoint.
     */
    record Entry(String name, long pid, long startMs, int healthPort)
    {
        /** The process, if it lives and is the one that was started. */
        Optional<ProcessHandle> process()
        {
            return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).filter((process) -> startMs == start(process));
        }

        boolean isLive()
        {
            return process().isPresent();
        }
    }

    private final Path folder;

    ProcessTable(final Path folder)
    {
        this.folder = folder;
    }

    static long start(final ProcessHandle process)
    {
        return process.info().startInstant().map((instant) -> instant.toEpochMilli()).orElse(0L);
    }

    /** All that were started and not ended by {@link #end}, by name. */
    synchronized List<Entry> entries()
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
        try
        {
            Files.createDirectories(folder);
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
            isOrderly = awaitEnd(process.get(), timeoutMs);
            if (!isOrderly && entry.isLive())
            {
                process.get().destroyForcibly();
                awaitEnd(process.get(), timeoutMs);
            }
        }
        forget(entry);
        return isOrderly;
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

    private static boolean awaitEnd(final ProcessHandle process, final long timeoutMs)
    {
        final CompletableFuture<ProcessHandle> end = process.onExit();
        try
        {
            end.get(timeoutMs, TimeUnit.MILLISECONDS);
            return true;
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            return false;
        }
        catch (final ExecutionException | TimeoutException ex)
        {
            return false;
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
                Integer.parseInt(properties.getProperty("health_port"))));
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
