package io.verbena.cli.hosts;

import io.verbena.cli.cluster.NodeLauncher;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** {@code dev hosts} with the namespaces of the kernel. */
class HostsSystemTest
{
    private static final int DATAGRAMS = 5_000;
    private static final long TIMEOUT_S = 60;
    private static final Pattern COUNTS = Pattern.compile("(\\d+) frames arrived, (\\d+) lost, .* (\\d+) for want of");

    private final String name = "test-" + ProcessHandle.current().pid();
    @TempDir
    private Path folder;
    private final List<Process> processes = new ArrayList<>();

    private record Run(int status, String out, String err)
    {
    }

    @BeforeEach
    void requireNamespaces()
    {
        final String refusal = HostNamespaces.refusal();
        assumeTrue(null == refusal, refusal);
    }

    @AfterEach
    void end()
    {
        processes.forEach((process) -> process.destroy());
        processes.forEach((process) -> process.onExit().join());
    }

    @Test
    void shouldLoseAsManyDatagramsOfBothFamiliesAsAskedFor() throws Exception
    {
        final Run run = await(hosts("2", "--loss", "0.05", "--seed", "3", "--", "sh", "-c", script(
            probe("datagrams", "h2", Integer.toString(DATAGRAMS)),
            probe("datagrams", "h2.ipv4", Integer.toString(DATAGRAMS)))));

        assertThat(run.status).as(run.err).isZero();
        final List<Integer> echoes = run.out.lines().map(Integer::valueOf).toList();
        final double share = 0.95 * 0.95;
        final double tolerance = 5 * Math.sqrt(DATAGRAMS * share * (1 - share));
        assertThat(echoes).hasSize(2).allSatisfy((count) ->
            assertThat((double)count).isBetween(DATAGRAMS * share - tolerance, DATAGRAMS * share + tolerance));
        final Matcher counts = COUNTS.matcher(run.err);
        assertThat(counts.find()).as(run.err).isTrue();
        // Besides datagrams, the kernels lose some of what they ask each other for.
        final long missing = 2 * DATAGRAMS - echoes.stream().mapToInt(Integer::intValue).sum();
        assertThat(Long.parseLong(counts.group(2)) + Long.parseLong(counts.group(3)) - missing).isBetween(0L, 100L);
    }

    @Test
    void shouldCarryWholeConnectionsWhateverBefallsFrames() throws Exception
    {
        final Run run = await(hosts("3", "--loss", "0.005", "--reorder", "0.01", "--duplicate", "0.01", "--corrupt",
            "0.005", "--delay", "50us", "--", "sh", "-c",
            script(probe("transfer", "h2"), probe("transfer", "h2.ipv4"))));

        assertThat(run.status).as(run.err).isZero();
        assertThat(run.out.lines()).containsExactly("whole", "whole");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "0.01"})
    void shouldCutAndRestoreALinkThatStaysUp(final String duplicate) throws Exception
    {
        final Process hosts = start(hosts("2", "--duplicate", duplicate, "--", "sh", "-c", serve("read _ < wait")));
        awaitServer();

        assertThat(echoes()).isEqualTo(100);
        assertThat(await(verbena("dev", "cut", "h2")).status).isZero();
        assertThat(echoes()).isZero();
        assertThat(await(inHost("h2", "ip", "-oneline", "link", "show", "eth0")).out).contains("LOWER_UP");
        assertThat(await(verbena("dev", "restore", "h2")).status).isZero();
        assertThat(echoes()).isEqualTo(100);

        hosts.destroy();
        assertThat(hosts.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
        assertThat(hostsFolder()).doesNotExist();
    }

    @Test
    void shouldLeaveNothingWhenItIsKilled() throws Exception
    {
        final Process hosts = start(hosts("2", "--", "sh", "-c", serve("read _ < wait")));
        awaitServer();
        final List<ProcessHandle> inside = hosts.descendants().toList();
        assertThat(inside).hasSizeGreaterThan(5);

        hosts.destroyForcibly();

        for (final ProcessHandle process : inside)
        {
            process.onExit().get(TIMEOUT_S, TimeUnit.SECONDS);
        }
        assertThat(hostsFolder()).exists();
        // The next start removes what is left of it, and takes its name.
        final Run run = await(hosts("1", "--", "sh", "-c", "exit 7"));
        assertThat(run.err).isEmpty();
        assertThat(run.status).isEqualTo(7);
        assertThat(hostsFolder()).doesNotExist();
    }

    @Test
    void shouldRefuseASecondSetOfTheSameNameAndAnUnknownHost() throws Exception
    {
        start(hosts("2", "--", "sh", "-c", "echo > \"$VERBENA_HOSTS/ready\"; read _ < wait"));
        awaitServer();

        final Run second = await(hosts("1", "--", "true"));

        assertThat(second.status).isEqualTo(69);
        assertThat(second.err.lines()).singleElement().asString().contains("'" + name + "' are there already");
        assertThat(await(verbena("dev", "exec", "h2", "--", "cat", "/proc/sys/kernel/hostname")).out).isEqualTo("h2\n");
        final Run unknown = await(verbena("dev", "cut", "h3"));
        assertThat(unknown.err.lines()).singleElement().isEqualTo("verbena: there is no host 'h3': there are h1, h2");
    }

    private int echoes() throws Exception
    {
        final Run run = await(inHost("h1", probe("datagrams", "h2", "100").toArray(String[]::new)));
        assertThat(run.status).as(run.err).isZero();
        return Integer.parseInt(run.out.strip());
    }

    private void awaitServer() throws Exception
    {
        for (int i = 0; i < TIMEOUT_S * 100 && !Files.exists(hostsFolder().resolve("ready")); i++)
        {
            Thread.sleep(10);
        }
        assertThat(hostsFolder().resolve("ready")).exists();
    }

    private Path hostsFolder()
    {
        final String runtime = System.getenv("XDG_RUNTIME_DIR");
        return Path.of(null != runtime && Files.isWritable(Path.of(runtime)) ? runtime : "/tmp",
            "verbena-hosts-" + System.getProperty("user.name"), name);
    }

    /** A script for h1: with a server in h2, each of the commands. */
    @SafeVarargs
    private static String script(final List<String>... commands)
    {
        final StringBuilder all = new StringBuilder();
        for (final List<String> command : commands)
        {
            all.append(all.isEmpty() ? "" : " && ").append(String.join(" ", command));
        }
        return serve(all.toString());
    }

    private static String serve(final String script)
    {
        return "\"$VERBENA_HOSTS/h2\" " + String.join(" ", probe("serve")) + " > \"$VERBENA_HOSTS/served\" & " +
            "until grep -q serves \"$VERBENA_HOSTS/served\"; do sleep 0.05; done 2> /dev/null; " +
            "echo > \"$VERBENA_HOSTS/ready\"; " + script;
    }

    /** Without performance counters: hosts share /tmp, processes of two may have one number, and the JVM says so. */
    private static List<String> probe(final String... arguments)
    {
        final List<String> command = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData", "-cp", Path.of("target/test-classes").toAbsolutePath().toString(),
            HostsProbe.class.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    private List<String> hosts(final String... arguments)
    {
        final List<String> command = verbena("dev", "hosts", "--name", name);
        command.addAll(List.of(arguments));
        return command;
    }

    /** As {@code dev exec}, without a JVM. */
    private List<String> inHost(final String host, final String... arguments)
    {
        final List<String> command = new ArrayList<>(List.of(hostsFolder().resolve(host).toString()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static List<String> verbena(final String... arguments)
    {
        return NodeLauncher.commandLine(List.of("-XX:TieredStopAtLevel=1"), List.of(arguments));
    }

    private Process start(final List<String> command) throws IOException
    {
        final Path wait = folder.resolve("wait");
        if (!Files.exists(wait))
        {
            assertThat(new ProcessBuilder("mkfifo", wait.toString()).start().onExit().join().exitValue()).isZero();
        }
        final ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile())
            .redirectOutput(folder.resolve("out-" + processes.size()).toFile())
            .redirectError(folder.resolve("err-" + processes.size()).toFile());
        builder.environment().put(HostsFolder.VARIABLE, hostsFolder().toString());
        final Process process = builder.start();
        processes.add(process);
        return process;
    }

    private Run await(final List<String> command) throws Exception
    {
        final int number = processes.size();
        final Process process = start(command);
        assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
        return new Run(process.exitValue(),
            Files.readString(folder.resolve("out-" + number), StandardCharsets.UTF_8),
            Files.readString(folder.resolve("err-" + number), StandardCharsets.UTF_8));
    }
}
