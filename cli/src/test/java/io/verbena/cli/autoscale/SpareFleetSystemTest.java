package io.verbena.cli.autoscale;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.ProcessTable;

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
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** Spares as processes: started, killed, activated, ended. */
@Timeout(300)
class SpareFleetSystemTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(90);

    @TempDir
    private Path directory;

    private CommandLines.Result run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.resolve("cluster").toString()));
        return CommandLines.run(all);
    }

    private void succeed(final String... arguments)
    {
        final CommandLines.Result result = run(arguments);
        assertThat(result.status()).as("%s: %s%s", List.of(arguments), result.out(), result.err()).isZero();
    }

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
        assertThat(processes().entries()).isEmpty();
    }

    private ProcessTable processes()
    {
        return new ProcessTable(directory.resolve("cluster/processes"));
    }

    private List<String> nodes()
    {
        return processes().entries().stream().map(ProcessTable.Entry::name)
            .filter((name) -> name.startsWith("compute-") || name.startsWith("spare-")).toList();
    }

    private long pid(final String name)
    {
        return processes().entries().stream().filter((entry) -> name.equals(entry.name())).findFirst().orElseThrow()
            .pid();
    }

    private static Fleet.State keepUntil(final LocalFleet fleet, final int spares, final Predicate<Fleet.State> wanted)
        throws InterruptedException
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (true)
        {
            final Fleet.State state = fleet.observe();
            if (wanted.test(state))
            {
                return state;
            }
            assertThat(fleet.keepSpares(spares)).isNull();
            assertThat(System.nanoTime() - deadlineNs).as("%s", state).isNegative();
            Thread.sleep(50);
        }
    }

    /** It has read from itself, and that is no operation of anybody. */
    private void shouldHaveWarmedUp(final String name) throws InterruptedException
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        final Path log = directory.resolve("cluster/logs/" + name + ".log");
        while (!read(log).contains("warmed up by 12"))
        {
            assertThat(System.nanoTime() - deadlineNs).as(read(log)).isNegative();
            Thread.sleep(50);
        }
        final ProcessTable.Entry spare = processes().entries().stream()
            .filter((entry) -> name.equals(entry.name())).findFirst().orElseThrow();
        Map<String, Object> figures = HealthProbe.figures(spare);
        // What is published is a moment old, and a busy process may not answer.
        while (null == figures || (long)figures.get("requests") < 12_000)
        {
            assertThat(System.nanoTime() - deadlineNs).as("%s", figures).isNegative();
            Thread.sleep(50);
            figures = HealthProbe.figures(spare);
        }
        assertThat(figures).containsEntry("operations", 0L).containsEntry("first_request_after_us", -1L)
            .containsEntry("first_client_after_us", -1L);
    }

    private static String read(final Path file)
    {
        try
        {
            return Files.readString(file);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    @Test
    void shouldKeepReplaceAndActivateSpares() throws InterruptedException, IOException
    {
        succeed("up", "--memory", "64", "--compute-nodes", "1");
        succeed("put", "key", "value");
        // Where there are users requests take turns: what a spare asks itself, too.
        final Path secret = directory.resolve("secret");
        Files.writeString(secret, "correct horse battery");
        succeed("user", "add", "ann", "--grant", "read:default", "--new-secret-file", secret.toString());
        try (LocalFleet fleet = new LocalFleet(ClusterFolder.of(directory.resolve("cluster")), 60))
        {
            assertThat(keepUntil(fleet, 1, (state) -> 1 == state.spares()).live()).isEqualTo(1);
            final long killed = pid("spare-1");
            ProcessHandle.of(killed).orElseThrow().destroyForcibly();
            final Fleet.State replaced =
                keepUntil(fleet, 1, (state) -> 1 == state.spares() && nodes().contains("spare-1") &&
                    killed != pid("spare-1"));
            assertThat(replaced.dead()).as("a spare is replaced as a spare").isEmpty();
            succeed("status", "--no-tables");
            shouldHaveWarmedUp("spare-1");

            final long spare = pid("spare-1");
            final List<String> lines = new ArrayList<>();
            fleet.resize(2, lines::add);
            assertThat(lines).containsExactly("spare-1 is activated");
            assertThat(fleet.observe().live()).isEqualTo(2);
            assertThat(fleet.observe().spares()).isZero();
            assertThat(nodes()).containsExactly("compute-1", "compute-2");
            assertThat(pid("compute-2")).isEqualTo(spare);
            // That of the spare which was killed goes with its lease.
            final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (!run("status", "--json").out().contains("\"spare_compute_nodes\":0"))
            {
                assertThat(System.nanoTime() - deadlineNs).isNegative();
                Thread.sleep(100);
            }

            keepUntil(fleet, 1, (state) -> 1 == state.spares());
            succeed("scale", "--compute-nodes", "1");
            assertThat(nodes()).as("spares are not counted").containsExactlyInAnyOrder("compute-1", "spare-1");
            keepUntil(fleet, 0, (state) -> !nodes().contains("spare-1"));
        }
        succeed("autoscale", "--rounds", "1", "--spares", "0");
    }
}
