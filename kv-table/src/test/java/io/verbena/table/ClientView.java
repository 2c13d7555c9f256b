package io.verbena.table;

import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
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

    /** Gives the request of an operation all that its kind takes besides its key. @return the request. */
    static TableRequest give(
        final TableRequest request, final int kind, final int operation, final long expectedVersion)
    {
        request.expectedVersion(expectedVersion).delta(delta(operation));
        if (OperationKind.takesValue(kind))
        {
            giveValue(request, kind, 100 + operation, false);
        }
        return request;
    }

    /** Gives a request its value: a word, of which two are appended; or digits, fewer than a word has bytes. */
    static void giveValue(final TableRequest request, final int kind, final long number, final boolean isInDigits)
    {
        if (isInDigits)
        {
            request.value(Long.toString(number).getBytes(StandardCharsets.US_ASCII));
        }
        else
        {
            request.value(
                MemorySegment.ofArray(new long[]{number, number}), 0, kind == OperationKind.APPEND ? 16 : 8);
        }
    }

    /** One word or digits, or a list: a first word if there is one, and what was appended, two words each time. */
    static Object value(final Operation op)
    {
        if (op.valueLength() < Long.BYTES)
        {
            final byte[] digits = new byte[op.valueLength()];
            op.copyValueTo(MemorySegment.ofArray(digits), 0);
            return Long.valueOf(new String(digits, StandardCharsets.US_ASCII));
        }
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
