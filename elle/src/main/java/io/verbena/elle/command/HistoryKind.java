package io.verbena.elle.command;

import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryException;
import io.verbena.elle.history.Keyword;
import io.verbena.elle.history.Operation;
import io.verbena.elle.linear.Model;
import io.verbena.elle.linear.Models;
import io.verbena.elle.txn.TxnWorkload;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Guesses what a history is one of, when the user does not say.
 */
final class HistoryKind
{
    private HistoryKind()
    {
    }

    /** The first model that knows all functions of the history. */
    static Model<?> modelOf(final History history)
    {
        final Set<String> functions = new TreeSet<>();
        history.operations().forEach(operation -> functions.add(operation.f()));
        for (final Model<?> model : Models.all())
        {
            if (!model.name().startsWith("versioned") && model.functions().containsAll(functions))
            {
                return model;
            }
        }
        throw new HistoryException(history.source(), 0, "no model knows all functions of the history (" +
            String.join(", ", functions) + "): say which one with --model, or --workload for transactions");
    }

    /** The workload if all operations are lists of micro-operations, else null. */
    static TxnWorkload workloadOf(final History history)
    {
        TxnWorkload workload = null;
        for (final Operation operation : history.operations())
        {
            if (!(operation.input() instanceof List<?> micros))
            {
                return null;
            }
            for (final Object micro : micros)
            {
                final String name = micro instanceof List<?> parts && parts.size() == 3 ?
                    Keyword.nameOf(parts.getFirst()) : null;
                switch (name)
                {
                    case "append" -> workload = TxnWorkload.LIST_APPEND;
                    case "w" -> workload = TxnWorkload.RW_REGISTER;
                    case "r" -> workload = workload == null ? TxnWorkload.RW_REGISTER : workload;
                    case null, default ->
                    {
                        return null;
                    }
                }
            }
        }
        return workload;
    }
}
