package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(120)
class EmbeddedDashboardTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(30);
    private static final byte[] KEY = {7};

    private static EmbeddedClusterOptions options()
    {
        return new EmbeddedClusterOptions().memoryNodes(2).memoryBytesPerNode(8 << 20);
    }

    private static String text(final String url) throws IOException
    {
        try (InputStream in = URI.create(url).toURL().openStream())
        {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Figures are published twice a second, and gathered once. */
    private static String awaitJson(final EmbeddedCluster cluster, final String... parts) throws Exception
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (true)
        {
            final String json = text(cluster.dashboardUrl() + ".json");
            if (Arrays.stream(parts).allMatch((part) -> Pattern.compile(part).matcher(json).find()))
            {
                return json;
            }
            assertThat(System.nanoTime() - deadlineNs).as("%s: %s", List.of(parts), json).isNegative();
            Thread.sleep(50);
        }
    }

    @Test
    void shouldShowItsNodesAndTables() throws Exception
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(options().computeNodes(2).dashboardPort(0)))
        {
            assertThat(cluster.dashboardUrl()).matches("http://localhost:[0-9]+/dashboard");
            assertThat(text(cluster.dashboardUrl())).startsWith("<!doctype html>");
            final KvTable table = cluster.client().createTable("users", new TableOptions(100));
            table.put(KEY, new byte[3]);
            table.get(KEY);
            final String json = awaitJson(cluster, "\"table\":\"users\",\"records\":1,\"fill\":[0-9]",
                "\"get\":\\{\"answers\":\\{\"found\":1}", "\"put\":\\{\"answers\":\\{\"stored\":1}",
                "\"record_bytes\":262144", "\"safe_epoch\":[1-9]", "\"lease_left_ms\":[1-9]",
                "\"role\":\"compute-node\",\"ready\":true,[^}]*\"state\":\"SERVING\"",
                // Each compute node reaches the meta server and both memory nodes, and each of these all but the other.
                "(\"node_transports\":\\{\"meta-server\":\"[a-z-]+\"(,\"node [0-9]+\":\"[a-z-]+\"){2}}.*){4}",
                "(\"limits\":\\[\\{\"name\":.*){5}", "(\"memory_nodes\":2,.*){3}");
            assertThat(json).contains("\"embedded\":true", "\"ready\":true,\"errors\":[],\"warnings\":[]",
                "\"name\":\"meta-server\",\"pid\":" + ProcessHandle.current().pid() + ",\"live\":true",
                "\"name\":\"memory-2\"", "\"memory_bytes\":8388608", "\"autoscaler_decisions\":[]")
                .doesNotContain("--max"); // options of processes
        }
    }

    @Test
    void shouldFollowNodesThatComeAndGo() throws Exception
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(options().computeNodes(0).dashboardPort(0)))
        {
            awaitJson(cluster, "\"compute_nodes\":0,");
            final ComputeNodeHandle node = cluster.addComputeNode();
            awaitJson(cluster, "\"compute_nodes\":1,", "\"name\":\"compute-1\"");
            cluster.removeComputeNode(node.nodeId());
            final String json = awaitJson(cluster, "\"compute_nodes\":0,");
            assertThat(json).doesNotContain("\"name\":\"compute-1\"").contains("\"errors\":[]");
        }
    }

    /** Many browsers, while nodes join and leave: each gets an answer, and the cluster closes meanwhile. */
    @Test
    void shouldAnswerManyAtOnceUntilItIsClosed() throws Exception
    {
        final AtomicBoolean isOver = new AtomicBoolean();
        final String url;
        try (ExecutorService threads = Executors.newFixedThreadPool(16))
        {
            final List<Future<Integer>> browsers = new ArrayList<>();
            try (EmbeddedCluster cluster = EmbeddedCluster.start(options().dashboardPort(0)))
            {
                url = cluster.dashboardUrl();
                final AtomicBoolean isClosing = isOver;
                for (int i = 0; i < 16; i++)
                {
                    browsers.add(threads.submit(() -> poll(url, isClosing)));
                }
                for (int i = 0; i < 3; i++)
                {
                    cluster.removeComputeNode(cluster.addComputeNode().nodeId());
                }
                isOver.set(true);
            }
            int answers = 0;
            for (final Future<Integer> browser : browsers)
            {
                answers += browser.get();
            }
            assertThat(answers).isPositive();
        }
        assertThatThrownBy(() -> text(url)).isInstanceOf(ConnectException.class);
    }

    /** Returns how many answers there were; only the end of the cluster may cut one off. */
    private static int poll(final String url, final AtomicBoolean isOver) throws IOException
    {
        int answers = 0;
        while (!isOver.get())
        {
            try
            {
                assertThat(text(url + ".json")).startsWith("{\"time_ms\":");
                answers++;
            }
            catch (final IOException ex)
            {
                if (!isOver.get())
                {
                    throw ex;
                }
            }
        }
        return answers;
    }

    @Test
    void shouldHaveNoneUnlessAskedFor()
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(options()))
        {
            assertThat(cluster.dashboardUrl()).isNull();
        }
    }

    @Test
    void shouldNotStartWhereItsPortIsBusy() throws Exception
    {
        try (ServerSocket busy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            assertThatThrownBy(() -> EmbeddedCluster.start(options().dashboardPort(busy.getLocalPort())).close())
                .isInstanceOf(EmbeddedClusterException.class)
                .hasMessage("cannot listen for the dashboard at port " + busy.getLocalPort() +
                    ": Address already in use; choose another port, or 0 for any");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-2, 65_536, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void shouldRefusePortsThatAreNone(final int port)
    {
        assertThatThrownBy(() -> options().dashboardPort(port)).isInstanceOf(EmbeddedClusterException.class)
            .hasMessageContaining("must be 0 to 65535, or -1 for no dashboard");
        assertThat(options().dashboardPort(65_535).dashboardPort()).isEqualTo(65_535);
        assertThat(options().dashboardPort(0).dashboardPort(-1).dashboardPort())
            .isEqualTo(EmbeddedClusterOptions.NO_DASHBOARD);
    }

    /** As in an application that does not name the module which the dashboard is in. */
    @Test
    void shouldNeedItsModuleOnlyForTheDashboard() throws Exception
    {
        assertThat(withoutServers(EmbeddedClusterOptions.NO_DASHBOARD)).containsExactly("serves");
        assertThat(withoutServers(0)).containsExactly("dashboardPort=0: the dashboard is in verbena-kv-server, which " +
            "is not on the class path: add that dependency, or leave the option out");
    }

    private static List<String> withoutServers(final int port) throws Exception
    {
        final String classpath = Arrays.stream(System.getProperty("java.class.path").split(":"))
            .filter((entry) -> !entry.contains("kv-server")).collect(Collectors.joining(":"));
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter((argument) -> argument.startsWith("--")).forEach(command::add);
        command.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", classpath,
            DashboardProgram.class.getName(), Integer.toString(port)));
        final Process process =
            new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try
        {
            return process.inputReader().lines().toList();
        }
        finally
        {
            process.destroyForcibly();
        }
    }

    /** Starts a cluster with a port of a dashboard, and prints how that went. */
    static final class DashboardProgram
    {
        private DashboardProgram()
        {
        }

        public static void main(final String[] arguments)
        {
            try (EmbeddedCluster cluster = EmbeddedCluster.start(
                options().dashboardPort(Integer.parseInt(arguments[0]))))
            {
                cluster.client().createTable("t", new TableOptions(10)).put(KEY, KEY);
                System.out.println("serves");
            }
            catch (final EmbeddedClusterException ex)
            {
                System.out.println(ex.getMessage());
            }
        }
    }
}
