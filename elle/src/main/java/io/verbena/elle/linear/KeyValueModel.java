package io.verbena.elle.linear;

import io.verbena.elle.history.EdnValue;
import io.verbena.elle.history.Operation;

import java.util.Objects;
import java.util.Set;

/**
 * A map from keys to values without versions; each key is an object of its own.
 *
 * <table>
 * <caption>Functions, their argument and their answers (null: not known, or done)</caption>
 * <tr><td>get</td><td></td><td>the value, or null if there is none (a missing string may be "")</td></tr>
 * <tr><td>put</td><td>v</td><td>anything</td></tr>
 * <tr><td>append</td><td>v</td><td>anything; strings grow by a string, lists by an element</td></tr>
 * <tr><td>put-if-absent</td><td>v</td><td>false if there was a value</td></tr>
 * <tr><td>put-if-present</td><td>v</td><td>false if there was no value</td></tr>
 * <tr><td>replace</td><td>[old new]</td><td>false if the value was not old</td></tr>
 * <tr><td>delete</td><td></td><td>true if there was a value, false if not, else not known</td></tr>
 * <tr><td>exists</td><td></td><td>true or false</td></tr>
 * <tr><td>increment</td><td>n</td><td>the new value, or null; a missing value counts as 0</td></tr>
 * </table>
 */
final class KeyValueModel implements Overwriting<KeyValueModel.Slot>
{
    private static final Slot EMPTY = new Slot(false, null);

    /** What a key holds; {@code value} is null if nothing is {@code present}. */
    record Slot(boolean present, Object value)
    {
    }

    @Override
    public String name()
    {
        return "kv-map";
    }

    @Override
    public Set<String> functions()
    {
        return Set.of(
            "get", "put", "append", "put-if-absent", "put-if-present", "replace", "delete", "exists", "increment");
    }

    @Override
    public Slot initial()
    {
        return EMPTY;
    }

    @Override
    public Slot step(final Slot state, final Operation operation)
    {
        return switch (operation.f())
        {
            case "get" -> !operation.isOk() || isSeen(state, operation.output()) ? state : null;
            case "exists" ->
                !operation.isOk() || Boolean.valueOf(state.present).equals(operation.output()) ? state : null;
            case "put" -> new Slot(true, operation.input());
            case "append" -> new Slot(true, Values.appended(state.present, state.value, operation.input()));
            case "put-if-absent" -> conditional(state, operation, !state.present, operation.input());
            case "put-if-present" -> conditional(state, operation, state.present, operation.input());
            case "replace" -> replace(state, operation);
            case "delete" -> delete(state, operation);
            default -> increment(state, operation);
        };
    }

    @Override
    public boolean isReadOnly(final Operation operation)
    {
        return switch (operation.f())
        {
            case "get", "exists" -> true;
            case "put-if-absent", "put-if-present", "replace", "delete" ->
                operation.isOk() && Boolean.FALSE.equals(operation.output());
            default -> false;
        };
    }

    @Override
    public Object holds(final Slot state)
    {
        return state;
    }

    @Override
    public Object needs(final Operation operation)
    {
        final Object output = operation.output();
        return switch (operation.f())
        {
            // An answer of "" may also mean that there is no value.
            case "get" -> "".equals(output) ? null : output == null ? EMPTY : new Slot(true, output);
            case "exists", "delete" -> Boolean.FALSE.equals(output) ? EMPTY : null;
            case "put-if-absent" -> isReadOnly(operation) ? null : EMPTY;
            // Refused, put-if-present needs that nothing is there; but of an unseen one, any write before it matters.
            case "replace" -> isReadOnly(operation) ?
                null : new Slot(true, Values.ofPair(operation, operation.input(), 0));
            default -> null;
        };
    }

    @Override
    public Object makes(final Operation operation)
    {
        return switch (operation.f())
        {
            case "put", "put-if-absent", "put-if-present" -> new Slot(true, operation.input());
            case "replace" -> new Slot(true, Values.ofPair(operation, operation.input(), 1));
            case "delete" -> EMPTY;
            default -> null;
        };
    }

    /** Appended to, a string keeps its beginning and so does a list; numbers become any other by increments. */
    @Override
    public boolean canBecome(final Object from, final Object to)
    {
        return Values.canGrow(((Slot)from).value, ((Slot)to).value);
    }

    @Override
    public boolean isIndifferent(final Operation operation)
    {
        return operation.f().equals("put") ||
            operation.f().equals("delete") && !(operation.isOk() && operation.output() instanceof Boolean);
    }

    @Override
    public String describe(final Slot state)
    {
        return state.present ? EdnValue.toText(state.value) : "absent";
    }

    private static boolean isSeen(final Slot state, final Object output)
    {
        return state.present ? output != null && output.equals(state.value) : output == null || "".equals(output);
    }

    /** Writes if the condition holds; an answer of false says that it did not. */
    private static Slot conditional(
        final Slot state, final Operation operation, final boolean condition, final Object value)
    {
        if (operation.isOk() && Boolean.FALSE.equals(operation.output()) == condition)
        {
            return null;
        }
        return condition ? new Slot(true, value) : state;
    }

    private static Slot replace(final Slot state, final Operation operation)
    {
        final Object old = Values.ofPair(operation, operation.input(), 0);
        final boolean matches = state.present && Objects.equals(old, state.value);
        return conditional(state, operation, matches, Values.ofPair(operation, operation.input(), 1));
    }

    private static Slot delete(final Slot state, final Operation operation)
    {
        final boolean isTold = operation.isOk() && operation.output() instanceof Boolean;
        return isTold && state.present != (Boolean)operation.output() ? null : EMPTY;
    }

    private static Slot increment(final Slot state, final Operation operation)
    {
        final Object value = state.present ? state.value : Long.valueOf(0);
        if (!(value instanceof Long number))
        {
            // No whole number is there to be incremented: the operation cannot have succeeded.
            return operation.isOk() ? null : state;
        }
        final long result = number + Values.longOf(operation, operation.input());
        final boolean isTold = operation.isOk() && operation.output() != null;
        return isTold && !operation.output().equals(result) ? null : new Slot(true, result);
    }
}
