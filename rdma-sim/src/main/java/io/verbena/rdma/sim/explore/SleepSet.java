package io.verbena.rdma.sim.explore;

import org.agrona.collections.Long2LongHashMap;

import java.util.HashMap;
import java.util.Map;

/**
 * Of orders of steps that differ only in the order of steps that commute, one is enough: they lead to the same state. A
 * step <em>sleeps</em> in a state when it was taken before in a state on the way here, and commutes with every step
 * taken since: whatever begins with it here was run from there, with those steps behind it. What sleeps is not taken.
 * So each state is still met, by fewer ways: nothing that a verdict or an invariant sees gets lost (sleep sets: P.
 * Godefroid, <em>Partial-Order Methods for the Verification of Concurrent Systems</em>, 1996, chapter 5).
 *
 * <p>Whether two steps commute is asked in the state in which one of them is taken ({@link SimExploration#commute}):
 * accesses of different actors to memory of a device without one, which do not overlap, or of which none writes; and
 * timers and crashes of one actor with accesses of another. Crashes share a budget and do not commute with each other.
 * What an actor does by itself after its step touches nothing of others ({@link SimActor#isOnItsOwn()}).
 *
 * <p>A state is reached again with another set of sleeping steps. It is enough then to take those that slept at all
 * times before and are awake now; from then on those sleep there that slept each time. With a bound on steps this is
 * not used: a state has to be explored again when it is reached earlier.
 *
 * <p>Steps are numbered by who does what; sets are bits of a long. What has a number of 62 or more never sleeps.
 */
final class SleepSet
{
    static final long NONE = 0;
    private static final long NEVER_MET = 1L << 63;
    private static final int MOST = 62;

    private final Map<Long, Integer> numbers = new HashMap<>();
    private final Long2LongHashMap asleep = new Long2LongHashMap(NEVER_MET);

    /** The number of a step. */
    int number(final long identity)
    {
        return numbers.computeIfAbsent(identity, one -> numbers.size());
    }

    /** The step as a set; empty when it never sleeps. */
    long set(final long identity)
    {
        final int number = number(identity);
        return number < MOST ? 1L << number : NONE;
    }

    /** Different states met. */
    int states()
    {
        return asleep.size();
    }

    boolean isMet(final long state)
    {
        return asleep.containsKey(state);
    }

    /**
     * Meets a state.
     *
     * @param now what sleeps there by the way it was met.
     * @return what slept there each time so far, this time too; it sleeps from now on.
     */
    long meet(final long state, final long now)
    {
        final long before = asleep.get(state);
        final long always = before == NEVER_MET ? now : before & now;
        asleep.put(state, always);
        return always;
    }

    /** What sleeps in a state each time that it was met. */
    long asleep(final long state)
    {
        return asleep.get(state);
    }
}
