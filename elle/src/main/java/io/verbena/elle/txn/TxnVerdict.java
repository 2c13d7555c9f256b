package io.verbena.elle.txn;

import io.verbena.elle.Validity;
import io.verbena.elle.history.History;
import io.verbena.elle.txn.isolation.AnomalyType;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What was found in a history of transactions.
 *
 * @param history            what was checked.
 * @param workload           what its transactions do.
 * @param expected           the model asked for.
 * @param validity           {@code INVALID} if something was found that the model forbids, {@code UNKNOWN} if something
 *                           of {@link #unknownReasons()} kept the check from saying more, else {@code VALID}.
 * @param anomalies          examples of everything found, also of what the expected model allows; worst types first.
 * @param counts             how many of each type were found, for cycles: how many components of the graph hold one.
 * @param ruledOut           the weakest models that the history violates.
 * @param alsoRuledOut       the stronger ones, which are therefore violated as well.
 * @param strongestRemaining the strongest models that nothing found speaks against.
 * @param unknownReasons     what kept the check from being complete, as text; empty if nothing did.
 * @param statistics         sizes of what was looked at.
 */
public record TxnVerdict(
    History history,
    TxnWorkload workload,
    ConsistencyModel expected,
    Validity validity,
    List<Anomaly> anomalies,
    Map<AnomalyType, Integer> counts,
    Set<ConsistencyModel> ruledOut,
    Set<ConsistencyModel> alsoRuledOut,
    Set<ConsistencyModel> strongestRemaining,
    List<String> unknownReasons,
    TxnStatistics statistics)
{
    /**
     * Whether the history violates a model.
     *
     * @param model any.
     * @return true if the model is ruled out; false says nothing if the verdict is unknown.
     */
    public boolean rulesOut(final ConsistencyModel model)
    {
        return ruledOut.contains(model) || alsoRuledOut.contains(model);
    }

    @Override
    public String toString()
    {
        return "TxnVerdict{" + validity.word() + " expected=" + expected + " found=" + counts + " ruledOut=" +
            ruledOut + " strongestRemaining=" + strongestRemaining + "}";
    }
}
