package io.verbena.elle.command;

import io.verbena.elle.linear.Model;
import io.verbena.elle.linear.Models;
import io.verbena.elle.txn.TxnWorkload;
import io.verbena.elle.txn.isolation.ConsistencyModel;

/**
 * What to check a history for.
 *
 * @param model       model of linearizability, or null.
 * @param workload    workload of transactions, or null; at most one of the two is given, and if none is, the functions
 *                    of the history decide.
 * @param consistency what transactions are held against.
 * @param timeoutNs   bound of each check, from 1.
 */
public record CheckRequest(Model<?> model, TxnWorkload workload, ConsistencyModel consistency, long timeoutNs)
{
    /**
     * Checks the combination.
     *
     * @param model       model of linearizability, or null.
     * @param workload    workload of transactions, or null.
     * @param consistency what transactions are held against.
     * @param timeoutNs   bound of each check.
     */
    public CheckRequest
    {
        if (model != null && workload != null)
        {
            throw new IllegalArgumentException("a history is checked against a model or a workload, not both");
        }
        if (timeoutNs < 1)
        {
            throw new IllegalArgumentException("the time bound must be positive");
        }
    }

    /**
     * Makes a request of words, as a command line has them.
     *
     * @param model       name of a model, or null.
     * @param workload    name of a workload, or null.
     * @param consistency name of a consistency model, or null for strict-serializable.
     * @param timeoutNs   bound of each check.
     * @return the request.
     * @throws IllegalArgumentException if a name is unknown or two do not go together; names those that exist.
     */
    public static CheckRequest ofWords(
        final String model, final String workload, final String consistency, final long timeoutNs)
    {
        if (consistency != null && model != null && !consistency.equals("linearizable"))
        {
            throw new IllegalArgumentException("consistency " + consistency + " is one of transactions; a model is " +
                "checked for linearizability");
        }
        final ConsistencyModel wanted = consistency == null || consistency.equals("linearizable") ?
            ConsistencyModel.STRICT_SERIALIZABLE : ConsistencyModel.ofWord(consistency);
        return new CheckRequest(model == null ? null : Models.byName(model),
            workload == null ? null : TxnWorkload.ofWord(workload), wanted, timeoutNs);
    }
}
