package io.verbena.elle.html;

import io.verbena.elle.history.EdnValue;
import io.verbena.elle.history.History;
import io.verbena.elle.history.JsonWriter;
import io.verbena.elle.history.Operation;
import io.verbena.elle.linear.Failure;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.PartVerdict;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The page of a check of linearizability: a line per process with its operations as bars, the order found or the place
 * where it breaks, to be zoomed, searched and pointed at. Usable for tens of thousands of operations, since only what
 * is in sight is drawn.
 */
public final class LinearPage
{
    /** Values longer than this are cut in the middle, or one value could make the page of any size. */
    private static final int MAX_TEXT = 300;
    private static final int NO_PART = -1;
    private static final double NANOS_PER_MILLI = 1e6;

    private final History history;
    private final LinearVerdict verdict;
    private final int[] partOf;

    private LinearPage(final History history, final LinearVerdict verdict)
    {
        this.history = history;
        this.verdict = verdict;
        partOf = partOfOperations();
    }

    /**
     * Draws a verdict.
     *
     * @param title   heading, such as the name of the file checked.
     * @param history what was checked.
     * @param verdict what was found in it.
     * @return a whole HTML document that needs nothing but itself.
     */
    public static String of(final String title, final History history, final LinearVerdict verdict)
    {
        final LinearPage page = new LinearPage(history, verdict);
        return Page.of(title, "timeline", page.body(title), page.data(),
            "timeline.js", "timeline-drawing.js", "timeline-story.js", "timeline-controls.js");
    }

    private String body(final String title)
    {
        final String words = switch (verdict.validity())
        {
            case VALID -> "linearizable";
            case INVALID -> "not linearizable";
            case UNKNOWN -> "unknown";
        };
        return String.format(Locale.ROOT, """
            <header>%s<h1>%s</h1>
            <span class="facts">model %s · %,d operations · %,d %s · %,d states · %.1f ms</span>
            <span class="grow"></span><button id="theme" type="button">light / dark</button></header>
            <main>
            <section class="stage" aria-label="Timeline">
            <div class="tools">
            <input type="search" id="search" placeholder="search operations" aria-label="search operations">
            <button type="button" id="previous" aria-label="previous match">‹</button>
            <button type="button" id="next" aria-label="next match">›</button>
            <span class="count" id="matches" role="status"></span>
            <select id="object" aria-label="object"></select>
            <span class="grow"></span>
            <button type="button" id="by" aria-pressed="false" title="spaced by time instead of evenly">time</button>
            <button type="button" id="out" aria-label="zoom out">−</button>
            <button type="button" id="in" aria-label="zoom in">+</button>
            <button type="button" id="all">whole history</button>
            <button type="button" id="break">where it breaks</button>
            </div>
            <div class="legend" id="legend"></div>
            <canvas id="lanes" tabindex="0"
            aria-label="operations of each process; arrow keys move, plus and minus zoom, n and p select"></canvas>
            <canvas id="overview" aria-hidden="true"></canvas>
            </section>
            <aside>
            <h2>Operation</h2><div class="details" id="details" aria-live="polite"></div>
            <div id="story"></div>
            <noscript><pre>%s</pre></noscript>
            </aside>
            </main>
            <div id="tip" hidden></div>
            """, Page.badge(verdict.validity(), words), Page.escape(title), Page.escape(verdict.model()),
            verdict.operations(), verdict.parts().size(), verdict.parts().size() == 1 ? "object" : "objects",
            verdict.statesVisited(), verdict.elapsedNs() / NANOS_PER_MILLI, Page.escape(verdict.explanation()));
    }

    private String data()
    {
        final StringBuilder json = new StringBuilder(128 * history.operations().size() + 1_024);
        json.append("{\"validity\":\"").append(verdict.validity().word()).append("\",\"operations\":[");
        String separator = "";
        for (final Operation operation : history.operations())
        {
            json.append(separator);
            appendOperation(json, operation);
            separator = ",\n";
        }
        json.append("],\"parts\":[");
        separator = "";
        for (final PartVerdict part : verdict.parts())
        {
            json.append(separator);
            appendPart(json, part);
            separator = ",\n";
        }
        return json.append("]}").toString();
    }

    /** An array, not an object, because there may be very many: see the script for the places. */
    private void appendOperation(final StringBuilder json, final Operation operation)
    {
        final boolean isEnded = operation.endPosition() != Operation.NEVER;
        json.append('[').append(operation.process())
            .append(',').append(operation.callPosition())
            .append(',').append(isEnded ? operation.endPosition() : -1)
            .append(",\"").append(operation.outcome().word()).append("\",")
            .append(partOf[operation.id()]).append(',');
        appendTime(json, operation.callTimeNs());
        json.append(',');
        appendTime(json, operation.endTimeNs());
        json.append(',');
        JsonWriter.appendString(json, operation.f());
        json.append(',');
        JsonWriter.appendString(json, operation.key() == null ? "" : text(operation.key()));
        json.append(',');
        JsonWriter.appendString(json, operation.input() == null ? "" : text(operation.input()));
        json.append(',');
        JsonWriter.appendString(json, result(operation));
        json.append(',').append(operation.callLine()).append(']');
    }

    private void appendPart(final StringBuilder json, final PartVerdict part)
    {
        json.append("{\"name\":");
        JsonWriter.appendString(json, part.object() == null ? "" : text(part.object()));
        json.append(",\"validity\":\"").append(part.validity().word()).append("\",\"order\":[")
            .append(Arrays.stream(part.linearization()).mapToObj(Integer::toString).collect(Collectors.joining(",")))
            .append("],\"reason\":");
        JsonWriter.appendString(json, part.unknownReason() == null ? "" : part.unknownReason());
        if (part.failure() != null)
        {
            json.append(',');
            appendFailure(json, part.failure());
        }
        json.append('}');
    }

    private static void appendFailure(final StringBuilder json, final Failure failure)
    {
        json.append("\"breaking\":").append(failure.breaking().id()).append(",\"state\":");
        JsonWriter.appendString(json, cut(failure.stateText()));
        json.append(",\"prefixEvents\":").append(failure.prefixEvents())
            .append(",\"coreIsMinimal\":").append(failure.coreIsMinimal())
            .append(",\"core\":").append(ids(failure.core())).append(",\"blocked\":[");
        String separator = "";
        for (final Failure.Blocked blocked : failure.blocked())
        {
            json.append(separator).append('[').append(blocked.operation().id()).append(',');
            JsonWriter.appendString(json, cut(blocked.reason()));
            json.append(']');
            separator = ",";
        }
        json.append(']');
    }

    private static void appendTime(final StringBuilder json, final long timeNs)
    {
        json.append(timeNs == Operation.NO_TIME ? "null" : Long.toString(timeNs));
    }

    private static List<Integer> ids(final List<Operation> operations)
    {
        return operations.stream().map(Operation::id).toList();
    }

    private static String result(final Operation operation)
    {
        return switch (operation.outcome())
        {
            case OK -> text(operation.output());
            case FAIL -> "failed" + (operation.output() == null ? "" : " (" + text(operation.output()) + ")");
            default -> "unknown" + (operation.output() == null ? "" : " (" + text(operation.output()) + ")");
        };
    }

    private static String text(final Object value)
    {
        return cut(EdnValue.toText(value));
    }

    private static String cut(final String text)
    {
        return text.length() <= MAX_TEXT ? text :
            text.substring(0, MAX_TEXT / 2) + String.format(Locale.ROOT, " ... (%,d more) ... ",
                text.length() - MAX_TEXT) + text.substring(text.length() - MAX_TEXT / 2);
    }

    /** The orders say whose operations they are; of the others the key says it, if anything does. */
    private int[] partOfOperations()
    {
        final int[] parts = new int[history.operations().size()];
        Arrays.fill(parts, verdict.parts().size() == 1 ? 0 : NO_PART);
        final Map<Object, Integer> byObject = new HashMap<>();
        for (int part = 0; part < verdict.parts().size(); part++)
        {
            byObject.put(verdict.parts().get(part).object(), part);
        }
        for (final Operation operation : history.operations())
        {
            parts[operation.id()] = byObject.getOrDefault(operation.key(), parts[operation.id()]);
        }
        for (int part = 0; part < verdict.parts().size(); part++)
        {
            for (final int id : verdict.parts().get(part).linearization())
            {
                parts[id] = part;
            }
        }
        return parts;
    }
}
