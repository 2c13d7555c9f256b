package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.policy.Demand;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Forms the demand between two times from what nodes have counted until each. A node that is seen for the first time
 * reports nothing yet. Used by one thread.
 */
final class DemandMeter
{
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);
    private static final double PERCENTILE = 0.99;

    private final Map<String, DemandSample> last = new HashMap<>();

    /** What comes next counts from these samples on. */
    void begin(final List<DemandSample> samples)
    {
        last.clear();
        samples.forEach((sample) -> last.put(sample.node(), sample));
    }

    /** @return the demand since the samples before, of all nodes that gave some then, too. */
    Demand measure(final List<DemandSample> samples)
    {
        int reporting = 0;
        double use = 0;
        double perSecond = 0;
        double processors = 0;
        final Counts waits = new Counts();
        final Counts responses = new Counts();
        for (final DemandSample now : samples)
        {
            final DemandSample before = last.get(now.node());
            if (null == before || now.timeNs() - before.timeNs() <= 0)
            {
                continue;
            }
            final double elapsedNs = now.timeNs() - before.timeNs();
            reporting++;
            use += Math.max(share(now.busyNs() - before.busyNs(), elapsedNs),
                share(now.slotNs() - before.slotNs(), elapsedNs * Math.max(1, now.slots())));
            perSecond += Math.max(0, now.operations() - before.operations()) * NS_PER_S / elapsedNs;
            processors += before.processorNs() < 0 ? 0 :
                Math.max(0, now.processorNs() - before.processorNs()) / elapsedNs;
            waits.add(before.waitCounts(), now.waitCounts());
            responses.add(before.responseCounts(), now.responseCounts());
        }
        begin(samples);
        return new Demand(reporting, use, perSecond, responses.us(PERCENTILE), waits.us(PERCENTILE), processors);
    }

    private static double share(final long partNs, final double wholeNs)
    {
        return Math.clamp(partNs / wholeNs, 0.0, 1.0);
    }

    /** A histogram with the bounds 1 us, 2 us, 4 us and so on. */
    private static final class Counts
    {
        private final Map<Integer, Long> byBucket = new HashMap<>();
        private long total;
        private int buckets;

        void add(final List<?> before, final List<?> now)
        {
            for (int i = 0; i < Math.min(before.size(), now.size()); i++)
            {
                final long count = Math.max(0, ((Number)now.get(i)).longValue() - ((Number)before.get(i)).longValue());
                byBucket.merge(i, count, Long::sum);
                total += count;
            }
            buckets = Math.max(buckets, now.size());
        }

        /** The quantile in microseconds, spread evenly within its bucket; 0 when nothing was counted. */
        double us(final double part)
        {
            final double rank = part * total;
            double below = 0;
            for (int i = 0; i < buckets; i++)
            {
                final long count = byBucket.getOrDefault(i, 0L);
                if (count > 0 && below + count >= rank)
                {
                    final double lower = 0 == i ? 0 : Math.scalb(1.0, i - 1);
                    return lower + (Math.scalb(1.0, i) - lower) * (rank - below) / count;
                }
                below += count;
            }
            return 0;
        }
    }
}
