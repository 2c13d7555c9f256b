package io.verbena.cli.cluster;

import io.verbena.client.KvClient;
import io.verbena.client.KvTable;
import io.verbena.client.ReplaceResult;
import io.verbena.load.demo.Demo;
import io.verbena.load.demo.DemoCluster;
import io.verbena.load.demo.DemoOptions;
import io.verbena.load.demo.DemoReport;
import io.verbena.load.demo.DemoReportText;
import io.verbena.load.report.Progress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import static org.assertj.core.api.Assertions.assertThat;

/** The demo on processes, short: it passes although a compute node is killed, and finds an acknowledged write lost. */
@Timeout(300)
class ProcessDemoSystemTest
{
    private static final int EVERY = 50;
    private ProcessDemoCluster cluster;
    private int metaServers = 1;
    private int copies = 1;

    @Test
    void shouldPassWhenAComputeNodeIsKilledAndLeaveNothingBehind() throws Exception
    {
        final DemoReport report = run(UnaryOperator.identity());

        assertThat(report.passed()).as(DemoReportText.of(report)).isTrue();
        assertThat(DemoReportText.of(report)).contains("was killed", "writes of unknown outcome", "0 late")
            .endsWith("PASSED\n");
        assertThat(report.json()).contains("\"processes\": true", "\"removed_by_kill\": true",
            "\"removed_under_load\": true", "\"late_operations\": 0", "\"verb_counts_agree\": null");
        assertThat(cluster.path()).doesNotExist();
        assertThat(cluster.fabric()).startsWith("soft:/");
        assertThat(Path.of(cluster.fabric().substring("soft:".length()))).doesNotExist();
    }

    /** With the time of the next control call; no operation on records fails meanwhile. */
    @Test
    void shouldPassWhenTheLeaderOfTheMetaServersIsKilled() throws Exception
    {
        metaServers = 3;

        final DemoReport report = run(UnaryOperator.identity());

        assertThat(report.passed()).as(DemoReportText.of(report)).isTrue();
        assertThat(DemoReportText.of(report)).containsPattern(
            "meta-server-[123], which led the meta servers, was killed .* after the start; " +
                "a table was created .* later")
            .endsWith("PASSED\n");
        assertThat(report.json()).containsPattern("\"meta_leader_killed\": \"meta-server-[123]\"")
            .containsPattern("\"meta_control_call_us\": [1-9]").contains("\"errors\": 0", "\"linearizable\": true");
        assertThat(cluster.path()).doesNotExist();
    }

    /** A memory node is lost for good, and a compute node behind it: no operation fails, and nothing is lost. */
    @Test
    void shouldPassWhenAMemoryNodeIsKilledThatOthersHaveCopiesOf() throws Exception
    {
        copies = 3;

        final DemoReport report = run(UnaryOperator.identity());

        assertThat(report.passed()).as(DemoReportText.of(report)).isTrue();
        assertThat(DemoReportText.of(report)).contains(", 3 memory nodes of ")
            .containsPattern("memory-1 was killed .* after the start; the table had 3 copies").endsWith("PASSED\n");
        assertThat(report.json()).contains("\"memory_node_killed\": \"memory-1\"", "\"copies\": 3", "\"errors\": 0",
            "\"linearizable\": true", "\"audit_violations\": 0");
        assertThat(cluster.path()).doesNotExist();
    }

    @Test
    void shouldFindAnAcknowledgedWriteThatIsLost() throws Exception
    {
        final AtomicInteger replaces = new AtomicInteger();

        final DemoReport report = run((client) -> proxy(KvClient.class, (method, args) ->
        {
            final Object result = call(client, method, args);
            return !(result instanceof final KvTable table) ? result : proxy(KvTable.class, (operation, arguments) ->
                "replace".equals(operation.getName()) && isRecord((byte[])arguments[0]) &&
                    0 == replaces.incrementAndGet() % EVERY ?
                    new ReplaceResult(ReplaceResult.Outcome.REPLACED, (long)arguments[2] + 1) :
                    call(table, operation, arguments));
        }));

        assertThat(report.passed()).isFalse();
        assertThat(report.linearizable()).as("the registers were left alone").isTrue();
        assertThat(DemoReportText.of(report)).containsPattern("last writes kept +WRONG").contains("instead of one of")
            .endsWith("FAILED\n");
    }

    private DemoCluster start(final DemoCluster.Needs needs)
    {
        cluster = (ProcessDemoCluster)ProcessDemoCluster.start(needs, metaServers);
        assertThat(cluster.path()).exists();
        return cluster;
    }

    private DemoReport run(final UnaryOperator<KvClient> decorator) throws InterruptedException
    {
        return new Demo(
            new DemoOptions().records(500).seconds(3).threads(2).memoryBytesPerNode(64L << 20).copies(copies),
            Progress.plain(new PrintStream(PrintStream.nullOutputStream(), false, StandardCharsets.UTF_8)),
            this::start, decorator).run();
    }

    private interface Handler
    {
        Object on(Method method, Object[] args) throws Throwable;
    }

    private static <T> T proxy(final Class<T> type, final Handler handler)
    {
        return type.cast(Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[]{type}, (proxy, method, args) -> handler.on(method, args)));
    }

    private static Object call(final Object target, final Method method, final Object[] args) throws Throwable
    {
        try
        {
            return method.invoke(target, args);
        }
        catch (final InvocationTargetException ex)
        {
            throw ex.getCause();
        }
    }

    private static boolean isRecord(final byte[] key)
    {
        return new String(key, StandardCharsets.UTF_8).startsWith("user");
    }
}
