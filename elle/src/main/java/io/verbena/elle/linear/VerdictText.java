package io.verbena.elle.linear;

import io.verbena.elle.history.EdnValue;
import io.verbena.elle.history.Operation;
import io.verbena.elle.Validity;

import java.util.List;

/** A verdict for people: its summary, then each object that is not well. */
final class VerdictText
{
    private static final int MAX_PARTS = 8;
    private static final int MAX_BLOCKED = 12;
    private static final int MAX_LAST = 8;

    private final StringBuilder text = new StringBuilder();

    private VerdictText()
    {
    }

    static String of(final String summary, final List<PartVerdict> parts)
    {
        final VerdictText words = new VerdictText();
        words.line(summary);
        int shown = 0;
        for (final PartVerdict part : parts)
        {
            if (part.validity() == Validity.VALID)
            {
                continue;
            }
            if (++shown > MAX_PARTS)
            {
                words.line("(more objects left out)");
                break;
            }
            words.part(part);
        }
        return words.text.toString();
    }


    private void part(final PartVerdict part)
    {
        text.append('\n');
        if (part.object() != null)
        {
            line("Object " + EdnValue.toText(part.object()) + ", " + part.operations() + " operations:");
        }
        if (part.failure() == null)
        {
            line("  unknown: " + part.unknownReason());
            return;
        }
        failure(part.failure());
    }

    private void failure(final Failure failure)
    {
        line("  No order explains the completion of");
        line("    " + placed(failure.breaking()));
        line(failure.prefixIsOrdered() ?
            "  The " + failure.prefixEvents() + " events before it have an order; it ends in state " +
            failure.stateText() + ", and there" :
            "  Whether the " + failure.prefixEvents() +
            " events before it have an order is not known: a bound was hit");
        shown(failure.blocked(), MAX_BLOCKED).forEach(
            blocked -> line("    " + placed(blocked.operation()) + " " + blocked.reason()));
        line(failure.coreSuffices() ?
            "  Even if all else were unseen, these cannot stand together:" :
            "  Among the last operations these (perhaps with older ones) cannot stand together:");
        final List<Operation> core = failure.core();
        shown(core.subList(Math.max(0, core.size() - MAX_LAST), core.size()), MAX_LAST).forEach(
            operation -> line("    " + placed(operation)));
    }

    private static <T> List<T> shown(final List<T> list, final int max)
    {
        return list.subList(0, Math.min(max, list.size()));
    }

    private static String placed(final Operation operation)
    {
        final String end = operation.effectPosition() == Operation.NEVER ? "?" : operation.endPosition() + "";
        final String lines = operation.callLine() == 0 ? "" :
            ", lines " + operation.callLine() + "-" + (operation.endLine() == 0 ? "?" : operation.endLine());
        return operation + "  [events " + operation.callPosition() + "-" + end + lines + "]";
    }

    private void line(final String line)
    {
        text.append(line).append('\n');
    }
}
