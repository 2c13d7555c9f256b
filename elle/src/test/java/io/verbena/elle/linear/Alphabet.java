package io.verbena.elle.linear;

import io.verbena.elle.history.EventType;
import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The operations of which exhaustive tests build histories, one of each kind of call and answer.
 */
final class Alphabet
{
    private final List<Letter> letters = new ArrayList<>();

    private record Letter(String f, Object input, EventType outcome, Object output)
    {
    }

    int length()
    {
        return letters.size();
    }

    /** Adds a function with each of these answers, and with an unknown one. */
    Alphabet with(final String f, final Object input, final Object... outputs)
    {
        ok(f, input, outputs);
        letters.add(new Letter(f, input, EventType.INFO, null));
        return this;
    }

    /** Adds a function with each of these answers. */
    Alphabet ok(final String f, final Object input, final Object... outputs)
    {
        for (final Object output : outputs)
        {
            letters.add(new Letter(f, input, EventType.OK, output));
        }
        return this;
    }

    Operation operation(final int letter, final int id, final int call, final int end)
    {
        final Letter l = letters.get(letter);
        return new Operation(id, id, l.f, null, l.input, l.outcome, l.output, call, end, 0, 0, 0, 0);
    }

    static Alphabet register()
    {
        return new Alphabet()
            .ok("read", null, null, 1L, 2L)
            .with("write", 1L, new Object[]{null})
            .with("write", 2L, new Object[]{null});
    }

    static Alphabet casRegister()
    {
        return register()
            .with("cas", pair(1L, 2L), pair(1L, 2L), false)
            .with("cas", pair(2L, 1L), pair(2L, 1L), false)
            .with("cas", pair(null, 1L), null, false);
    }

    static Alphabet kvMap()
    {
        return new Alphabet()
            .ok("get", null, null, 1L, 2L)
            .ok("exists", null, true, false)
            .with("put", 1L, new Object[]{null})
            .with("put-if-absent", 2L, true, false)
            .with("put-if-present", 2L, true, false)
            .with("replace", pair(1L, 2L), true, false)
            .with("delete", null, true, false, null)
            .with("increment", 1L, 1L, 2L, null)
            .ok("append", 1L, new Object[]{null});
    }

    /** Texts and lists that grow, for which the last one has too few letters. */
    static Alphabet appends()
    {
        return new Alphabet()
            .ok("get", null, null, "", "a", "ab", "ba", List.of("c", 1L))
            .with("put", "a", new Object[]{null})
            .with("put", List.of("c"), new Object[]{null})
            .with("append", "a", new Object[]{null})
            .with("append", "b", new Object[]{null})
            .with("append", 1L, new Object[]{null})
            .ok("delete", null, true, false);
    }

    static Alphabet versionedKvMap()
    {
        return new Alphabet()
            .ok("get", null, null, pair(1L, 1L), pair(2L, 2L), pair(1L, 3L))
            .with("put", 1L, 1L, 3L, null)
            .with("put-if-absent", 2L, 2L, null, false, pair(false, 1L))
            .with("replace", pair(1L, 2L), 2L, null, false, pair(false, 3L), pair(false, null))
            .with("delete", null, true, false, null)
            .with("delete-version", 2L, true, false)
            .ok("exists", null, true, false);
    }

    /** The versioned operations whose new value depends on the old one. */
    static Alphabet versionedGrowth()
    {
        return new Alphabet()
            .ok("get", null, null, pair(1L, 1L), pair(2L, 2L), pair(List.of(1L, 1L), 2L))
            .with("put", 1L, 1L, null)
            .with("append", 1L, 2L, null)
            .with("increment", 1L, pair(1L, 1L), pair(2L, 2L), null)
            .with("put-if-present", 2L, 2L, null, false)
            .with("delete", null, true, false);
    }

    static Alphabet set()
    {
        return new Alphabet()
            .with("add", 1L, true, false)
            .with("add", 2L, new Object[]{null})
            .with("remove", 1L, true, false)
            .ok("contains", 1L, true, false)
            .ok("read", null, List.of(), List.of(1L), List.of(1L, 2L));
    }

    static Alphabet counter()
    {
        return new Alphabet()
            .ok("read", null, 0L, 1L, 2L, -1L)
            .with("add", 1L, new Object[]{null})
            .with("add", -1L, new Object[]{null})
            .with("add-and-get", 1L, 1L, 2L);
    }

    static Alphabet queue()
    {
        return new Alphabet()
            .with("enqueue", 1L, new Object[]{null})
            .with("enqueue", 2L, new Object[]{null})
            .with("dequeue", null, 1L, 2L, null);
    }

    static Alphabet mutex()
    {
        return new Alphabet()
            .with("acquire", null, new Object[]{null})
            .with("release", null, new Object[]{null});
    }

    static List<Object> pair(final Object a, final Object b)
    {
        return Arrays.asList(a, b);
    }
}
