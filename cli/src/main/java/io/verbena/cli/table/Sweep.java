package io.verbena.cli.table;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.OpenedStore;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;

import org.agrona.concurrent.SystemNanoClock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One sweep by every compute node of a cluster that is up: each takes back what no record uses. One thread. */
final class Sweep
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    /** Together longer than figures are old: those of an idle node are published once in a second, and counted then. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int QUIET_POLLS = 6;
    private static final int POLLS_PER_REQUEST = 4;
    private static final String ASKED = "sweeps_asked";
    private static final String NOT_ASKED = " did not receive the request, or joined again since: try again";

    private final OpenedStore opened;
    private final ClientOptions options;
    private final Map<String, Long> askedBefore = new HashMap<>();

    private Sweep(final OpenedStore opened, final ClientOptions options)
    {
        this.opened = opened;
        this.options = options;
    }

    /**
     * Asks every compute node for a sweep and waits for the end of all, 20 s at most. Of a cluster that is named by its
     * address the end is not known: waits 3 s.
     *
     * @param opened  live.
     * @param options how it is reached.
     * @return one line for each node that has not done it, with the reason; empty when all have.
     */
    static List<String> run(final OpenedStore opened, final ClientOptions options)
    {
        return new Sweep(opened, options).run();
    }

    private List<String> run()
    {
        opened.besideLease(() ->
        {
            nodes().forEach((node) -> askedBefore.put(node.name(), figure(HealthProbe.figures(node), ASKED)));
            return null;
        });
        try (KvClient client = opened.besideLease(() -> options.connect(new KvClientOptions())))
        {
            return run(client);
        }
        catch (final KvException ex)
        {
            throw new CommandFailedException(ClientOptions.status(ex.category()), ClientOptions.text(ex), ex);
        }
    }

    private List<String> run(final KvClient client)
    {
        final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + TIMEOUT_NS;
        List<Integer> unconfirmed = List.of();
        List<String> unfinished = List.of();
        int quiet = 0;
        for (int i = 0; quiet < QUIET_POLLS && SystemNanoClock.INSTANCE.nanoTime() - deadlineNs < 0; i++)
        {
            // Again for nodes to which the client, which was just opened, was not connected yet.
            if (0 == i % POLLS_PER_REQUEST &&
                (0 == i || unfinished.stream().anyMatch((line) -> line.contains(NOT_ASKED))))
            {
                unconfirmed = opened.besideLease(client::reclaim);
            }
            letEpochsPass();
            unfinished = opened.besideLease(this::unfinished);
            quiet = unfinished.isEmpty() ? quiet + 1 : 0;
        }
        return options.namesCluster() ? unconfirmed.stream().map((id) -> "the compute node of incarnation " + id +
            " did not confirm the request").toList() : unfinished;
    }

    /** Sweeps wait for epochs, and those for every member, this one too: a pause without heartbeats delays them all. */
    private void letEpochsPass()
    {
        final long beganNs = SystemNanoClock.INSTANCE.nanoTime();
        do
        {
            opened.store().awaitOthers();
        }
        while (SystemNanoClock.INSTANCE.nanoTime() - beganNs < PAUSE_NS);
    }

    private List<Entry> nodes()
    {
        return options.namesCluster() ? List.of() : HeldMemory.computeNodes(options.folder());
    }

    private List<String> unfinished()
    {
        final List<String> unfinished = new ArrayList<>();
        for (final Entry node : nodes())
        {
            final Map<String, Object> figures = HealthProbe.figures(node);
            final long asked = figure(figures, ASKED);
            if (null == figures)
            {
                unfinished.add(node.name() + " does not answer: see './verbena status'");
            }
            else if (asked <= askedBefore.getOrDefault(node.name(), 0L))
            {
                unfinished.add(node.name() + NOT_ASKED);
            }
            else if (figure(figures, "sweeps_ended") < asked || Boolean.TRUE.equals(figures.get("reclaiming")))
            {
                unfinished.add(node.name() + " has not ended its sweep within " +
                    TimeUnit.NANOSECONDS.toSeconds(TIMEOUT_NS) + " s: see './verbena status' for nodes that are " +
                    "unreachable, or try again");
            }
        }
        return unfinished;
    }

    private static long figure(final Map<String, Object> figures, final String name)
    {
        return null != figures && figures.get(name) instanceof final Long value ? value : 0;
    }
}
