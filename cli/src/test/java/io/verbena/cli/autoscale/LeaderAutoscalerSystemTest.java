package io.verbena.cli.autoscale;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/** The autoscaler inside meta servers that are processes. */
@Timeout(300)
class LeaderAutoscalerSystemTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(100);

    @TempDir
    private Path directory;

    private ClusterFolder folder()
    {
        return ClusterFolder.of(directory.resolve("cluster"));
    }

    private void succeed(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", folder().path().toString()));
        final CommandLines.Result result = CommandLines.run(all);
        assertThat(result.status()).as("%s: %s%s", all, result.out(), result.err()).isZero();
    }

    @AfterEach
    void leaveNothingBehind()
    {
        CommandLines.run(List.of("down", "--discard", "--data", folder().path().toString()));
    }

    private static void await(final String what, final BooleanSupplier condition) throws InterruptedException
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - deadlineNs).as(what).isNegative();
            Thread.sleep(20);
        }
    }

    private Path data(final Entry metaServer)
    {
        final String name = metaServer.name();
        return "meta-server".equals(name) || "meta-server-1".equals(name) ? folder().path() :
            folder().path().resolve(name);
    }

    /** Of all members, those that decided, and how often they failed to start the node. */
    private Map<String, Long> failures(final List<Entry> members)
    {
        return members.stream().collect(Collectors.toMap(Entry::name, (member) ->
        {
            final Path log = data(member).resolve("autoscale.log");
            return Files.exists(log) ? DecisionLog.read(ClusterFolder.of(data(member))).stream()
                .filter((record) -> DecisionRecord.FAILED.equals(record.get("outcome"))).count() : -1L;
        }));
    }

    private static boolean hasFailedWithOneNode(final Path data)
    {
        return Files.exists(data.resolve("autoscale.log")) &&
            DecisionLog.read(ClusterFolder.of(data)).stream().anyMatch((record) ->
                DecisionRecord.FAILED.equals(record.get("outcome")) && Long.valueOf(1).equals(record.get("from")));
    }

    /** How often this process has run the command that starts a node. */
    private long startsBy(final long pid)
    {
        final Path file = directory.resolve("starts");
        try
        {
            return Files.exists(file) ? Files.readAllLines(file).stream().filter((line) ->
                line.startsWith(pid + " ")).count() : 0;
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /** The command says by whom it was run: the process above the shell. */
    private Path settings() throws IOException
    {
        return Files.writeString(directory.resolve("autoscale.conf"), "launcher=command\nmin=2\nmax=2\nperiod=200\n" +
            "launch-timeout=1\nstart=echo $PPID {name} >> " + directory.resolve("starts") +
            "\nstop=true {name}\n");
    }

    @Test
    void shouldGoOnInTheNextLeaderOfAGroupAndInNoOther() throws Exception
    {
        succeed("up", "--meta-servers", "3", "--memory", "64", "--autoscale", settings().toString());
        final List<Entry> members = new ProcessTable(folder().processes()).entries().stream()
            .filter((entry) -> entry.name().startsWith("meta")).toList();
        // It may have tried before the node that 'up' starts was there.
        await("the leader tries to start a second node", () ->
            members.stream().anyMatch((member) -> hasFailedWithOneNode(data(member))));
        final Entry leader = leader(members);
        requireOnlyThoseThatLedDecided(members);
        final CommandLines.Result explained = CommandLines.run(
            List.of("autoscale", "explain", "--last", "1000", "--data", data(leader).toString()));
        assertThat(explained.out()).contains("1 -> 2", "has just begun to lead", "failed: ");
        final CommandLines.Result second = CommandLines.run(List.of("autoscale", "--rounds", "1", "--launcher",
            "command", "--start", "true {name}", "--stop", "true {name}", "--cluster", folder().address(),
            "--token-file", folder().token().toString(), "--data", data(leader).toString()));
        assertThat(second.status()).as("another one for the same folder").isEqualTo(ExitStatus.UNAVAILABLE);

        final ProcessHandle process = ProcessHandle.of(leader.pid()).orElseThrow();
        process.destroyForcibly();
        process.onExit().get(STEP_NS, TimeUnit.NANOSECONDS);
        final List<Entry> others = members.stream().filter((member) -> !member.equals(leader)).toList();
        final long before = others.stream().mapToLong((member) -> startsBy(member.pid())).sum();
        await("the next leader tries to start a node", () ->
            others.stream().mapToLong((member) -> startsBy(member.pid())).sum() > before &&
            failures(others).values().stream().anyMatch((count) -> count > 0));
        final Entry next = leader(others);
        requireOnlyThoseThatLedDecided(others);
        assertThat(DecisionLog.read(ClusterFolder.of(data(next)))).first().extracting((record) ->
            record.get("outcome")).as("it waits first").isEqualTo(DecisionRecord.DELAYED);
    }

    /** One that has followed since it was started has decided nothing, and started nothing. */
    private void requireOnlyThoseThatLedDecided(final List<Entry> members)
    {
        final Map<String, Long> failures = failures(members);
        for (final Entry member : members)
        {
            if (HealthProbe.figures(member) instanceof final Map<?, ?> figures &&
                Long.valueOf(0).equals(figures.get("group_leadership")))
            {
                assertThat(failures.get(member.name())).as(member.name()).isNotPositive();
                assertThat(startsBy(member.pid())).as(member.name()).isZero();
            }
        }
    }

    /** On a busy machine there may be none for a moment. */
    private static Entry leader(final List<Entry> members) throws InterruptedException
    {
        final AtomicReference<Entry> leader = new AtomicReference<>();
        await("a leader", () ->
        {
            members.stream().filter((member) -> HealthProbe.figures(member) instanceof final Map<?, ?> figures &&
                figures.containsKey("cluster_id")).findFirst().ifPresent(leader::set);
            return null != leader.get();
        });
        return leader.get();
    }

    /** Processes of this host, by the single meta server that {@code up} started. */
    @Test
    void shouldStartAndEndProcessesFromTheSingleMetaServer() throws Exception
    {
        final Path settings = Files.writeString(directory.resolve("autoscale.conf"),
            "min=2\nmax=3\nperiod=200\nlaunch-timeout=15\n");
        succeed("up", "--memory", "64", "--autoscale", settings.toString());
        await("a second node", () -> 2 == new ProcessTable(folder().processes()).entries().stream()
            .filter((entry) -> entry.name().startsWith("compute-") && entry.isLive() && 0 != entry.healthPort())
            .count());
        await("its record", () -> DecisionLog.read(folder()).stream().anyMatch((record) ->
            DecisionRecord.DONE.equals(record.get("outcome")) && Long.valueOf(2).equals(record.get("to"))));
        succeed("down");
        assertThat(new ProcessTable(folder().processes()).entries()).noneMatch(Entry::isLive);
    }
}
