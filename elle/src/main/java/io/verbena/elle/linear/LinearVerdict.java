package io.verbena.elle.linear;

import io.verbena.elle.Validity;

import java.util.List;

/**
 * Answer to "is this history linearizable", object by object.
 *
 * @param validity      of the whole history.
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
     * The verdict and, unless it is {@code VALID}, the reasons.
     *
     * @return several lines of text.
     */
    public String explanation()
    {
        return VerdictText.of(this);
    }
}
