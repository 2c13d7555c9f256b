package io.verbena.server.metrics;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.verbena.protocol.request.OperationAnswer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The alerts and the Grafana dashboard that are deployed beside a cluster name what its processes expose. */
@Timeout(120)
class DeployedRulesTest
{
    private static final Path ALERTS = Path.of("../deploy/prometheus/alerts.yml");
    private static final Path ALERT_TESTS = Path.of("../deploy/prometheus/alerts.test.yml");
    private static final Path GRAFANA = Path.of("../deploy/grafana/verbena.json");
    private static final Pattern METRIC = Pattern.compile("\\b(verbena_[a-z_]+)(\\{[^}]*})?");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)(=~|!~|!=|=)\"([^\"]*)\"");
    private static final Pattern ALERT = Pattern.compile("(?m)^ *- alert: (\\w+)$");
    /** Of every series, by Prometheus itself. */
    private static final Set<String> TARGET_LABELS = Set.of("job", "instance", "le");

    private static String text(final Path file) throws IOException
    {
        return Files.readString(file);
    }

    private static Optional<Metric> metric(final String name)
    {
        final String base = name.replaceFirst("_(bucket|sum|count)$", "");
        return Arrays.stream(Metric.values()).filter((metric) -> metric.exposedName().equals(name) ||
            Metric.Kind.HISTOGRAM == metric.kind() && !base.equals(name) && metric.exposedName().equals(base))
            .findFirst();
    }

    /** What is wrong with the selectors of a text. */
    private static List<String> offences(final String text)
    {
        final List<String> offences = new ArrayList<>();
        final Matcher metrics = METRIC.matcher(text);
        while (metrics.find())
        {
            final Optional<Metric> metric = metric(metrics.group(1));
            if (metric.isEmpty())
            {
                offences.add(metrics.group(1) + " is exposed by no process");
                continue;
            }
            final Matcher labels = LABEL.matcher(Optional.ofNullable(metrics.group(2)).orElse(""));
            while (labels.find())
            {
                if (!metric.get().labels().contains(labels.group(1)) && !TARGET_LABELS.contains(labels.group(1)))
                {
                    offences.add(metrics.group() + " has no label " + labels.group(1));
                }
                if ("answer".equals(labels.group(1)))
                {
                    Stream.of(labels.group(3).split("\\|")).filter((answer) -> Arrays.stream(OperationAnswer.values())
                        .noneMatch((known) -> known.name().toLowerCase(Locale.ROOT).equals(answer)))
                        .forEach((answer) -> offences.add(answer + " is no answer"));
                }
            }
        }
        return offences;
    }

    /** Of the panels and variables of the dashboard. */
    private static List<String> expressions() throws IOException
    {
        final List<String> expressions = new ArrayList<>();
        try (JsonParser json = new JsonFactory().createParser(text(GRAFANA)))
        {
            for (JsonToken token = json.nextToken(); null != token; token = json.nextToken())
            {
                if (JsonToken.VALUE_STRING == token && ("expr".equals(json.currentName()) ||
                    "query".equals(json.currentName()) && json.getText().contains("verbena")))
                {
                    expressions.add(json.getText());
                }
            }
        }
        return expressions;
    }

    @Test
    void shouldNameOnlyWhatProcessesExpose() throws IOException
    {
        assertThat(offences(text(ALERTS))).isEmpty();
        assertThat(offences(text(ALERT_TESTS))).isEmpty();
        assertThat(expressions()).hasSizeGreaterThan(30);
        assertThat(expressions()).allSatisfy((expression) -> assertThat(offences(expression)).isEmpty());
    }

    @Test
    void shouldFindWrongNames()
    {
        assertThat(offences("rate(verbena_operation_total[5m])")).hasSize(1);
        assertThat(offences("verbena_ready_count + verbena_operation_duration_seconds_bucket{kind=\"a\"}")).hasSize(1);
        assertThat(offences("verbena_memory_bytes{kind=\"free\",instance=\"a\"}")).hasSize(1);
        assertThat(offences("verbena_operations_total{answer=~\"found|timedout\"}")).hasSize(1);
    }

    /** A metric that says that something is wrong, and wakes nobody, is forgotten. */
    @Test
    void shouldHaveAnAlertForEachStall() throws IOException
    {
        final TreeSet<String> used = new TreeSet<>();
        final Matcher metrics = METRIC.matcher(text(ALERTS));
        while (metrics.find())
        {
            used.add(metrics.group(1));
        }
        assertThat(used).contains(Stream.of(Metric.EPOCH, Metric.LIMIT, Metric.LIMIT_TAKEN, Metric.SWEEPS,
            Metric.CHECKPOINT_FINISHED, Metric.CHECKPOINT_FAILING, Metric.LEASE_REMAINING, Metric.REFUSED_CONNECTIONS,
            Metric.UNKNOWN, Metric.MEMORY, Metric.NODES, Metric.READY, Metric.META_SERVER_REACHED,
            Metric.MEMORY_NODES_REACHED, Metric.FAILED_REQUESTS, Metric.DAMAGED_RECORDS, Metric.OPERATIONS)
            .map(Metric::exposedName).toArray(String[]::new));
    }

    @Test
    void shouldSayWhatToDoAndBeTestedBothWays() throws IOException
    {
        final String alerts = text(ALERTS);
        final String tests = text(ALERT_TESTS);
        final List<String> names = ALERT.matcher(alerts).results().map((found) -> found.group(1)).toList();
        assertThat(names).hasSizeGreaterThan(15).doesNotHaveDuplicates();
        for (final String name : names)
        {
            final String rule = alerts.split("- alert: " + name + "\n")[1].split("- alert: ")[0];
            assertThat(rule).as(name).contains("severity: ", "summary: ", "action: ");
            final List<String> cases = Arrays.stream(tests.split("- interval: "))
                .filter((each) -> each.contains("alertname=\"" + name + "\"")).toList();
            assertThat(cases).as("tests of " + name).hasSize(2);
            assertThat(cases.getFirst()).contains("value: 1}]");
            assertThat(cases.getLast()).contains("exp_samples: []");
        }
    }

    @Test
    void shouldPassTheToolOfPrometheus(@TempDir final Path directory) throws Exception
    {
        assumeTrue(Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
            .anyMatch((folder) -> Files.isExecutable(Path.of(folder, "promtool"))), "promtool is not installed");
        promtool("check", "rules", ALERTS.toString());
        promtool("test", "rules", ALERT_TESTS.toString());
        // Expressions of Grafana, with a value for its variables, as rules: it has no tool that checks them.
        final Path rules = directory.resolve("grafana.yml");
        int number = 0;
        final StringBuilder text = new StringBuilder("groups:\n  - name: grafana\n    rules:\n");
        for (final String expression : expressions())
        {
            if (!expression.startsWith("label_values("))
            {
                text.append("      - record: panel:").append(number++).append("\n        expr: '").append(
                    expression.replace("$__rate_interval", "1m").replace("'", "''")).append("'\n");
            }
        }
        Files.writeString(rules, text);
        promtool("check", "rules", rules.toString());
    }

    private static void promtool(final String... arguments) throws Exception
    {
        final Process process = new ProcessBuilder(Stream.concat(Stream.of("promtool"), Arrays.stream(arguments))
            .collect(Collectors.toList())).redirectErrorStream(true).start();
        final String out = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(out).isZero();
    }
}
