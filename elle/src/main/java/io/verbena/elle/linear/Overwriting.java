package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

/**
 * A model of an object that holds one thing at a time, such as a register: what is overwritten is gone until an
 * operation makes it again. Saying so lets the search turn back as soon as it overwrites what a later read must find,
 * and leave out what nobody looks for, which changes no verdict, only the time.
 *
 * <p>Promises: an operation that {@link #needs} a thing happens only in states that {@link #holds hold} it; if an
 * operation that {@link #makes} a thing changes the state, the state after it holds that thing; an operation that
 * {@link Model#isReadOnly is read only} never changes what is held.
 *
 * @param <S> state of the model.
 */
public interface Overwriting<S> extends Model<S>
{
    /**
     * The thing a state holds; things are the same if {@code equals} says so.
     *
     * @param state any reachable one.
     * @return not null.
     */
    Object holds(S state);

    /**
     * The thing without which the operation cannot happen as it did or, if nobody saw its end, has no effect.
     *
     * @param operation any but a failed one.
     * @return null if the operation does not determine it.
     */
    Object needs(Operation operation);

    /**
     * The thing that is there after the operation has changed the state.
     *
     * @param operation one that is not read only.
     * @return null if it depends on the state before.
     */
    Object makes(Operation operation);

    /**
     * Whether operations for which {@link #makes} returns null, such as an append, can turn one thing into another.
     *
     * @param from what is held.
     * @param to   what is needed.
     * @return true unless that is impossible.
     */
    boolean canBecome(Object from, Object to);

    /**
     * Whether the operation can happen whatever is held, and leaves the same; such as a plain write.
     *
     * @param operation any but a failed one.
     * @return true if {@link #holds} makes no difference to it.
     */
    boolean isIndifferent(Operation operation);
}
