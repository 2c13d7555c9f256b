package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

import java.util.List;

/**
 * Why an object's history is not linearizable.
 *
 * <p>All that happened before the completion of {@link #breaking()} has a linearization, unless a bound was hit; with
 * that completion there is none.
 *
 * @param breaking       the operation whose completion nothing can explain.
 * @param prefixEvents   how many events of the object stand before that completion.
 * @param prefixIsOrdered whether the verdict holds a linearization of these; false if a bound was hit first.
 * @param stateText      the model's state after that linearization, as text.
 * @param blocked        the operations that would have to come next there, and why none can.
 * @param core           a few operations that contradict each other, in call order. Holds {@code breaking}.
 * @param coreSuffices   whether they do so by themselves: whatever the others are taken to have answered, and even if
 *                       they never happened, there is still no order. False if a bound was hit first; then older
 *                       operations may be part of the contradiction.
 * @param coreIsMinimal  whether, beyond that, each of them is known to be needed.
 */
public record Failure(
    Operation breaking,
    int prefixEvents,
    boolean prefixIsOrdered,
    String stateText,
    List<Blocked> blocked,
    List<Operation> core,
    boolean coreSuffices,
    boolean coreIsMinimal)
{
    /**
     * An operation that cannot be next.
     *
     * @param operation the operation.
     * @param reason    as text.
     */
    public record Blocked(Operation operation, String reason)
    {
    }
}
