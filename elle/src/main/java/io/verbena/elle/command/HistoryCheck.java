package io.verbena.elle.command;

import io.verbena.elle.check.Elle;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryReader;
import io.verbena.elle.history.IndependentKeys;
import io.verbena.elle.history.Operation;
import io.verbena.elle.html.LinearPage;
import io.verbena.elle.html.TxnPage;
import io.verbena.elle.linear.Failure;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Model;
import io.verbena.elle.linear.PartVerdict;
import io.verbena.elle.txn.Anomaly;
import io.verbena.elle.txn.TxnCheck;
import io.verbena.elle.txn.TxnOptions;
import io.verbena.elle.txn.TxnVerdict;
import io.verbena.elle.txn.TxnWorkload;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Reads histories, checks them and reports.
 */
public final class HistoryCheck
{
    private static final double NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final CheckRequest request;

    /**
     * Makes a check that may be run on any number of files.
     *
     * @param request what to check for.
     */
    public HistoryCheck(final CheckRequest request)
    {
        this.request = request;
    }

    /**
     * Checks one file; blocks until the verdict or the time bound.
     *
     * @param file of any format that {@link HistoryReader} knows.
     * @return the report.
     * @throws IOException                              if the file cannot be read.
     * @throws io.verbena.elle.history.HistoryException if it is no history, or none of what was asked for.
     */
    public HistoryReport run(final Path file) throws IOException
    {
        return run(HistoryReader.read(file));
    }

    /**
     * Checks one history.
     *
     * @param history any well-formed one.
     * @return the report.
     * @throws io.verbena.elle.history.HistoryException if it is none of what was asked for.
     */
    public HistoryReport run(final History history)
    {
        final TxnWorkload workload = request.workload() != null || request.model() != null ?
            request.workload() : HistoryKind.workloadOf(history);
        return workload == null ? checkLinearizable(history) : checkTransactions(history, workload);
    }

    private HistoryReport checkLinearizable(final History original)
    {
        final History history = IndependentKeys.lift(original);
        final Model<?> model = request.model() == null ? HistoryKind.modelOf(history) : request.model();
        final LinearOptions options = LinearOptions.defaults().withTimeoutNs(request.timeoutNs());
        final LinearVerdict verdict = Elle.checkLinearizable(history, model, options);
        return new HistoryReport(verdict.validity(), verdict.explanation(), fields(verdict),
            () -> LinearPage.of(history.source(), history, verdict));
    }

    private HistoryReport checkTransactions(final History history, final TxnWorkload workload)
    {
        final LongSupplier clock = LinearOptions.defaults().clock();
        final long startNs = clock.getAsLong();
        final TxnOptions options = TxnOptions.defaults().stoppedBy(
            () -> clock.getAsLong() - startNs > request.timeoutNs());
        final TxnVerdict verdict = TxnCheck.check(history, workload, request.consistency(), options);
        return new HistoryReport(
            verdict.validity(), text(verdict), fields(verdict, clock.getAsLong() - startNs),
            () -> TxnPage.of(history.source(), verdict));
    }

    private static Map<String, Object> fields(final LinearVerdict verdict)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("file", verdict.source());
        fields.put("verdict", verdict.validity().word());
        fields.put("checked_for", "linearizable");
        fields.put("model", verdict.model());
        fields.put("operations_count", (long)verdict.operations());
        fields.put("objects_count", (long)verdict.parts().size());
        fields.put("configurations_count", verdict.statesVisited());
        fields.put("elapsed_ms", verdict.elapsedNs() / NS_PER_MS);
        fields.put("failures", verdict.failures().stream().map(HistoryCheck::fields).toList());
        fields.put("unknown_reasons", verdict.unknownReasons());
        return fields;
    }

    private static Map<String, Object> fields(final PartVerdict part)
    {
        final Failure failure = part.failure();
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("object", part.object());
        fields.put("operations_count", (long)part.operations());
        fields.put("breaking", fields(failure.breaking()));
        fields.put("prefix_events_count", (long)failure.prefixEvents());
        fields.put("prefix_order_ids", Arrays.stream(part.linearization()).boxed().toList());
        fields.put("prefix_is_ordered", failure.prefixIsOrdered());
        fields.put("state_after_prefix", failure.stateText());
        fields.put("blocked", failure.blocked().stream().map(blocked -> Map.of(
            "operation", fields(blocked.operation()), "reason", blocked.reason())).toList());
        fields.put("core", failure.core().stream().map(HistoryCheck::fields).toList());
        fields.put("core_suffices", failure.coreSuffices());
        fields.put("core_is_minimal", failure.coreIsMinimal());
        return fields;
    }

    private static Map<String, Object> fields(final Operation operation)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("id", (long)operation.id());
        fields.put("text", operation.toString());
        fields.put("call_line", (long)operation.callLine());
        fields.put("end_line", (long)operation.endLine());
        return fields;
    }

    private static Map<String, Object> fields(final TxnVerdict verdict, final long elapsedNs)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("file", verdict.history().source());
        fields.put("verdict", verdict.validity().word());
        fields.put("checked_for", verdict.expected().word());
        fields.put("workload", verdict.workload().word());
        fields.put("transactions_count", (long)verdict.statistics().transactions());
        fields.put("elapsed_ms", elapsedNs / NS_PER_MS);
        fields.put("ruled_out", words(verdict.ruledOut()));
        fields.put("also_ruled_out", words(verdict.alsoRuledOut()));
        fields.put("strongest_remaining", words(verdict.strongestRemaining()));
        final Map<String, Object> counts = new LinkedHashMap<>();
        verdict.counts().forEach((type, count) -> counts.put(type.word(), (long)count));
        fields.put("anomaly_counts", counts);
        fields.put("anomalies", verdict.anomalies().stream().map(HistoryCheck::fields).toList());
        fields.put("unknown_reasons", verdict.unknownReasons());
        return fields;
    }

    private static Map<String, Object> fields(final Anomaly anomaly)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("type", anomaly.type().word());
        fields.put("meaning", anomaly.type().meaning());
        fields.put("transaction_ids", anomaly.transactions());
        fields.put("text", anomaly.text());
        return fields;
    }

    private static String text(final TxnVerdict verdict)
    {
        final StringBuilder text = new StringBuilder();
        final String what = switch (verdict.validity())
        {
            case VALID -> "shows nothing against ";
            case INVALID -> "is NOT ";
            case UNKNOWN -> "may or may not be ";
        };
        text.append(verdict.history().source()).append(' ').append(what).append(verdict.expected().word());
        text.append(" (").append(verdict.workload().word()).append(", ").append(verdict.statistics().transactions());
        text.append(" transactions)\n");
        verdict.unknownReasons().forEach(reason -> text.append("  unknown: ").append(reason).append('\n'));
        if (!verdict.counts().isEmpty())
        {
            text.append("  Ruled out: ").append(String.join(", ", words(verdict.ruledOut())));
            text.append("; strongest that remain: ");
            final List<String> remaining = words(verdict.strongestRemaining());
            text.append(remaining.isEmpty() ? "none" : String.join(", ", remaining)).append('\n');
        }
        verdict.anomalies().forEach(anomaly -> append(text, verdict, anomaly));
        return text.toString();
    }

    private static void append(final StringBuilder text, final TxnVerdict verdict, final Anomaly anomaly)
    {
        text.append("\n  ").append(anomaly.type().word()).append(" (").append(anomaly.type().meaning()).append(")\n");
        for (final int id : anomaly.transactions())
        {
            text.append("    T").append(id).append(" = ").append(verdict.history().operations().get(id)).append('\n');
        }
        text.append("    ").append(anomaly.text()).append('\n');
    }

    private static List<String> words(final Collection<ConsistencyModel> models)
    {
        return models.stream().map(ConsistencyModel::word).sorted().collect(Collectors.toList());
    }
}
