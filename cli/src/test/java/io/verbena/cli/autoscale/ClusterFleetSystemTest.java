package io.verbena.cli.autoscale;

import io.verbena.cli.CommandLines;
import io.verbena.cli.autoscale.launch.CommandLauncher;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.cluster.NodeLauncher;
import io.verbena.cli.console.ExitStatus;

import org.agrona.concurrent.SystemNanoClock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Nodes that commands start and end, seen through the cluster alone. */
@Timeout(400)
class ClusterFleetSystemTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(100);

    @TempDir
    private Path directory;

    private ClusterFolder folder()
    {
        return ClusterFolder.of(directory.resolve("cluster"));
    }

    private static CommandLines.Result run(final String... arguments)
    {
        return CommandLines.run(List.of(arguments));
    }

    @AfterEach
    void leaveNothingBehind() throws IOException
    {
        try (Stream<Path> files = Files.list(directory))
        {
            for (final Path file : files.filter((each) -> each.toString().endsWith(".pid")).toList())
            {
                ProcessHandle.of(Long.parseLong(Files.readString(file).strip()))
                    .ifPresent(ProcessHandle::destroyForcibly);
            }
        }
        run("down", "--discard", "--data", folder().path().toString());
    }

    private String start()
    {
        final List<String> command = NodeLauncher.commandLine(NodeLauncher.NODE_FLAGS, List.of("compute-node",
            "--cluster", folder().address(), "--token-file", folder().token().toString()));
        return command.stream().map((word) -> "'" + word + "'").collect(Collectors.joining(" ")) +
            " --name {name} $(cat " + directory + "/flags) > " + directory + "/{name}.log 2>&1 & echo $! > " +
            directory + "/{name}.pid; : {host}";
    }

    private String stop()
    {
        return "kill $(cat " + directory + "/{name}.pid); rm " + directory + "/{name}.pid; : {host}";
    }

    private void flags(final String flags) throws IOException
    {
        Files.writeString(directory.resolve("flags"), flags);
    }

    private static Fleet.State await(final Fleet fleet, final int spares, final Predicate<Fleet.State> wanted)
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

    @Test
    void shouldStartReplaceActivateAndEndNodesByCommands() throws Exception
    {
        assertThat(run("up", "--memory", "64", "--compute-nodes", "1", "--data", folder().path().toString()).status())
            .isZero();
        flags("");
        final List<String> lines = new ArrayList<>();
        try (ClusterFleet fleet = new ClusterFleet(
            () -> MetaCalls.open(folder(), STEP_NS), new CommandLauncher(start(), stop(), List.of("a", "b"), 100_000,
                SystemNanoClock.INSTANCE), ChangePermission.ALWAYS, 100, SystemNanoClock.INSTANCE))
        {
            assertThat(fleet.observe().live()).as("one that the launcher does not own").isEqualTo(1);
            fleet.resize(3, lines::add);
            assertThat(lines).hasSize(2).allMatch((line) -> line.endsWith(" is ready"));
            assertThat(await(fleet, 0, (state) -> fleet.names().containsAll(List.of("a-1", "b-1"))).dead()).isEmpty();

            ProcessHandle.of(Long.parseLong(Files.readString(directory.resolve("a-1.pid")).strip())).orElseThrow()
                .destroyForcibly();
            final Fleet.State afterDeath = await(fleet, 0, (state) -> !state.dead().isEmpty());
            assertThat(afterDeath.dead()).containsExactly("a-1");
            assertThat(afterDeath.live()).isEqualTo(2);
            fleet.resize(3, lines::add);
            assertThat(fleet.observe().dead()).as("started again, under its name").isEmpty();
            assertThat(lines).last().asString().endsWith(" is ready");

            flags("--spare");
            await(fleet, 1, (state) -> 1 == state.spares() && fleet.names().contains("a-2"));
            lines.clear();
            fleet.resize(4, lines::add);
            assertThat(lines).containsExactly("a-2 is activated");
            assertThat(fleet.observe().live()).isEqualTo(4);

            lines.clear();
            fleet.resize(2, lines::add);
            assertThat(lines).hasSize(2).allMatch((line) -> line.endsWith(" has ended"));
            assertThat(fleet.observe().live()).isEqualTo(2);
        }
        byCommandLine();
    }

    /** Another process takes over what is there. */
    private void byCommandLine()
    {
        final List<String> all = List.of("autoscale", "--launcher", "command", "--start", start(), "--stop", stop(),
            "--hosts", "a,b", "--cluster", folder().address(), "--token-file", folder().token().toString());
        final List<String> more = new ArrayList<>(all);
        more.addAll(List.of("--data", directory.resolve("record").toString(), "--min", "3", "--max", "3", "--rounds",
            "1", "--launch-timeout", "100"));
        final CommandLines.Result result = CommandLines.run(more);
        assertThat(result.status()).as(result.err()).isZero();
        assertThat(result.out()).contains("2 -> 3", "done: in ", " is ready").hasLineCount(1);
        assertThat(run("autoscale", "explain", "--data", directory.resolve("record").toString()).out())
            .contains("2 -> 3");

        final CommandLines.Result noFolder = CommandLines.run(all);
        assertThat(noFolder.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(noFolder.err()).hasLineCount(1).contains("needs --data DIR");
        for (final List<String> wrong : List.of(
            List.of("--launcher", "x"), List.of("--launcher", "command"), List.of("--start", "x {name}"),
            List.of("--hosts", "a"), List.of("--spares", "-1"), List.of("--spares", "31")))
        {
            final List<String> arguments = new ArrayList<>(List.of("autoscale"));
            arguments.addAll(wrong);
            final CommandLines.Result refused = CommandLines.run(arguments);
            assertThat(refused.status()).as("%s", wrong).isEqualTo(ExitStatus.USAGE);
            assertThat(refused.err()).as("%s", wrong).hasLineCount(1);
        }
    }
}
