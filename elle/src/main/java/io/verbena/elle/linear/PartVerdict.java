package io.verbena.elle.linear;

import io.verbena.elle.Validity;

/**
 * Verdict on the operations of one object.
 *
 * @param object        what the model's partition calls the object; null if there is only one.
 * @param validity      of these operations alone.
 * @param operations    operations of the object, failed ones left out.
 * @param linearization ids of operations in an order that explains the history ({@code VALID}) or its longest
 *                      linearizable prefix ({@code INVALID}); empty if {@code UNKNOWN}.
 * @param statesVisited configurations seen.
 * @param failure       what is wrong if {@code INVALID}, else null.
 * @param unknownReason which bound was hit if {@code UNKNOWN}, else null.
 */
public record PartVerdict(
    Object object,
    Validity validity,
    int operations,
    int[] linearization,
    long statesVisited,
    Failure failure,
    String unknownReason)
{
}
