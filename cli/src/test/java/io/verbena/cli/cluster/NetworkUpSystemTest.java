package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.ExitStatus;
import io.verbena.test.UnusedPorts;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@code up} on a fabric that other hosts reach, here over the loopback interface, and what others see of it. */
@Timeout(240)
class NetworkUpSystemTest
{
    private static final Pattern ADDRESS = Pattern.compile("up: (verbena://\\S+)");
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("::1");
    private static final long IDLE_S = 2;
    private static final long MOST_IDLE_MS = IDLE_S * 250;

    @TempDir
    private Path directory;

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard", "--data", directory.toString());
        assertThat(new ProcessTable(directory.resolve("processes")).entries()).isEmpty();
    }

    private static CommandLines.Result run(final String... arguments)
    {
        return CommandLines.run(List.of(arguments));
    }

    private static String succeed(final String... arguments)
    {
        final CommandLines.Result result = run(arguments);
        assertThat(result.status()).as("%s: %s%s", List.of(arguments), result.out(), result.err()).isZero();
        return result.out();
    }

    @Test
    void shouldServeThoseWhoHaveAnAddressAndATokenOnly() throws InterruptedException
    {
        final String data = directory.toString();
        final String up = succeed("up", "--data", data, "--fabric", "roce", "--listen", "verbena://[::1]:0",
            "--memory", "32");
        final Matcher matcher = ADDRESS.matcher(up);
        assertThat(matcher.find()).as(up).isTrue();
        final String[] cluster =
            {"--cluster", matcher.group(1), "--token-file", directory.resolve("token").toString()};

        succeed(with(cluster, "put", "hello", "world"));
        assertThat(succeed(with(cluster, "get", "hello"))).isEqualTo("world\n");
        assertThat(succeed(with(cluster, "status"))).startsWith(matcher.group(1) + "  ready\n")
            .containsPattern("memory-node +\\d+ +::1 port \\d+ +32 +-\n")
            .containsPattern("compute-node +\\d+ +::1 port \\d+ +- +-\n").containsPattern("default +1 ");
        assertThat(succeed(with(cluster, "status", "--json"))).contains("\"ready\":true")
            .contains("\"role\":\"memory-node\"").contains("\"memory_bytes\":33554432");
        assertThat(succeed("status", "--data", data)).containsPattern("compute-1 +\\d+ +ready");
        assertThat(succeed("get", "hello", "--data", data)).isEqualTo("world\n");
        assertShared(data);
        assertThat(succeed(with(cluster, "get", "hello", "--fabric", "roce:::1"))).isEqualTo("world\n");
        assertIdle();

        killAll();
        final CommandLines.Result gone = run(with(cluster, "status"));
        assertThat(gone.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(gone.err().strip().lines()).singleElement().asString().contains(matcher.group(1));
        assertThat(succeed("up", "--data", data)).contains("up: " + matcher.group(1));
        assertThat(succeed(with(cluster, "get", "hello"))).isEqualTo("world\n");
    }

    /** Processes of this host: no message of theirs takes the network, which they are on. */
    private void assertShared(final String data)
    {
        final String status = succeed("status", "--json", "--data", data);
        assertThat(status).contains("\"node_carriers\":{\"shared-memory\":")
            .contains("\"node_transports\":{\"meta-server\":\"shared-memory\",\"node 1\":\"shared-memory\"}")
            .doesNotContain("rocev2");
        assertThat(directory.resolve("logs").resolve("compute-1.log"))
            .content().contains("connected: memory node 1, transport=shared-memory");
    }

    @Test
    void shouldBeFoundAtTheAddressItAdvertises() throws IOException
    {
        final int port = UnusedPorts.next();
        final String up = succeed("up", "--data", directory.toString(), "--fabric", "roce", "--memory", "32",
            "--listen", "verbena://[::]:0", "--advertise", "[::1]:" + port, "--insecure-network");
        assertThat(up).containsPattern("up: verbena://\\[::1]:[1-9]");
        assertThatThrownBy(() -> new DatagramSocket(new InetSocketAddress(LOOPBACK, port)))
            .isInstanceOf(BindException.class);
        final Matcher matcher = ADDRESS.matcher(up);
        assertThat(matcher.find()).isTrue();
        assertThat(succeed("put", "hello", "world", "--cluster", matcher.group(1), "--token-file",
            directory.resolve("token").toString())).isNotEmpty();
    }

    private static String[] with(final String[] cluster, final String... arguments)
    {
        return Stream.concat(Stream.of(arguments), Stream.of(cluster)).toArray(String[]::new);
    }

    private List<ProcessHandle> processes()
    {
        return new ProcessTable(directory.resolve("processes")).entries().stream()
            .map((final Entry entry) -> entry.process().orElseThrow()).toList();
    }

    private void killAll()
    {
        processes().forEach((process) ->
        {
            process.destroyForcibly();
            process.onExit().join();
        });
    }

    /** Three processes that wait, and do not poll: one that polled would use all of a processor. */
    private void assertIdle() throws InterruptedException
    {
        // Compilers may have work left over, the longer the busier the machine is.
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        long usedMs = usedMs();
        while (usedMs >= MOST_IDLE_MS && System.nanoTime() - deadlineNs < 0)
        {
            usedMs = usedMs();
        }
        // Whoever polls now and then is found by the next ones.
        assertThat(List.of(usedMs, usedMs(), usedMs())).as("ms in %d s, three times", IDLE_S)
            .allSatisfy((each) -> assertThat(each).isLessThan(MOST_IDLE_MS));
    }

    private long usedMs() throws InterruptedException
    {
        final long before = processorMs();
        TimeUnit.SECONDS.sleep(IDLE_S);
        return processorMs() - before;
    }

    private long processorMs()
    {
        return processes().stream().mapToLong((process) ->
            process.info().totalCpuDuration().map(Duration::toMillis).orElseThrow()).sum();
    }

    @Test
    void shouldSayWhichAddressIsMissing()
    {
        final CommandLines.Result up = run("up", "--data", directory.toString(), "--fabric", "roce");
        assertThat(up.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(up.err().strip().lines()).singleElement().asString().contains("--fabric roce: give --listen");
    }
}
