package io.verbena.cli.autoscale.launch;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Commands of {@code sh} that start and end nodes, here files. */
@Timeout(60)
class CommandLauncherTest
{
    private static final long TIMEOUT_MS = 30_000;

    @TempDir
    private Path directory;
    private long nowNs = 77;

    private CommandLauncher launcher(final String start, final String stop, final String... hosts)
    {
        return new CommandLauncher(start, stop, List.of(hosts), TIMEOUT_MS, () -> nowNs);
    }

    private CommandLauncher files(final String... hosts)
    {
        return launcher("echo {host} > " + directory + "/{name}", "rm " + directory + "/{name}; : {host}", hosts);
    }

    private List<String> present() throws IOException
    {
        try (Stream<Path> files = Files.list(directory))
        {
            return files.map((file) -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static CommandFailedException failure(final Runnable action)
    {
        return catchThrowableOfType(CommandFailedException.class, action::run);
    }

    @Test
    void shouldSpreadNodesOverHostsAndEndThem() throws IOException
    {
        final CommandLauncher launcher = files("a", "b.example");
        launcher.start(3, List.of());
        assertThat(present()).containsExactly("a-1", "a-2", "b.example-1");
        assertThat(Files.readString(directory.resolve("b.example-1"))).isEqualTo("b.example\n");
        assertThat(launcher.coming(List.of("a-1"))).as("started and not seen yet").isEqualTo(2);
        assertThat(launcher.coming(present())).isZero();
        launcher.start(1, present());
        assertThat(present()).containsExactly("a-1", "a-2", "b.example-1", "b.example-2");
        launcher.end(List.of("a-1", "b.example-2"));
        assertThat(present()).containsExactly("a-2", "b.example-1");
        launcher.start(1, present());
        assertThat(present()).as("numbers are used again").contains("a-1");
    }

    @Test
    void shouldCallNodesByOtherNamesThanThoseThatAreComing() throws IOException
    {
        final CommandLauncher launcher = files("a");
        launcher.start(1, List.of());
        launcher.start(1, List.of());
        assertThat(present()).containsExactly("a-1", "a-2");
    }

    @Test
    void shouldKnowItsOwnNodesByTheirNames()
    {
        final CommandLauncher launcher = files("a", "b");
        assertThat(launcher.owns("a-1")).isTrue();
        assertThat(launcher.owns("b-12")).isTrue();
        for (final String other : List.of("", "a", "a-", "-1", "a-0", "a-x", "c-1", "a-1-", "compute-1"))
        {
            assertThat(launcher.owns(other)).as(other).isFalse();
        }
    }

    @Test
    void shouldNotWaitForeverForWhatDoesNotCome() throws IOException
    {
        final CommandLauncher launcher = files("a");
        launcher.start(2, List.of());
        assertThat(launcher.coming(List.of())).isEqualTo(2);
        nowNs += TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
        assertThat(launcher.coming(List.of())).isZero();
        launcher.start(1, List.of());
        launcher.giveUp(List.of());
        assertThat(present()).as("what was given up later is ended").containsExactly("a-2");
        assertThat(launcher.coming(List.of())).as("and comes no more").isZero();
    }

    @Test
    void shouldSayWhyACommandFailedAndForgetItsNode()
    {
        final CommandLauncher launcher = launcher("echo one; echo no host {name} >&2; exit 3", "true {name}", "a");
        final CommandFailedException failure = failure(() -> launcher.start(1, List.of()));
        assertThat(failure).hasMessage(
            "--start 'echo one; echo no host a-1 >&2; exit 3' ended with status 3: no host a-1");
        assertThat(failure.exitStatus()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(launcher.coming(List.of())).isZero();
    }

    @Test
    void shouldNotWaitForWhatACommandLeavesInTheBackground()
    {
        final long beganNs = System.nanoTime();
        launcher("sleep 50 & : {name}", ": {name}", "a").start(1, List.of());
        assertThat(System.nanoTime() - beganNs).isLessThan(TimeUnit.SECONDS.toNanos(40));
    }

    @Test
    void shouldKillACommandThatTakesTooLong()
    {
        final CommandLauncher launcher = new CommandLauncher(
            "sleep 300; : {name}", ": {name}", List.of("a"), 200, () -> nowNs);
        assertThat(failure(() -> launcher.start(1, List.of())).getMessage()).contains("has not ended after 0 s");
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (ProcessHandle.current().descendants().filter(ProcessHandle::isAlive)
            .anyMatch((process) -> process.info().commandLine().orElse("").contains("sleep 300")))
        {
            // A signal has been sent; the kernel ends them when it comes to it.
            assertThat(System.nanoTime() - deadlineNs).as("it goes on").isNegative();
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldRefuseWhatCannotBeMeantInOneLine()
    {
        final String ok = "x {name}";
        assertThat(List.of(
            failure(() -> launcher("x", ok, "a")), failure(() -> launcher(ok, "{host}", "a")),
            failure(() -> launcher("{name} {user}", ok, "a")), failure(() -> launcher(ok, ok, "a", "b")),
            failure(() -> files("a", "b", "a")), failure(() -> launcher(ok, ok, "")),
            failure(() -> launcher(ok, ok, "a;rm")), failure(() -> launcher(ok, ok, "-a"))))
            .allSatisfy((failure) ->
            {
                assertThat(failure.exitStatus()).isEqualTo(ExitStatus.USAGE);
                assertThat(failure.getMessage()).startsWith("--").doesNotContain("\n");
            });
    }
}
