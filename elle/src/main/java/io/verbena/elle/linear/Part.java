package io.verbena.elle.linear;

import io.verbena.elle.history.EventType;
import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The operations of one object as arrays, in call order, ready to be searched.
 *
 * <p>A <em>required</em> operation must be in the order; an <em>optional</em> one may be. Operations with the same
 * signature do the same in every state.
 */
final class Part
{
    final int length;
    final int[] call;
    /** Position before which the operation happened; {@link Operation#NEVER} if it is optional. */
    final int[] end;
    final int[] signature;
    final boolean[] readOnly;
    final List<Operation> operations;
    /** One operation of each signature, to be shown to the model. */
    final List<Operation> samples = new ArrayList<>();
    final int requiredCount;

    private Part(final Model<?> model, final List<Operation> chosen)
    {
        length = chosen.size();
        operations = chosen;
        call = new int[length];
        end = new int[length];
        signature = new int[length];
        readOnly = new boolean[length];
        final Map<Signature, Integer> numbers = new HashMap<>();
        int required = 0;
        for (int i = 0; i < length; i++)
        {
            final Operation operation = chosen.get(i);
            call[i] = operation.callPosition();
            end[i] = operation.endPosition();
            signature[i] = numberOf(operation, numbers);
            readOnly[i] = model.isReadOnly(operation);
            required += end[i] == Operation.NEVER ? 0 : 1;
        }
        requiredCount = required;
    }

    /**
     * Prepares the operations of one object.
     *
     * @param operations in call order; failed ones are left out, and those of unknown outcome that cannot matter.
     */
    static Part of(final Model<?> model, final List<Operation> operations)
    {
        final List<Operation> chosen = new ArrayList<>(operations.size());
        for (final Operation operation : operations)
        {
            if (operation.isOk())
            {
                chosen.add(operation);
            }
            else if (operation.isInfo() && !model.isReadOnly(operation))
            {
                chosen.add(unseen(operation));
            }
        }
        return new Part(model, model instanceof Overwriting<?> overwriting ?
            UnseenWrites.remove(overwriting, chosen) : chosen);
    }

    /** The part as it was just before a position: of what was open then nobody saw the end, what came later is gone. */
    Part before(final Model<?> model, final int position)
    {
        final List<Operation> past = new ArrayList<>();
        for (final Operation operation : operations)
        {
            if (operation.callPosition() < position)
            {
                past.add(operation.endPosition() < position ? operation : unseen(operation));
            }
        }
        return of(model, past);
    }

    boolean isRequired(final int i)
    {
        return end[i] != Operation.NEVER;
    }

    private int numberOf(final Operation operation, final Map<Signature, Integer> numbers)
    {
        final Signature key = new Signature(operation.f(), operation.key(), operation.input(), operation.isOk(),
            operation.isOk() ? operation.output() : null);
        final Integer known = numbers.putIfAbsent(key, samples.size());
        if (known != null)
        {
            return known;
        }
        samples.add(operation);
        return samples.size() - 1;
    }

    /** The operation as one whose end nobody saw. */
    static Operation unseen(final Operation o)
    {
        return new Operation(o.id(), o.process(), o.f(), o.key(), o.input(), EventType.INFO, null,
            o.callPosition(), Operation.NEVER, o.callTimeNs(), o.endTimeNs(), o.callLine(), o.endLine());
    }

    private record Signature(String f, Object key, Object input, boolean isOk, Object output)
    {
    }

    /** The ids of operations, given by their places in this part, in this order. */
    int[] ids(final int[] order)
    {
        final int[] ids = new int[order.length];
        for (int i = 0; i < order.length; i++)
        {
            ids[i] = operations.get(order[i]).id();
        }
        return ids;
    }
}
