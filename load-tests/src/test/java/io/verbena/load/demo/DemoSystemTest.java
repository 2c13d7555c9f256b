package io.verbena.load.demo;

import io.verbena.client.ReplaceResult;
import io.verbena.load.InMemoryStore;
import io.verbena.load.InMemoryStore.Interception;
import io.verbena.load.LoadException;
import io.verbena.load.report.Progress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The demo on a real cluster, small: each workload passes, and each fault that is planted is found.
 */
class DemoSystemTest
{
    private static final int RECORDS = 2_000;
    private static final int EVERY = 100;

    @TempDir
    private Path folder;
    private int verbCounts;

    @ParameterizedTest
    @ValueSource(strings = {"a", "b", "c", "d", "f"})
    void shouldPassOnEachWorkload(final String workload) throws InterruptedException
    {
        final DemoReport report = new Demo(options().workload(workload), progress()).run();

        assertThat(report.passed()).as(DemoReportText.of(report)).isTrue();
        final Map<String, Object> figures = report.figures();
        assertThat(figures).containsEntry("errors", 0L).containsEntry("not_found", 0L)
            .containsEntry("linearizable", true).containsEntry("verb_counts_agree", true)
            .containsKeys("throughput_ops_per_s", "get_p50_ns", "get_p99_ns", "get_p999_ns", "round_trips_per_get",
                "verbs_per_get", "join_to_first_request_us");
        assertThat(report.audit.records()).isGreaterThanOrEqualTo(RECORDS);
        assertThat((long)figures.get("register_operations")).isPositive();
        assertThat((long)figures.get("verified_reads")).isPositive();
        assertThat(figures.containsKey("update_p50_ns")).isEqualTo("abf".contains(workload));
        assertThat(figures.containsKey("insert_p50_ns")).isEqualTo("d".contains(workload));
        assertThat(figures.containsKey("read_modify_write_p50_ns")).isEqualTo("f".contains(workload));
    }

    @Test
    void shouldHoldTheRateItWasAskedFor() throws InterruptedException
    {
        final DemoReport report = new Demo(options().rate(500), progress()).run();

        assertThat(report.passed()).as(DemoReportText.of(report)).isTrue();
        assertThat(report.counters.operations.sum() + report.counters.notStarted.sum()).isEqualTo(500);
        assertThat(report.figures()).containsEntry("corrected_for_coordinated_omission", true);
    }

    @Test
    void shouldRunAPropertyFile() throws IOException, InterruptedException
    {
        final Path file = Files.writeString(folder.resolve("mine.properties"), """
            recordcount=500
            operationcount=1000
            maxexecutiontime=1
            threadcount=2
            workload=site.ycsb.workloads.CoreWorkload
            table=mine
            fieldcount=3
            fieldlength=20
            readallfields=false
            writeallfields=true
            readproportion=0.4
            updateproportion=0.4
            insertproportion=0.2
            requestdistribution=uniform
            insertorder=ordered
            dataintegrity=false
            """);

        final DemoReport report = new Demo(new DemoOptions().propertyFile(file), progress()).run();

        assertThat(report.passed()).as(DemoReportText.of(report)).isTrue();
        assertThat(report.figures()).containsEntry("workload", "mine.properties").containsEntry("records", 500L)
            .containsEntry("threads", 2);
    }

    @Test
    void shouldFindALostUpdate() throws InterruptedException
    {
        final AtomicInteger replaces = new AtomicInteger();

        final DemoReport report = run((name, args, call) ->
            name.equals("replace") && isRecord(args) && replaces.incrementAndGet() % EVERY == 0 ?
                new ReplaceResult(ReplaceResult.Outcome.REPLACED, (long)args[2] + 1) : call.proceed());

        assertThat(report.audit.violations()).isPositive();
        assertThat(report.audit.firstViolation()).startsWith("record user").contains("instead of one of");
        assertThat(report.linearizable()).as("the registers were left alone").isTrue();
        assertThat(report.passed()).isFalse();
        assertThat(DemoReportText.of(report)).contains("WRONG", "FAILED");
    }

    @Test
    void shouldFindAStaleRead() throws InterruptedException
    {
        final AtomicInteger staleGets = new AtomicInteger();
        final Map<String, Object> firstByKey = new ConcurrentHashMap<>();

        final DemoReport report = run(options().workload("a"), (name, args, call) ->
        {
            final Object current = call.proceed();
            // Not in the audit at the end, which would find it too.
            if (!name.equals("get") || !isRecord(args) || !Thread.currentThread().getName().startsWith("ycsb-run"))
            {
                return current;
            }
            final Object first =
                firstByKey.computeIfAbsent(new String((byte[])args[0], StandardCharsets.UTF_8), _ -> current);
            return first.equals(current) || staleGets.incrementAndGet() % 10 != 0 ? current : first;
        });

        assertThat(report.reads.violations()).as(DemoReportText.of(report)).isPositive();
        assertThat(report.reads.firstViolation()).startsWith("a read of record user").contains("instead of one of");
        assertThat(report.audit.violations()).as("the last writes were left alone").isZero();
        assertThat(report.linearizable()).as("the registers were left alone").isTrue();
        assertThat(report.passed()).isFalse();
        assertThat(DemoReportText.of(report)).containsPattern("reads verified +WRONG")
            .contains("a read of record user", "FAILED");
    }

    @ParameterizedTest
    @CsvSource({
        "a verb that no operation counted, verbs agree",
        "a violation in the table check, table check",
        "leaked memory, table check"})
    void shouldFailWithAFaultOfTheCluster(final String fault, final String check) throws InterruptedException
    {
        final DemoReport report = new Demo(options(), progress(), needs ->
        {
            final DemoCluster cluster = EmbeddedDemoCluster.start(needs);
            return (DemoCluster)Proxy.newProxyInstance(
                DemoSystemTest.class.getClassLoader(), new Class<?>[]{DemoCluster.class}, (_, method, args) ->
                    faulty(fault, method.invoke(cluster, args)));
        }, client -> client).run();

        assertThat(report.passed()).isFalse();
        assertThat(DemoReportText.of(report)).containsPattern(check + " +WRONG")
            .containsOnlyOnce("WRONG").contains("FAILED");
    }

    private Object faulty(final String fault, final Object result)
    {
        return switch (result)
        {
            // Counted twice before the run: the second time the load has ended.
            case final Long verbs when fault.contains("verb") -> verbs + (0 < verbCounts++ ? 1 : 0);
            case final TableCheckFigures check when fault.contains("violation") -> new TableCheckFigures(
                check.records(), 1, check.lostBytes(), check.leftBehind(), "a block with two owners");
            case final TableCheckFigures check when fault.contains("leaked") ->
                new TableCheckFigures(check.records(), 0, 64, check.leftBehind(), null);
            case null, default -> result;
        };
    }

    @Test
    void shouldFindARecordThatIsGone() throws InterruptedException
    {
        final AtomicInteger gets = new AtomicInteger();

        final DemoReport report = run((name, args, call) ->
            name.equals("get") && isRecord(args) && gets.incrementAndGet() % EVERY == 0 ?
                Optional.empty() : call.proceed());

        assertThat(report.counters.notFound.sum()).isPositive();
        assertThat(report.passed()).isFalse();
    }

    @Test
    void shouldSayWhyLoadingFailed()
    {
        final DemoOptions options = new DemoOptions().records(100_000).seconds(1).memoryBytesPerNode(8L << 20);

        assertThatThrownBy(() -> new Demo(options, progress()).run())
            .isInstanceOfSatisfying(LoadException.class, ex ->
            {
                assertThat(ex.reason()).isEqualTo(LoadException.Reason.CANNOT_CREATE);
                assertThat(ex.getMessage()).contains("--memory").doesNotContain("\n");
            });
    }

    @Test
    void shouldRunOnTheFabricItWasAskedForAndNameIt() throws InterruptedException
    {
        final Path directory = Path.of("/dev/shm/verbena-demo-test-" + ProcessHandle.current().pid());
        final String fabric = "soft:" + directory;
        final AtomicBoolean usesDirectory = new AtomicBoolean();

        final DemoReport report = new Demo(options().fabric(fabric), progress(), client ->
        {
            usesDirectory.set(directory.toFile().list().length > 0);
            return client;
        }).run();

        assertThat(report.passed()).as(DemoReportText.of(report)).isTrue();
        assertThat(usesDirectory).as("files of the fabric were in its folder").isTrue();
        assertThat(DemoReportText.of(report)).contains("on fabric " + fabric);
        assertThat(report.figures()).containsEntry("fabric", fabric);
        assertThat(directory).doesNotExist();
    }

    @Test
    void shouldRefuseAFabricThatNoClusterRunsOn()
    {
        assertThat(refusal(LoadException.Reason.USAGE, "infiniband:mlx5_0"))
            .startsWith("no such fabric: 'infiniband:mlx5_0'; there are: ").contains("soft[:", "ibverbs[:");
        assertThat(refusal(LoadException.Reason.USAGE, "sim:7")).contains("'sim:7'", "time stands still");
        assertThat(refusal(LoadException.Reason.UNAVAILABLE, "soft:/proc/none"))
            .startsWith("fabric soft:/proc/none cannot be used: ");
        // Without the library, without a device, or with others than this one.
        assertThat(refusal(LoadException.Reason.UNAVAILABLE, "ibverbs:nosuch0"))
            .startsWith("fabric ibverbs:nosuch0 cannot be used: ");
    }

    private static String refusal(final LoadException.Reason reason, final String fabric)
    {
        final AtomicReference<String> message = new AtomicReference<>();
        assertThatThrownBy(() -> new Demo(options().fabric(fabric), progress()).run())
            .isInstanceOfSatisfying(LoadException.class, ex ->
            {
                assertThat(ex.reason()).isEqualTo(reason);
                assertThat(ex.getMessage()).doesNotContain("\n");
                message.set(ex.getMessage());
            });
        return message.get();
    }

    private DemoReport run(final Interception interception) throws InterruptedException
    {
        return run(options(), interception);
    }

    private DemoReport run(final DemoOptions options, final Interception interception) throws InterruptedException
    {
        return new Demo(options, progress(), client -> InMemoryStore.intercepted(client, interception)).run();
    }

    private static boolean isRecord(final Object[] args)
    {
        return new String((byte[])args[0], StandardCharsets.UTF_8).startsWith("user");
    }

    private static DemoOptions options()
    {
        return new DemoOptions().records(RECORDS).seconds(1).threads(4).memoryBytesPerNode(64L << 20);
    }

    private static Progress progress()
    {
        return Progress.plain(new PrintStream(PrintStream.nullOutputStream(), false, StandardCharsets.UTF_8));
    }
}
