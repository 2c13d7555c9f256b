package io.verbena.server;

import io.verbena.compute.figures.GrowthFigures;
import io.verbena.compute.figures.NodeCounters;
import io.verbena.compute.figures.OperationFigures;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.compute.figures.TableFill;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;
import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.OperationKind;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What a compute node has counted, as values of metrics. Stateless. */
final class ComputeMeasurements
{
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);
    private static final double[] BOUNDS_S = boundsS();
    private static final String SPLIT = "split";
    private static final String MERGE = "merge";

    private ComputeMeasurements()
    {
    }

    private static double[] boundsS()
    {
        final double[] bounds = new double[OperationFigures.BOUND_COUNT + 1];
        for (int i = 0; i < OperationFigures.BOUND_COUNT; i++)
        {
            bounds[i] = OperationFigures.boundNs(i) / NS_PER_S;
        }
        bounds[OperationFigures.BOUND_COUNT] = Double.POSITIVE_INFINITY;
        return bounds;
    }

    /** Kinds that were never asked for, and answers that were never given, are left out. */
    static void measure(final OperationFigures figures, final Measurements measurements)
    {
        for (final RequestKind kind : RequestKind.values())
        {
            final String name = name(kind);
            boolean isAnswered = false;
            for (final OperationAnswer answer : OperationAnswer.values())
            {
                final long count = figures.count(kind, answer);
                if (count > 0)
                {
                    measurements.set(Metric.OPERATIONS, count, name, name(answer));
                    isAnswered = true;
                }
            }
            if (isAnswered)
            {
                measureDurations(figures, kind, measurements);
            }
        }
    }

    private static void measureDurations(
        final OperationFigures figures, final RequestKind kind, final Measurements measurements)
    {
        final long[] counts = new long[BOUNDS_S.length];
        for (int i = 0; i < counts.length; i++)
        {
            counts[i] = figures.durationCount(kind, i);
        }
        measurements.setHistogram(
            Metric.OPERATION_DURATION, BOUNDS_S, counts, figures.totalNs(kind) / NS_PER_S, name(kind));
    }

    static void measure(
        final Metric metric, final long[] counts, final long totalNs, final Measurements measurements)
    {
        measurements.setHistogram(metric, BOUNDS_S, counts, totalNs / NS_PER_S);
    }

    private static String name(final Enum<?> value)
    {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** @param counted null while nothing is known. */
    static void put(final SpaceFigures counted, final Map<String, Object> figures)
    {
        if (null != counted)
        {
            figures.put("held_bytes", counted.heldBytes());
            figures.put("unknown_bytes", counted.unknownBytes());
            figures.put("reclaiming", counted.isReclaiming());
            figures.put("sweeps_asked", counted.sweepsAsked());
            figures.put("sweeps_ended", counted.sweepsEnded());
        }
    }

    /** @param figures null while nothing is known. */
    static void measure(final SpaceFigures figures, final Measurements measurements)
    {
        if (null != figures)
        {
            measurements.set(Metric.HELD, figures.heldBytes());
            measurements.set(Metric.WAITING, figures.waitingBytes());
            measurements.set(Metric.UNKNOWN, figures.unknownBytes());
            measurements.set(Metric.SWEEPS, figures.sweepsAsked(), "asked");
            measurements.set(Metric.SWEEPS, figures.sweepsEnded(), "ended");
        }
    }

    private static void measure(final GrowthFigures growth, final Measurements measurements)
    {
        measurements.set(Metric.GROWTH, growth.splits(), SPLIT);
        measurements.set(Metric.GROWTH, growth.merges(), MERGE);
        measurements.set(Metric.GROWTH_UNDER_WAY, growth.splitsUnderWay(), SPLIT);
        measurements.set(Metric.GROWTH_UNDER_WAY, growth.mergesUnderWay(), MERGE);
        measurements.set(Metric.GROWTH_WAITING, growth.waiting(), "turn");
        measurements.set(Metric.GROWTH_WAITING, growth.unpublished(), "publication");
        for (final TableFill table : growth.tables())
        {
            measurements.set(Metric.TABLE_FILL, table.fill(), table.table());
            measurements.set(Metric.TABLE_SUBTABLES, table.subtables(), table.table());
        }
    }

    static void measure(final NodeCounters counters, final Measurements measurements)
    {
        measure(counters.verbs(), measurements);
        measure(counters.growth(), measurements);
        final EngineCounters engine = counters.engine();
        for (int kind = 0; kind < OperationKind.COUNT; kind++)
        {
            if (engine.operations[kind] > 0)
            {
                measurements.set(Metric.ROUND_TRIPS, engine.roundTrips[kind], OperationKind.name(kind));
            }
        }
        measurements.set(Metric.RETRIES, engine.retries, "other_operation");
        measurements.set(Metric.RETRIES, engine.lostSwaps, "lost_swap");
        measurements.set(Metric.RETRIES, engine.withdrawals, "withdrawn_insert");
        measurements.set(Metric.RETRIES, engine.splitsFollowed, "split");
        measurements.set(Metric.RETRIES, engine.falseMatches, "false_match");
        measurements.set(Metric.RETRIES, engine.checksumMismatches, "checksum");
        measurements.set(Metric.COMBINED_WRITES, engine.combined);
        measurements.set(Metric.EXPIRED_RECORDS, engine.expiredRemoved);
        measurements.set(Metric.EXPIRY_SWEPT, engine.expiredSwept);
        measurements.set(Metric.EXPIRY_SWEEP_READS, engine.sweepReads);
        measurements.set(Metric.EXPIRY_SWEEP_RANGES, engine.sweepRanges, "swept");
        measurements.set(Metric.EXPIRY_SWEEP_RANGES, engine.sweepRangesLeft, "left");
        measurements.set(Metric.EXPIRY_SWEEP_DAMAGED, engine.sweepDamaged);
        measurements.set(Metric.CACHE_LOOKUPS, engine.cacheHits, "hit");
        measurements.set(Metric.CACHE_LOOKUPS, engine.cacheStale, "stale");
        measurements.set(Metric.CACHE_LOOKUPS, engine.cacheBypasses, "bypass");
        measurements.set(Metric.CACHE_LOOKUPS, engine.cacheHints, "hint");
    }

    private static void measure(final VerbCounters verbs, final Measurements measurements)
    {
        measurements.set(Metric.VERBS, verbs.reads, "read");
        measurements.set(Metric.VERBS, verbs.writes, "write");
        measurements.set(Metric.VERBS, verbs.compareSwaps, "compare_swap");
        measurements.set(Metric.VERBS, verbs.fetchAdds, "fetch_add");
        measurements.set(Metric.VERBS, verbs.sends, "send");
        measurements.set(Metric.VERBS, verbs.localOperations, "local");
        measurements.set(Metric.DOORBELLS, verbs.doorbells);
        measurements.set(Metric.PAYLOAD, verbs.payloadBytes);
    }
}
