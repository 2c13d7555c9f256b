package io.verbena.elle.linear;

import io.verbena.elle.Validity;
import io.verbena.elle.history.EdnValue;

import java.util.List;

/**
 * Answer to "is this history linearizable", object by object.
 *
 * @param validity      of the whole history; {@code UNKNOWN} also if no operation succeeded, since any store could have
 *                      such a history.
 * @param model         name of the model.
 * @param source        name of the history.
 * @param operations    operations in the history.
 * @param parts         one per object, in the order of their first calls.
 * @param statesVisited configurations seen over all objects.
 * @param elapsedNs     time the check took.
 */
public record LinearVerdict(
    Validity validity,
    String model,
    String source,
    int operations,
    List<PartVerdict> parts,
    long statesVisited,
    long elapsedNs)
{
    /**
     * The objects that are not linearizable.
     *
     * @return in the order of {@link #parts()}; empty unless the verdict is {@code INVALID}.
     */
    public List<PartVerdict> failures()
    {
        return parts.stream().filter(part -> part.validity() == Validity.INVALID).toList();
    }

    /**
     * Why the verdict is {@code UNKNOWN}: the bound that was hit, of each object, or that no operation succeeded.
     *
     * @return empty unless something is unknown.
     */
    public List<String> unknownReasons()
    {
        if (showsNothing())
        {
            return List.of("no operation succeeded, so the history shows nothing");
        }
        return parts.stream().filter(part -> part.unknownReason() != null)
            .map(part -> EdnValue.toText(part.object()) + ": " + part.unknownReason()).toList();
    }

    /** Whether it is unknown although no bound was hit. */
    boolean showsNothing()
    {
        return validity == Validity.UNKNOWN && parts.stream().allMatch(part -> part.validity() == Validity.VALID);
    }

    /**
     * The verdict and, unless it is {@code VALID}, the reasons.
     *
     * @return several lines of text.
     */
    public String explanation()
    {
        return VerdictText.of(summary(), parts);
    }

    private String summary()
    {
        final long bad = parts.stream().filter(part -> part.validity() == Validity.INVALID).count();
        final long open = parts.stream().filter(part -> part.validity() == Validity.UNKNOWN).count();
        final String what = switch (validity)
        {
            case VALID -> "is linearizable";
            case INVALID -> "is NOT linearizable";
            case UNKNOWN -> "may or may not be linearizable: " + (showsNothing() ?
                unknownReasons().getFirst() : "a bound was hit");
        };
        return source + " " + what + " (model " + model + ", " + operations +
            " operations, " + parts.size() + (1 == parts.size() ? " object, " : " objects, ") +
            bad + " bad, " + open + " unknown, " +
            statesVisited + " configurations)";
    }
}
