package io.verbena.cli.fabric;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** One of perftest's latency programs, in C, run between two processes on an RNIC of this machine. */
final class PerftestProgram
{
    private static final Path RNICS = Path.of("/sys/class/infiniband");
    private static final String HOST = "127.0.0.1";
    private static final int ATTEMPTS = 100;
    private static final long ATTEMPT_MS = 200;
    private static final long LIMIT_S = 120;
    private static final long END_S = 5;
    private static final double NS_PER_US = 1_000;
    /** Columns of a line of results: bytes, iterations, least, most, typical, average, deviation, 99 %, 99.9 %. */
    private static final int COLUMNS = 9;
    private static final int LEAST = 2;
    private static final int TYPICAL = 4;
    private static final int AVERAGE = 5;

    private final String name;
    private final List<String> arguments;

    /**
     * What a program printed.
     *
     * @param leastNs   shortest time from one post to the next.
     * @param medianNs  which it calls typical.
     * @param averageNs of all.
     */
    record Figures(long leastNs, long medianNs, long averageNs)
    {
    }

    private PerftestProgram(final String name, final List<String> arguments)
    {
        this.name = name;
        this.arguments = arguments;
    }

    /** READ of a length over RC, with the port and GID that an open device uses. */
    static PerftestProgram read(final String rnic, final Device device, final int sizeBytes, final int iterations)
    {
        return of("ib_read_lat", rnic, device, iterations, "-s", Integer.toString(sizeBytes));
    }

    /** CMP_SWAP over RC. */
    static PerftestProgram compareSwap(final String rnic, final Device device, final int iterations)
    {
        return of("ib_atomic_lat", rnic, device, iterations, "-A", "CMP_AND_SWAP");
    }

    private static PerftestProgram of(
        final String name, final String rnic, final Device device, final int iterations, final String... more)
    {
        if (Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .noneMatch(folder -> Files.isExecutable(Path.of(folder, name))))
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE,
                "there is no " + name + " on the PATH: install the package perftest", null);
        }
        final List<String> arguments = new ArrayList<>(List.of(
            "-d", rnic, "-F", "-n", Integer.toString(iterations)));
        arguments.addAll(gid(RNICS.resolve(rnic).resolve("ports"), device.address()));
        arguments.addAll(List.of(more));
        return new PerftestProgram(name, arguments);
    }

    String name()
    {
        return name;
    }

    /** The options for port and index under which the kernel lists a GID. */
    static List<String> gid(final Path ports, final DeviceAddress address)
    {
        final String wanted = String.format(Locale.ROOT, "%016x%016x", address.gidHigh(), address.gidLow());
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(ports))
        {
            for (final Path port : entries)
            {
                try (DirectoryStream<Path> gids = Files.newDirectoryStream(port.resolve("gids")))
                {
                    for (final Path gid : gids)
                    {
                        if (read(gid).replace(":", "").equals(wanted))
                        {
                            return List.of(
                                "-i", port.getFileName().toString(), "-x", gid.getFileName().toString());
                        }
                    }
                }
            }
        }
        catch (final IOException ex)
        {
            throw failure(ports + " cannot be read (" + FileErrors.reason(ex) + ")", ex);
        }
        throw failure("no GID in " + ports + " is that of the device, " + wanted, null);
    }

    /** An entry that is not in use cannot be read. */
    private static String read(final Path gid)
    {
        try
        {
            return Files.readString(gid).strip();
        }
        catch (final IOException ex)
        {
            return "";
        }
    }

    /** Starts the side that answers, then the side that measures, and waits for both. */
    Figures run()
    {
        Process server = null;
        try
        {
            final String port = freePort();
            server = start(List.of("-p", port));
            for (int i = 0; i < ATTEMPTS; i++)
            {
                // The server is not there at once, and one must not knock first: it serves one client.
                final Process client = start(List.of("-p", port, HOST));
                final String output = output(client);
                final Figures figures = client.waitFor() == 0 ? parse(output) : null;
                if (figures != null)
                {
                    return figures;
                }
                if (!server.isAlive())
                {
                    throw failure(name + " failed: " + lastLine(output(server), output), null);
                }
                server.waitFor(ATTEMPT_MS, TimeUnit.MILLISECONDS);
            }
            throw failure(name + " found no server in " + ATTEMPTS + " attempts", null);
        }
        catch (final IOException ex)
        {
            throw failure(name + " cannot be run: " + ex.getMessage(), ex);
        }
        catch (final InterruptedException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
        finally
        {
            if (server != null)
            {
                end(server);
            }
        }
    }

    /** SIGTERM first, which timeout passes on: SIGKILL would end it, and leave the program that it runs. */
    private static void end(final Process server)
    {
        server.destroy();
        try
        {
            server.waitFor(END_S, TimeUnit.SECONDS);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
        server.destroyForcibly();
    }

    private Process start(final List<String> more) throws IOException
    {
        final List<String> command = new ArrayList<>(List.of("timeout", Long.toString(LIMIT_S), name));
        command.addAll(arguments);
        command.addAll(more);
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String output(final Process process) throws IOException
    {
        try (InputStream output = process.getInputStream())
        {
            return new String(output.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String freePort() throws IOException
    {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            return Integer.toString(free.getLocalPort());
        }
    }

    /** The figures of an output; null when there are none in it. */
    static Figures parse(final String output)
    {
        return output.lines().map(line -> line.strip().split("\\s+"))
            .filter(words -> words.length == COLUMNS && Arrays.stream(words).allMatch(word -> word.matches("[\\d.]+")))
            .map(words -> new Figures(ns(words[LEAST]), ns(words[TYPICAL]), ns(words[AVERAGE])))
            .findFirst().orElse(null);
    }

    private static long ns(final String us)
    {
        return Math.round(Double.parseDouble(us) * NS_PER_US);
    }

    private static String lastLine(final String... outputs)
    {
        return Arrays.stream(outputs).flatMap(String::lines).map(String::strip)
            .filter(line -> !line.isEmpty() && !line.startsWith("--")).reduce((first, second) -> second)
            .orElse("it says nothing");
    }

    private static CommandFailedException failure(final String message, final Exception cause)
    {
        return new CommandFailedException(ExitStatus.UNAVAILABLE, message, cause);
    }
}
