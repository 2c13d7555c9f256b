package io.verbena.elle.txn;

import io.verbena.elle.txn.isolation.AnomalyType;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Counts what was found, and keeps a few of each type as text. */
final class Findings
{
    private final int maxExamples;
    private final Map<AnomalyType, Integer> counts = new EnumMap<>(AnomalyType.class);
    private final Map<AnomalyType, List<Anomaly>> examples = new EnumMap<>(AnomalyType.class);

    Findings(final int maxExamples)
    {
        this.maxExamples = maxExamples;
    }

    /** Counts an anomaly; the words are only made if they are kept. */
    void add(final AnomalyType type, final Supplier<Anomaly> words)
    {
        counts.merge(type, 1, Integer::sum);
        final List<Anomaly> kept = examples.computeIfAbsent(type, ignored -> new ArrayList<>());
        if (kept.size() < maxExamples)
        {
            kept.add(words.get());
        }
    }

    Map<AnomalyType, Integer> counts()
    {
        return counts;
    }

    /** The worst first. */
    List<Anomaly> examples()
    {
        return List.copyOf(examples.values()).reversed().stream().flatMap(List::stream).toList();
    }
}
