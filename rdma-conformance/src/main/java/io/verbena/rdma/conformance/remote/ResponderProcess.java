package io.verbena.rdma.conformance.remote;

import io.verbena.rdma.verbs.Fabric;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * A process for responders, one fabric open at a time, that ends with this one. Used by one thread. Closed by its
 * creator.
 */
public final class ResponderProcess implements AutoCloseable
{
    private static final int GOES_BY_ITSELF_MS = 5_000;
    private static final List<String> FLAGS =
        List.of("--add-exports", "--add-opens", "--enable-native-access", "--sun-misc-unsafe-memory-access");

    private static final int LONGEST_RULE_S = 120;

    private final Process process;
    private final RemoteObjects objects;
    private final ScheduledExecutorService watchdog = Executors.newSingleThreadScheduledExecutor(
        Thread.ofPlatform().daemon().name("responder-watchdog").factory());
    private ScheduledFuture<?> deadline;

    /** Starts it, with the class path and the flags of this process. */
    public ResponderProcess()
    {
        final List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> FLAGS.stream().anyMatch(argument::startsWith)).forEach(command::add);
        command.addAll(List.of("-ea", "-Xmx512m", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
            ResponderMain.class.getName()));
        try
        {
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("cannot start a process for the responder", ex);
        }
        objects = new RemoteObjects(process.getInputStream(), process.getOutputStream());
    }

    /**
     * Opens a fabric over there; the one before must be closed.
     *
     * @param fabricName as {@link io.verbena.rdma.fabric.Fabrics#open} takes it.
     * @return proxy of the fabric; so is everything made from it.
     */
    public Fabric open(final String fabricName)
    {
        if (deadline != null)
        {
            deadline.cancel(false);
        }
        // A call that is never answered ends when the process does.
        deadline = watchdog.schedule(process::destroyForcibly, LONGEST_RULE_S, TimeUnit.SECONDS);
        return objects.open(fabricName);
    }

    /** @return whether it still runs. */
    public boolean isAlive()
    {
        return process.isAlive();
    }

    /** @return its process. */
    public ProcessHandle handle()
    {
        return process.toHandle();
    }

    @Override
    public void close()
    {
        watchdog.shutdownNow();
        try
        {
            process.getOutputStream().close();
            if (!process.waitFor(GOES_BY_ITSELF_MS, TimeUnit.MILLISECONDS))
            {
                process.destroyForcibly();
            }
        }
        catch (final IOException ex)
        {
            process.destroyForcibly();
        }
        catch (final InterruptedException ex)
        {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
