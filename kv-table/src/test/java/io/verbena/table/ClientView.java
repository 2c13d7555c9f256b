package io.verbena.table;

import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** What the clients of a {@link TableScenario} ask and see, in the words of the checker's models. */
final class ClientView
{
    /** All but EXPIRE, whose steps are those of APPEND; it is explored with records that expire. */
    static final int KINDS_WITHOUT_EXPIRE = OperationKind.EXPIRE;

    private ClientView()
    {
    }

    /** One word, or a list: a first word if there is one, and what was appended, which is two words each time. */
    static Object value(final Operation op)
    {
        final long[] words = new long[op.valueLength() / Long.BYTES];
        op.copyValueTo(MemorySegment.ofArray(words), 0);
        if (words.length == 1)
        {
            return words[0];
        }
        final List<Object> list = new ArrayList<>();
        for (int i = words.length - 1; i >= 0; i -= 2)
        {
            list.addFirst(words[i]);
        }
        return list;
    }

    /** @return name of a kind in histories. */
    static String function(final int kind)
    {
        return List.of("get", "exists", "put", "put-if-absent", "replace", "delete", "delete-version", "increment",
            "append", "put-if-present", "expire").get(kind);
    }

    /** Each sum of some of them tells which. */
    static long delta(final int operation)
    {
        return 1000L << operation;
    }
}
