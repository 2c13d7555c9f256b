package io.verbena.cli.cluster;

import io.verbena.cli.CommandFailedException;
import io.verbena.cli.ExitStatus;
import io.verbena.cli.cluster.ProcessTable.Entry;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** {@code verbena status}. */
@Command(
    name = "status",
    description = "Show the processes of the cluster on this host, and what each says of itself.",
    footer = {"", "Exit status 0: all of them are ready; 1: one is dead, or not ready; 69: no cluster is up."},
    defaultValueProvider = SettingsProvider.class)
public final class StatusCommand implements Callable<Integer>
{
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final long WATCH_MS = 1_000;

    /** A process and what it said, or null. */
    private record Shown(Entry entry, String health)
    {
        boolean isReady()
        {
            return null != health && health.contains("\"ready\":true");
        }

        String json()
        {
            return "{\"name\":\"" + entry.name() + "\",\"pid\":" + entry.pid() + ",\"live\":" + entry.isLive() +
                ",\"health\":" + health + "}";
        }
    }

    @Spec
    private CommandSpec spec;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Option(names = "--json", description = "As one JSON object.")
    private boolean json;

    @Option(names = "--watch", description = "Again each second, until Ctrl-C.")
    private boolean watch;

    @Override
    public Integer call() throws InterruptedException
    {
        final ClusterFolder folder = ClusterFolder.of(data);
        final ProcessTable table = new ProcessTable(folder.processes());
        try (HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build())
        {
            int status = show(folder, table, http);
            while (watch)
            {
                Thread.sleep(WATCH_MS);
                status = show(folder, table, http);
            }
            return status;
        }
    }

    private int show(final ClusterFolder folder, final ProcessTable table, final HttpClient http)
        throws InterruptedException
    {
        final List<Entry> entries = table.entries();
        if (entries.isEmpty())
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no cluster is up in " + folder.path() + ": 'verbena up'", null);
        }
        final PrintWriter out = spec.commandLine().getOut();
        final StringBuilder text = new StringBuilder();
        boolean areReady = true;
        for (final Entry entry : entries)
        {
            final Shown shown = new Shown(entry, entry.isLive() ? health(http, entry) : null);
            areReady &= shown.isReady();
            text.append(json ? (text.isEmpty() ? "" : ",") + shown.json() : line(shown));
        }
        out.print(json ? "{\"address\":\"" + folder.address() + "\",\"ready\":" + areReady + ",\"processes\":[" + text +
            "]}\n" : folder.address() + '\n' + text);
        out.flush();
        return areReady ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private static String line(final Shown shown)
    {
        final String state = !shown.entry().isLive() ? "dead" : shown.isReady() ? "ready" : "not ready";
        final String figures = null == shown.health() ? "" : List.of(
            shown.health().replaceAll("[{}\"\\s]", "").split(",")).stream()
            .filter((figure) -> !figure.matches("(role|ready|pid|address):.*|.*:"))
            .collect(Collectors.joining(" "));
        return String.format("%-12s %8d  %-9s  %s%n", shown.entry().name(), shown.entry().pid(), state, figures);
    }

    private static String health(final HttpClient http, final Entry entry) throws InterruptedException
    {
        try
        {
            return http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + entry.healthPort() + "/health"))
                    .timeout(TIMEOUT).build(),
                HttpResponse.BodyHandlers.ofString()).body().strip();
        }
        catch (final IOException | IllegalArgumentException ex)
        {
            return null;
        }
    }
}
