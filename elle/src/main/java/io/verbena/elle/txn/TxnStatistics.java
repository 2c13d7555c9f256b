package io.verbena.elle.txn;

/**
 * Sizes of a check of transactions.
 *
 * @param transactions   all, also failed ones.
 * @param committed      those that certainly happened.
 * @param unknown        those of unknown outcome.
 * @param keys           distinct keys.
 * @param edges          edges of the dependency graph; several reasons for the same pair count once.
 * @param components     strongly connected components of more than one transaction.
 * @param largestComponent transactions in the largest of them; 0 if there is none.
 */
public record TxnStatistics(
    int transactions,
    int committed,
    int unknown,
    int keys,
    int edges,
    int components,
    int largestComponent)
{
}
