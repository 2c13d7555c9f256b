package io.verbena.rdma.sim.schedule;

import org.agrona.collections.LongArrayList;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Runs something twice and holds it to do the same again, since a seed that does not repeat its run is worth little.
 * What it does is every step of every world or fabric that the calling thread makes meanwhile, in the order in which
 * they are made, and what it throws. One thread.
 */
public final class SimRepetition
{
    private static final ScopedValue<SimRepetition> CURRENT = ScopedValue.newInstance();

    /** Hears the steps of one fabric. */
    final class Steps
    {
        private final int number;
        private final long seed;
        private final LongArrayList hashes;
        private int count;

        private Steps(final int number, final long seed, final LongArrayList hashes)
        {
            this.number = number;
            this.seed = seed;
            this.hashes = hashes;
        }

        public void add(final long hash, final Supplier<String> recentSteps)
        {
            final int step = count++;
            if (!isAgain)
            {
                hashes.addLong(hash);
            }
            else if (difference == null && (step >= hashes.size() || hashes.getLong(step) != hash))
            {
                difference = "seed " + seed + " does not repeat its run: world " + number + " differs by step " + step +
                    ", or in what the step before it moved; steps of the second run up to there:" +
                    recentSteps.get();
            }
        }
    }

    private final List<LongArrayList> before = new ArrayList<>();
    private final List<Steps> again = new ArrayList<>();
    private int begun;
    private boolean isAgain;
    private String difference;

    private SimRepetition()
    {
    }

    /**
     * Runs it twice. What it throws both times is thrown no further, so that runs can be looked at which are to fail.
     *
     * @param run makes its worlds itself, by seeds that are the same both times.
     * @throws SimFailureException where the second run differs from the first one.
     */
    public static void check(final Runnable run)
    {
        final SimRepetition repetition = new SimRepetition();
        final String thrown = repetition.run(run);
        repetition.isAgain = true;
        final String thrownAgain = repetition.run(run);
        repetition.compareEnds(thrown, thrownAgain);
    }

    /**
     * Runs it once; to compare runs in several processes.
     *
     * @param run makes its worlds itself.
     * @return hash over the steps of all its worlds, and over what it throws, which is thrown no further.
     */
    public static long digest(final Runnable run)
    {
        final SimRepetition repetition = new SimRepetition();
        final String thrown = repetition.run(run);
        long digest = thrown == null ? 0 : thrown.hashCode();
        for (final LongArrayList hashes : repetition.before)
        {
            digest = SplitMix.mix(digest ^ (hashes.isEmpty() ? 0 : hashes.getLong(hashes.size() - 1)));
        }
        return digest;
    }

    /** Null when nobody looks. */
    static Steps steps(final long seed)
    {
        return CURRENT.isBound() ? CURRENT.get().begin(seed) : null;
    }

    private Steps begin(final long seed)
    {
        if (!isAgain)
        {
            before.add(new LongArrayList());
            return new Steps(before.size(), seed, before.getLast());
        }
        final int number = begun++;
        final Steps steps =
            new Steps(number + 1, seed, number < before.size() ? before.get(number) : new LongArrayList());
        again.add(steps);
        return steps;
    }

    private String run(final Runnable run)
    {
        try
        {
            ScopedValue.where(CURRENT, this).run(run);
            return null;
        }
        catch (final RuntimeException | AssertionError ex)
        {
            return ex.toString();
        }
    }

    private void compareEnds(final String thrown, final String thrownAgain)
    {
        for (final Steps steps : again)
        {
            if (difference == null && steps.count < steps.hashes.size())
            {
                difference = "seed " + steps.seed + " does not repeat its run: world " + steps.number + " ends after " +
                    steps.count + " steps, and ended after " + steps.hashes.size();
            }
        }
        if (difference == null && begun != before.size())
        {
            difference = "there were " + before.size() + " worlds, and the second time " + begun;
        }
        if (difference != null || !Objects.equals(thrown, thrownAgain))
        {
            throw new SimFailureException((difference == null ? "equal steps end differently" : difference) +
                "\nfirst thrown: " + thrown + "\nthen thrown: " + thrownAgain, null);
        }
    }
}
