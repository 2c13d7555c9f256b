package io.verbena.rdma.roce.device;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A network namespace beside that of this process, which may make them. It lasts as long as this process. */
final class NamespaceHost
{
    private final Process holder;

    NamespaceHost()
    {
        holder = start(List.of("unshare", "--net", "sh", "-c", "ip link set lo up; echo made; exec cat"));
        final String line = line(holder.inputReader(StandardCharsets.UTF_8));
        if (!"made".equals(line))
        {
            throw new AssertionError("no network namespace: " + line);
        }
    }

    /** Argument of {@code ip link set DEVICE netns}. */
    long pid()
    {
        return holder.pid();
    }

    /** Runs a script in it. @return what that printed. */
    String run(final String script)
    {
        return output(inside(List.of("sh", "-c", script)));
    }

    List<String> inside(final List<String> command)
    {
        final List<String> all = new ArrayList<>(List.of("nsenter", "--net=/proc/" + holder.pid() + "/ns/net"));
        all.addAll(command);
        return all;
    }

    /** Runs a command in the namespace of this process; fails where it fails. @return what it printed. */
    static String output(final List<String> command)
    {
        final Process process = start(command);
        try
        {
            final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (process.waitFor() != 0)
            {
                throw new AssertionError(command + ": " + output);
            }
            return output;
        }
        catch (final IOException | InterruptedException ex)
        {
            throw new AssertionError(ex);
        }
    }

    static Process start(final List<String> command)
    {
        try
        {
            final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            return process;
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    static String line(final BufferedReader lines)
    {
        try
        {
            return String.valueOf(lines.readLine());
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }
}
