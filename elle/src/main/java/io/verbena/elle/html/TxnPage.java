package io.verbena.elle.html;

import io.verbena.elle.history.EdnValue;
import io.verbena.elle.history.JsonWriter;
import io.verbena.elle.history.Keyword;
import io.verbena.elle.history.Operation;
import io.verbena.elle.txn.Anomaly;
import io.verbena.elle.txn.CycleStep;
import io.verbena.elle.txn.TxnStatistics;
import io.verbena.elle.txn.TxnVerdict;
import io.verbena.elle.txn.isolation.AnomalyType;
import io.verbena.elle.txn.isolation.ConsistencyModel;
import io.verbena.elle.txn.isolation.ModelLattice;

import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The page of a check of transactions: verdict, models, anomalies, and each cycle as a graph with its steps as text.
 * The words stand in the markup itself and need no script.
 */
public final class TxnPage
{
    private static final int MAX_TEXT = 80;
    /** Transactions of an anomaly that are listed; some anomalies involve thousands. */
    private static final int MAX_TRANSACTIONS = 40;

    private final TxnVerdict verdict;

    private TxnPage(final TxnVerdict verdict)
    {
        this.verdict = verdict;
    }

    /**
     * Draws a verdict.
     *
     * @param title   heading, such as the name of the file checked.
     * @param verdict what was found.
     * @return a whole HTML document that needs nothing but itself.
     */
    public static String of(final String title, final TxnVerdict verdict)
    {
        final TxnPage page = new TxnPage(verdict);
        return Page.of(title, "txns", page.header(title) + page.main(), page.data(), "transactions.js");
    }

    private String header(final String title)
    {
        final TxnStatistics statistics = verdict.statistics();
        final String words = switch (verdict.validity())
        {
            case VALID -> verdict.expected().word();
            case INVALID -> "not " + verdict.expected().word();
            case UNKNOWN -> "unknown if " + verdict.expected().word();
        };
        return String.format(Locale.ROOT, """
            <header>%s<h1>%s</h1>
            <span class="facts">%s · %,d transactions (%,d committed, %,d unknown) · %,d keys · %,d edges</span>
            <span class="grow"></span><button id="theme" type="button">light / dark</button></header>
            """, Page.badge(verdict.validity(), words), Page.escape(title), verdict.workload().word(),
            statistics.transactions(), statistics.committed(), statistics.unknown(), statistics.keys(),
            statistics.edges());
    }

    private String main()
    {
        final StringBuilder html = new StringBuilder("<main>\n<section class=\"card\">\n");
        appendLead(html);
        appendModels(html, "Ruled out", "bad", verdict.ruledOut());
        if (!verdict.alsoRuledOut().isEmpty())
        {
            html.append("<details><summary>and so are ").append(verdict.alsoRuledOut().size())
                .append(" stronger models</summary>");
            appendChips(html, "bad", verdict.alsoRuledOut());
            html.append("</details>\n");
        }
        appendModels(html, "The strongest that nothing found speaks against", "good", verdict.strongestRemaining());
        for (final String reason : verdict.unknownReasons())
        {
            html.append("<p class=\"muted\">").append(Page.escape(reason)).append("</p>\n");
        }
        html.append("<details id=\"all-models\"><summary>all models, weaker ones below stronger ones</summary>")
            .append("<div id=\"lattice\"></div></details>\n</section>\n");
        if (!verdict.anomalies().isEmpty())
        {
            html.append("<div class=\"columns\">\n");
            appendIndex(html);
            html.append("<div>\n");
            int number = 0;
            for (final Anomaly anomaly : verdict.anomalies())
            {
                appendAnomaly(html, anomaly, number++);
            }
            html.append("</div>\n</div>\n");
        }
        return html.append("</main>\n").toString();
    }

    private void appendLead(final StringBuilder html)
    {
        final int types = verdict.counts().size();
        html.append("<p class=\"lead\">").append(switch (verdict.validity())
        {
            case VALID -> "Nothing in this history contradicts <b>" + verdict.expected() + "</b>.";
            case INVALID -> "This history is not <b>" + verdict.expected() + "</b>. ";
            case UNKNOWN -> "Nothing found contradicts <b>" + verdict.expected() + "</b>, but not all was looked at.";
        });
        if (types > 0)
        {
            html.append(" Found: ").append(verdict.counts().entrySet().stream()
                .map(entry -> entry.getValue() + " × " + entry.getKey().word()).collect(Collectors.joining(", ")))
                .append('.');
        }
        html.append("</p>\n");
    }

    private void appendModels(
        final StringBuilder html, final String heading, final String style, final Set<ConsistencyModel> models)
    {
        html.append("<h2>").append(heading).append("</h2>");
        appendChips(html, style, models);
        if (models.isEmpty())
        {
            html.append("<p class=\"muted\">none</p>");
        }
        html.append('\n');
    }

    private void appendChips(final StringBuilder html, final String style, final Collection<ConsistencyModel> models)
    {
        html.append("<div>");
        for (final ConsistencyModel model : models)
        {
            html.append("<span class=\"chip ").append(style)
                .append(model == verdict.expected() ? " expected" : "").append("\">").append(model.word())
                .append("</span>");
        }
        html.append("</div>");
    }

    private void appendIndex(final StringBuilder html)
    {
        html.append("<nav aria-label=\"anomalies\"><h2>Anomalies</h2>\n");
        AnomalyType previous = null;
        int number = 0;
        for (final Anomaly anomaly : verdict.anomalies())
        {
            if (anomaly.type() != previous)
            {
                previous = anomaly.type();
                html.append("<a href=\"#a").append(number).append("\"><span>").append(previous.word())
                    .append("</span><span class=\"n\">").append(verdict.counts().get(previous)).append("</span></a>\n");
            }
            number++;
        }
        html.append("</nav>\n");
    }

    private void appendAnomaly(final StringBuilder html, final Anomaly anomaly, final int number)
    {
        final boolean isAllowed = !ModelLattice.ruledOutBy(EnumSet.of(anomaly.type())).contains(verdict.expected());
        html.append("<article class=\"card").append(isAllowed ? " allowed" : "").append("\" id=\"a").append(number)
            .append("\">\n<h3><span class=\"type\">").append(anomaly.type().word()).append("</span> ")
            .append("<span class=\"muted\">").append(Page.escape(anomaly.type().meaning())).append("</span></h3>\n");
        if (isAllowed)
        {
            html.append("<p class=\"muted\">").append(verdict.expected()).append(" allows this.</p>\n");
        }
        if (anomaly.cycle().isEmpty())
        {
            html.append("<p>").append(Page.escape(anomaly.text())).append(".</p>\n");
        }
        else
        {
            appendSteps(html, anomaly, number);
        }
        appendTransactions(html, anomaly);
        html.append("</article>\n");
    }

    private static void appendSteps(final StringBuilder html, final Anomaly anomaly, final int number)
    {
        html.append("<div class=\"graph\" id=\"g").append(number).append("\"></div>\n<ol class=\"steps\">\n");
        for (final CycleStep step : anomaly.cycle())
        {
            html.append("<li tabindex=\"0\"><span class=\"kind ").append(step.kind().word()).append("\">")
                .append(step.kind().word()).append("</span><span>").append(Page.escape(step.explanation()))
                .append("</span></li>\n");
        }
        html.append("</ol>\n<p class=\"so\">So T").append(anomaly.cycle().getFirst().from())
            .append(" would have to come before itself.</p>\n");
    }

    private void appendTransactions(final StringBuilder html, final Anomaly anomaly)
    {
        html.append("<details").append(anomaly.cycle().isEmpty() ? " open" : "")
            .append("><summary>transactions</summary><table class=\"ops\">")
            .append("<tr><th></th><th>process</th><th>events</th><th>line</th><th>operations</th></tr>\n");
        final List<Integer> ids = List.copyOf(new LinkedHashSet<>(anomaly.transactions()));
        for (final int id : ids.subList(0, Math.min(ids.size(), MAX_TRANSACTIONS)))
        {
            final Operation operation = verdict.history().operations().get(id);
            html.append("<tr><td><b>T").append(id).append("</b></td><td>").append(operation.process())
                .append("</td><td>").append(operation.callPosition()).append('–')
                .append(operation.endPosition() == Operation.NEVER ? "never" : operation.endPosition())
                .append("</td><td>").append(operation.callLine() == 0 ? "" : operation.callLine())
                .append("</td><td><code>").append(parts(operation).stream().map(Page::escape)
                    .collect(Collectors.joining("<br>"))).append("</code></td></tr>\n");
        }
        html.append("</table>");
        if (ids.size() > MAX_TRANSACTIONS)
        {
            html.append("<p class=\"muted\">and ").append(ids.size() - MAX_TRANSACTIONS).append(" more</p>");
        }
        html.append("</details>\n");
    }

    /** The graphs and the lattice, for the script. */
    private String data()
    {
        final StringBuilder json = new StringBuilder("{\"models\":[");
        String separator = "";
        for (final ConsistencyModel model : ConsistencyModel.values())
        {
            json.append(separator).append("{\"name\":\"").append(model.word()).append("\",\"weaker\":")
                .append(model.weaker().stream().map(ConsistencyModel::ordinal).toList())
                .append(",\"out\":").append(verdict.rulesOut(model))
                .append(",\"expected\":").append(model == verdict.expected()).append('}');
            separator = ",";
        }
        json.append("],\"cycles\":[");
        separator = "";
        for (final Anomaly anomaly : verdict.anomalies())
        {
            json.append(separator);
            appendCycle(json, anomaly);
            separator = ",\n";
        }
        return json.append("]}").toString();
    }

    private void appendCycle(final StringBuilder json, final Anomaly anomaly)
    {
        json.append('[');
        String separator = "";
        for (final CycleStep step : anomaly.cycle())
        {
            final Operation operation = verdict.history().operations().get(step.from());
            json.append(separator).append("{\"name\":\"T").append(step.from()).append("\",\"process\":")
                .append(operation.process()).append(",\"kind\":\"").append(step.kind().word()).append("\",\"key\":");
            JsonWriter.appendString(json, step.key() == null ? "" : cut(EdnValue.toText(step.key())));
            json.append(",\"operations\":");
            JsonWriter.appendValue(json, parts(operation));
            json.append('}');
            separator = ",";
        }
        json.append(']');
    }

    /** The operations of a transaction in short: {@code append x 1}, {@code read x → [1 2]}. */
    private static List<String> parts(final Operation operation)
    {
        return operation.value() instanceof List<?> list ? list.stream().map(TxnPage::part).toList() : List.of();
    }

    private static String part(final Object part)
    {
        final List<?> words = (List<?>)part;
        final String f = Keyword.nameOf(words.get(0));
        final String verb = "r".equals(f) ? "read" : "w".equals(f) ? "write" : f;
        return verb + " " + cut(EdnValue.toText(words.get(1))) + ("r".equals(f) ? " → " : " ") +
            cut(EdnValue.toText(words.get(2)));
    }

    private static String cut(final String text)
    {
        return text.length() <= MAX_TEXT ? text :
            text.substring(0, MAX_TEXT / 2) + " ... " + text.substring(text.length() - MAX_TEXT / 2);
    }
}
