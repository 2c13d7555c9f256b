package io.verbena.elle.txn;

import io.verbena.elle.txn.isolation.AnomalyType;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Finds lost updates: several committed transactions that read the same version of a key and then wrote the key. None
 * but the last can have been built upon. Needs no order of versions, so it finds what cycles do not show.
 */
final class LostUpdates
{
    private LostUpdates()
    {
    }

    static void find(final Transactions transactions, final Footprint footprint, final Findings findings)
    {
        final Readers updaters = Readers.of(transactions, footprint::isUpdate);
        for (int version = 0; version < transactions.versionCount(); version++)
        {
            final int key = transactions.keyOfVersion(version);
            check(updaters.ofVersion(version), transactions, key, transactions.valueOfVersion(version), findings);
        }
        for (int key = 0; key < transactions.keyCount(); key++)
        {
            check(updaters.ofInitial(key), transactions, key, null, findings);
        }
    }

    private static void check(
        final int[] txns,
        final Transactions transactions,
        final int key,
        final Object value,
        final Findings findings)
    {
        if (txns.length > 1)
        {
            findings.add(AnomalyType.LOST_UPDATE, () -> Anomaly.of(
                AnomalyType.LOST_UPDATE,
                Arrays.stream(txns).boxed().toList(),
                Arrays.stream(txns).mapToObj(Words::txn).collect(Collectors.joining(" and ")) + " each read key " +
                    Words.value(transactions.keyName(key)) +
                    (value == null ? " before anything was written to it" : " as of the write of " +
                        Words.value(value)) + " and then wrote it, so one of the updates took no notice of the other"));
        }
    }
}
