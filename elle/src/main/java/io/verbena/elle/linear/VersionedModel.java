package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A map from keys to values with versions; each key is an object of its own. While a key stays present, each write
 * gives it a greater version.
 *
 * <table>
 * <caption>Functions, their argument and their answers</caption>
 * <tr><td>get, read</td><td></td><td>[value version], or null if there is none</td></tr>
 * <tr><td>put, write</td><td>v</td><td>the new version, or null if it is not known</td></tr>
 * <tr><td>put-if-absent</td><td>v</td><td>the new version; null: stored, version unknown; false: there was a
 *     value; [false version]: which one</td></tr>
 * <tr><td>replace, cas</td><td>[version new]</td><td>the new version; null: stored, version unknown; false: there
 *     was another version or none; [false version]: which one (null: none)</td></tr>
 * <tr><td>put-if-present</td><td>v</td><td>the new version; null: stored, version unknown; false: there was no
 *     value</td></tr>
 * <tr><td>append</td><td>v</td><td>as put; strings grow by a string, anything else becomes a list</td></tr>
 * <tr><td>increment</td><td>n</td><td>[new version], or null if they are not known; a missing value counts as
 *     0</td></tr>
 * <tr><td>delete</td><td></td><td>true if there was a value, false if not, null if it is not known</td></tr>
 * <tr><td>delete-version</td><td>version</td><td>true; false or [false version] as with replace</td></tr>
 * <tr><td>exists</td><td></td><td>true or false</td></tr>
 * <tr><td>put-until, put-if-absent-until, put-if-present-until</td><td>[v deadline]</td><td>as without; a write that
 *     names no deadline leaves none, increment and append leave the one there is</td></tr>
 * <tr><td>replace-until</td><td>[version new deadline]</td><td>as replace</td></tr>
 * <tr><td>put-keep, put-if-present-keep, replace-keep</td><td>as without</td><td>the deadline stays</td></tr>
 * <tr><td>expire</td><td>[deadline or null, condition]</td><td>the new version; null: done, version unknown; false:
 *     there was no value; [false version]: the condition "if-none", "if-some", "later" or "earlier" did not hold; of
 *     "always" it does</td></tr>
 * <tr><td>get-until</td><td></td><td>[value version deadline], or null if there is none</td></tr>
 * <tr><td>elapse</td><td>deadline</td><td>time is up: who has that deadline is gone. An operation of the clock's, which
 *     begins when the first clock may say so, and ends when all do</td></tr>
 * </table>
 *
 * <p>A write of unknown outcome leaves a version that nobody knows. The model then goes on with "some version
 * greater than the last one" until an answer says which.
 */
final class VersionedModel implements Overwriting<VersionedCell>
{
    private static final Held NOTHING = new Held(false, null);
    private static final String UNTIL = "-until";
    private static final String KEEP = "-keep";

    private final String name;
    private final VersionedCell initial;

    private VersionedModel(final String name, final VersionedCell initial)
    {
        this.name = name;
        this.initial = initial;
    }

    /** A cell without its version. */
    private record Held(boolean present, Object value)
    {
    }

    /** The model of a map, empty at first. */
    static VersionedModel map()
    {
        return new VersionedModel("versioned-kv-map", VersionedCell.ABSENT);
    }

    /** The same of a register, which holds null at first, of a version nobody knows. */
    static VersionedModel register()
    {
        return new VersionedModel("versioned-register", VersionedCell.ABSENT.written(null, null));
    }

    @Override
    public String name()
    {
        return name;
    }

    @Override
    public Set<String> functions()
    {
        return Stream.of("get", "read", "put", "write", "put-if-absent", "put-if-present", "append", "increment",
            "replace", "cas", "delete", "delete-version", "exists", "get-until", "put-until", "put-if-absent-until",
            "put-if-present-until", "replace-until", "put-keep", "put-if-present-keep", "replace-keep", "expire",
            "elapse").collect(Collectors.toUnmodifiableSet());
    }

    /** The function without what it says of a deadline. */
    private static String plain(final Operation operation)
    {
        final String f = operation.f();
        return f.endsWith(UNTIL) ? f.substring(0, f.length() - UNTIL.length()) :
            f.endsWith(KEEP) ? f.substring(0, f.length() - KEEP.length()) : f;
    }

    /** What is written, of a function whose argument it is or begins with. */
    private static Object written(final Operation operation)
    {
        return operation.f().endsWith(UNTIL) ? Values.ofPair(operation, operation.input(), 0) : operation.input();
    }

    /** The state after a write, with the deadline that it leaves. */
    private static VersionedCell until(
        final VersionedCell before, final VersionedCell after, final Operation operation)
    {
        if (after == null || !after.present() || after == before || isReadOnlyNow(operation))
        {
            return after;
        }
        if (operation.f().endsWith(UNTIL))
        {
            final List<?> input = (List<?>)operation.input();
            return after.until((Long)input.getLast());
        }
        return operation.f().endsWith(KEEP) || operation.f().equals("append") || operation.f().equals("increment") ?
            after.until(before.deadline()) : after;
    }

    private static boolean isReadOnlyNow(final Operation operation)
    {
        return switch (plain(operation))
        {
            case "get", "read", "exists" -> true;
            default -> isRefused(operation);
        };
    }

    private static VersionedCell elapse(final VersionedCell state, final Operation operation)
    {
        return state.present() && operation.input().equals(state.deadline()) ? VersionedCell.ABSENT : state;
    }

    private static VersionedCell expire(final VersionedCell state, final Operation operation)
    {
        final Long deadline = (Long)Values.ofPair(operation, operation.input(), 0);
        final boolean isMet = state.present() &&
            isMet((String)Values.ofPair(operation, operation.input(), 1), state.deadline(), deadline);
        if (operation.isOk() && Boolean.FALSE.equals(operation.output()))
        {
            return state.present() ? null : state;
        }
        if (isRefused(operation))
        {
            return state.present() && !isMet ? having(state, operation) : null;
        }
        if (!isMet)
        {
            return operation.isOk() ? null : state;
        }
        final VersionedCell after = state.written(state.value(), newVersion(operation));
        return after == null ? null : after.until(deadline);
    }

    private static boolean isMet(final String condition, final Long before, final Long deadline)
    {
        final long end = before == null ? Long.MAX_VALUE : before;
        final long newEnd = deadline == null ? Long.MAX_VALUE : deadline;
        return switch (condition)
        {
            case "if-none" -> before == null;
            case "if-some" -> before != null;
            case "later" -> newEnd > end;
            case "earlier" -> newEnd < end;
            default -> true;
        };
    }

    @Override
    public VersionedCell initial()
    {
        return initial;
    }

    @Override
    public VersionedCell step(final VersionedCell state, final Operation operation)
    {
        return switch (operation.f())
        {
            case "elapse" -> elapse(state, operation);
            case "expire" -> expire(state, operation);
            default -> until(state, stepPlain(state, operation), operation);
        };
    }

    private static VersionedCell stepPlain(final VersionedCell state, final Operation operation)
    {
        return switch (plain(operation))
        {
            case "get", "read" -> operation.isOk() ? seen(state, operation) : state;
            case "exists" ->
                !operation.isOk() || Boolean.valueOf(state.present()).equals(operation.output()) ? state : null;
            case "put", "write" -> state.written(written(operation), newVersion(operation));
            case "put-if-absent" -> putIfAbsent(state, operation);
            case "put-if-present" -> putIfPresent(state, operation);
            case "append" -> state.written(
                Values.appended(state.present(), state.value(), operation.input()), newVersion(operation));
            case "increment" -> increment(state, operation);
            case "replace", "cas" -> replace(state, operation);
            case "delete" -> delete(state, operation);
            default -> deleteVersion(state, operation);
        };
    }

    @Override
    public boolean isReadOnly(final Operation operation)
    {
        return switch (plain(operation))
        {
            case "get", "read", "exists" -> true;
            case "put", "write", "append", "increment", "elapse" -> false;
            default -> isRefused(operation);
        };
    }

    @Override
    public Object holds(final VersionedCell state)
    {
        return new Held(state.present(), state.value());
    }

    @Override
    public Object needs(final Operation operation)
    {
        final Object output = operation.output();
        return switch (plain(operation))
        {
            case "get", "read" -> output == null ? NOTHING : new Held(true, Values.ofPair(operation, output, 0));
            case "exists", "delete" -> Boolean.FALSE.equals(output) ? NOTHING : null;
            case "put-if-absent" -> isReadOnly(operation) ? null : NOTHING;
            // Refused, put-if-present needs that nothing is there; but of an unseen one, any write before it matters.
            default -> null;
        };
    }

    @Override
    public Object makes(final Operation operation)
    {
        return switch (plain(operation))
        {
            case "put", "write", "put-if-absent", "put-if-present" -> new Held(true, written(operation));
            case "append", "expire" -> null;
            case "increment" -> operation.isOk() && operation.output() != null ?
                new Held(true, Values.ofPair(operation, operation.output(), 0)) : null;
            case "replace", "cas" -> new Held(true, Values.ofPair(operation, operation.input(), 1));
            default -> NOTHING;
        };
    }

    @Override
    public boolean canBecome(final Object from, final Object to)
    {
        return Values.canGrow(((Held)from).value, ((Held)to).value);
    }

    /** A write whose version is known is not: whether it may have that version depends on deletes before it. */
    @Override
    public boolean isIndifferent(final Operation operation)
    {
        // One that leaves a deadline is not: the clock may ask for it later.
        final boolean isWrite = operation.f().equals("put") || operation.f().equals("write");
        final boolean isAnswered = operation.isOk() && operation.output() instanceof Boolean;
        return isWrite && newVersion(operation) == null || operation.f().equals("delete") && !isAnswered;
    }

    @Override
    public String describe(final VersionedCell state)
    {
        return state.toString();
    }

    private static VersionedCell seen(final VersionedCell state, final Operation operation)
    {
        if (operation.output() == null)
        {
            return state.present() ? null : state;
        }
        final Object value = Values.ofPair(operation, operation.output(), 0);
        final long version = Values.longOf(operation, Values.ofPair(operation, operation.output(), 1));
        final boolean isAsTold = !operation.f().endsWith(UNTIL) ||
            Objects.equals(((List<?>)operation.output()).getLast(), state.deadline());
        return state.present() && isAsTold && Objects.equals(value, state.value()) ? state.having(version) : null;
    }

    private static VersionedCell putIfAbsent(final VersionedCell state, final Operation operation)
    {
        if (!operation.isOk())
        {
            return state.present() ? state : state.written(written(operation), null);
        }
        if (isRefused(operation))
        {
            return state.present() ? having(state, operation) : null;
        }
        return state.present() ? null : state.written(written(operation), newVersion(operation));
    }

    private static VersionedCell putIfPresent(final VersionedCell state, final Operation operation)
    {
        if (isRefused(operation))
        {
            return state.present() ? null : state;
        }
        if (!state.present())
        {
            return operation.isOk() ? null : state;
        }
        return state.written(written(operation), newVersion(operation));
    }

    private static VersionedCell increment(final VersionedCell state, final Operation operation)
    {
        final Object value = state.present() ? state.value() : Long.valueOf(0);
        if (!(value instanceof Long number))
        {
            // No whole number is there to be incremented: the operation cannot have succeeded.
            return operation.isOk() ? null : state;
        }
        final long result = number + Values.longOf(operation, operation.input());
        if (!operation.isOk() || operation.output() == null)
        {
            return state.written(result, null);
        }
        final Object returned = Values.ofPair(operation, operation.output(), 0);
        final long version = Values.longOf(operation, Values.ofPair(operation, operation.output(), 1));
        return returned.equals(result) ? state.written(result, version) : null;
    }

    private static VersionedCell replace(final VersionedCell state, final Operation operation)
    {
        final long expected = Values.longOf(operation, Values.ofPair(operation, operation.input(), 0));
        if (operation.isOk() && isRefused(operation))
        {
            return refused(state, operation, expected);
        }
        final VersionedCell matching = state.present() ? state.having(expected) : null;
        if (matching == null)
        {
            return operation.isOk() ? null : state;
        }
        return matching.written(Values.ofPair(operation, operation.input(), 1), newVersion(operation));
    }

    private static VersionedCell delete(final VersionedCell state, final Operation operation)
    {
        final boolean isTold = operation.isOk() && operation.output() instanceof Boolean;
        return isTold && state.present() != (Boolean)operation.output() ? null : VersionedCell.ABSENT;
    }

    private static VersionedCell deleteVersion(final VersionedCell state, final Operation operation)
    {
        final long expected = Values.longOf(operation, operation.input());
        if (operation.isOk() && isRefused(operation))
        {
            return refused(state, operation, expected);
        }
        final boolean matches = state.present() && state.having(expected) != null;
        if (matches)
        {
            return VersionedCell.ABSENT;
        }
        return operation.isOk() ? null : state;
    }

    /** The state after an answer "no, that is not the version". */
    private static VersionedCell refused(final VersionedCell state, final Operation operation, final long expected)
    {
        if (operation.output() instanceof List<?> list && list.get(1) == null)
        {
            return state.present() ? null : state;
        }
        if (operation.output() instanceof List<?> && !state.present())
        {
            return null;
        }
        final VersionedCell other = state.present() ? state.notHaving(expected) : state;
        return other == null ? null : having(other, operation);
    }

    /** The state with the version that a refusal returned, if any. */
    private static VersionedCell having(final VersionedCell state, final Operation operation)
    {
        if (operation.output() instanceof List<?> list)
        {
            return state.having(Values.longOf(operation, list.get(1)));
        }
        return state;
    }

    private static boolean isRefused(final Operation operation)
    {
        return operation.isOk() && (Boolean.FALSE.equals(operation.output()) ||
            operation.output() instanceof List<?> list && list.size() == 2 && Boolean.FALSE.equals(list.get(0)));
    }

    private static Long newVersion(final Operation operation)
    {
        return operation.isOk() && operation.output() != null ?
            (Long)Values.longOf(operation, operation.output()) : null;
    }
}
