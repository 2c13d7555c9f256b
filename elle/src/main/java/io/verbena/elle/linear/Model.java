package io.verbena.elle.linear;

import io.verbena.elle.history.History;
import io.verbena.elle.history.Operation;

import java.util.Set;
import java.util.function.Function;

/**
 * A sequential object: what it may answer when its operations come one after the other.
 *
 * <p>Models hold no mutable state and are used by several threads at once. Of an operation they may look at
 * {@code f}, {@code key}, {@code input}, whether it {@code isOk} and, only then, {@code output}: the checker asks once
 * for all operations that agree in these.
 *
 * @param <S> an immutable state with {@code equals} and {@code hashCode}.
 */
public interface Model<S>
{
    /**
     * The name by which the command knows the model.
     *
     * @return lower case words joined by hyphens.
     */
    String name();

    /**
     * Functions that occur in histories of this object; any other is an error of the history.
     *
     * @return their names.
     */
    Set<String> functions();

    /**
     * The state before the first operation.
     *
     * @return not null.
     */
    S initial();

    /**
     * Lets one operation happen.
     *
     * <p>An {@code OK} operation answers {@code output}; an {@code INFO} one took effect, but nobody saw its answer.
     * Failed operations never come here.
     *
     * @param state     before.
     * @param operation what is called and, if known, what it answered.
     * @return the state after; null if the operation cannot give that answer in that state.
     */
    S step(S state, Operation operation);

    /**
     * Whether the operation only looks, so that the checker may let it happen at the first chance.
     *
     * <p>The promise is: wherever {@code step} returns the state it was given, no later place in the order is better
     * for this operation. That is so for reads; it is not for a write that happens to write what is there, because it
     * may be needed later. False is always right, true makes checking faster.
     *
     * @param operation any of the history.
     * @return true if the promise holds.
     */
    default boolean isReadOnly(final Operation operation)
    {
        return false;
    }

    /**
     * Determines which operations work on the same object; those of different objects are checked apart, which loses
     * nothing, because linearizability is a local property.
     *
     * @param history the whole history to be checked.
     * @return function from an operation to its object, which may be null.
     */
    default Function<Operation, Object> partition(final History history)
    {
        return Operation::key;
    }

    /**
     * A state as text, for reports.
     *
     * @param state any reachable one.
     * @return one short line.
     */
    default String describe(final S state)
    {
        return state.toString();
    }
}
