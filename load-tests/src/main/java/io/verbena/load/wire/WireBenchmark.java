package io.verbena.load.wire;

import io.verbena.load.LoadException;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Measures READ, WRITE and CAS over RoCEv2 between two network namespaces joined by veth against plain UDP on the same
 * link, and GETs of the store against those of a Redis. The namespaces belong to the processes that measure, and are
 * gone with them.
 */
public final class WireBenchmark
{
    private static final List<String> AS_ROOT = List.of("unshare", "--net");
    private static final List<String> AS_USER = List.of("unshare", "--net", "--map-root-user");
    private static final long END_TIMEOUT_S = 10;

    private final WireOptions options;
    private final Consumer<WireFigure> progress;
    private final Consumer<String> notes;

    /**
     * Makes one.
     *
     * @param options  how to measure.
     * @param progress called with each figure.
     * @param notes    called with a line for what could not be measured.
     */
    public WireBenchmark(
        final WireOptions options, final Consumer<WireFigure> progress, final Consumer<String> notes)
    {
        this.notes = notes;
        this.options = options;
        this.progress = progress;
    }

    /** @return whether this user may make network namespaces here. */
    public static boolean isPermitted()
    {
        return !prefix().isEmpty();
    }

    /**
     * Measures.
     *
     * @return the figures.
     * @throws LoadException when no namespaces can be made here, or with what the measuring process printed.
     */
    public List<WireFigure> run() throws IOException
    {
        final List<String> namespaces = prefix();
        if (namespaces.isEmpty())
        {
            throw new LoadException(LoadException.Reason.UNAVAILABLE,
                "no network namespaces can be made here ('unshare --net' is absent or refused): run as root");
        }
        final List<String> command = new ArrayList<>(namespaces);
        command.addAll(WirePlaces.near());
        command.addAll(JavaCommand.of(WireRequesterMain.class));
        command.addAll(List.of(Integer.toString(options.mtuBytes()), Integer.toString(options.windowPackets()),
            Integer.toString(options.rounds()), Integer.toString(options.roundMs()), WirePlaces.allowed(),
            options.only()));
        final List<WireFigure> figures = new ArrayList<>(figures(command));
        final List<String> gets = new ArrayList<>(namespaces);
        gets.addAll(JavaCommand.of(WireGetsMain.class));
        gets.addAll(List.of(Integer.toString(options.mtuBytes()), Integer.toString(options.rounds()),
            Integer.toString(options.roundMs()), options.only()));
        figures.addAll(figures(gets));
        return figures;
    }

    private List<WireFigure> figures(final List<String> command) throws IOException
    {
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8))
        {
            return figures(lines, process);
        }
        finally
        {
            process.destroyForcibly();
        }
    }

    private List<WireFigure> figures(final BufferedReader lines, final Process process) throws IOException
    {
        final List<WireFigure> figures = new ArrayList<>();
        final List<String> others = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine())
        {
            if (line.startsWith(WireFigure.LINE))
            {
                final WireFigure figure = WireFigure.parse(line);
                figures.add(figure);
                progress.accept(figure);
            }
            else if (line.startsWith(WireFigure.NOTE))
            {
                notes.accept(line.substring(WireFigure.NOTE.length()));
            }
            else
            {
                others.add(line);
            }
        }
        if (!hasEndedWell(process))
        {
            throw new LoadException(
                LoadException.Reason.FAILED, "the wire was not measured: " + String.join(" | ", others));
        }
        return figures;
    }

    private static boolean hasEndedWell(final Process process)
    {
        try
        {
            return process.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS) && process.exitValue() == 0;
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** How a process gets a network namespace of its own here; empty where it may not. */
    private static List<String> prefix()
    {
        for (final List<String> prefix : List.of(AS_ROOT, AS_USER))
        {
            final List<String> command = new ArrayList<>(prefix);
            command.addAll(List.of("ip", "link", "add", "verbena0", "type", "veth", "peer", "name", "verbena1"));
            try
            {
                final Process process = new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
                if (hasEndedWell(process))
                {
                    return prefix;
                }
            }
            catch (final IOException ex)
            {
                // The program is not installed.
                return List.of();
            }
        }
        return List.of();
    }
}
