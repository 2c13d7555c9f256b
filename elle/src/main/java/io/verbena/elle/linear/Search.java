package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

import java.util.Arrays;

/**
 * Looks for an order of one object's operations: depth first, one operation at a time (Wing and Gong), never twice from
 * the same set of operations and state (Lowe).
 *
 * <p>An operation may be next if it was called before the first completion among the required operations not yet in the
 * order; that first completion is the <em>limit</em>. Choices that cannot help are left out:
 * <ol>
 * <li>A read that fits is taken at once and without alternative ({@link Model#isReadOnly}): moving it here from its
 *     place in any solution leaves a solution.</li>
 * <li>Of several operations of the same signature only the one that must be over first is tried: in a solution that
 *     takes another one first, the two can change places. Optional ones are never over, so they go by call.</li>
 * <li>An optional operation that changes nothing is not tried.</li>
 * <li>What another operation still needs and none can make again is not overwritten ({@link Leftovers}).</li>
 * <li>If what the first operation to be over that needs something needs is not there, and nothing called before its
 *     end can make it, it is too late.</li>
 * </ol>
 */
final class Search
{
    /** How a search ends. */
    enum Result
    {
        FOUND, IMPOSSIBLE, OUT_OF_TIME, OUT_OF_MEMORY, OUT_OF_STEPS
    }

    private static final int TIME_CHECK_MASK = (1 << 10) - 1;
    private static final int NONE = -1;

    private final Part part;
    private final StateSpace<?> space;
    private final Leftovers leftovers;
    private final StateSet seen;
    private final Budget budget;
    private final long maxSteps;

    /** Two circular lists of operations not in the order: required ones from {@code length}, optional from +1. */
    private final int[] next;
    private final int[] previous;
    private final int required;
    private final int optional;
    /** The optional operation of the same signature called before, or {@link #NONE}. */
    private final int[] twin;
    private final boolean[] taken;

    private final int[] order;
    private final int[] statesBefore;
    private final boolean[] forced;
    private int depth;
    private int requiredLeft;
    private int state;
    private long hashHigh;
    private long hashLow;
    private int limit;
    private long steps;

    Search(final Part part, final StateSpace<?> space, final StateSet seen, final Budget budget, final long maxSteps)
    {
        this.part = part;
        this.space = space;
        this.leftovers = space.leftovers();
        this.seen = seen;
        this.budget = budget;
        this.maxSteps = maxSteps;
        final int length = part.length;
        required = length;
        optional = length + 1;
        next = new int[length + 2];
        previous = new int[length + 2];
        twin = new int[length];
        taken = new boolean[length];
        order = new int[length];
        statesBefore = new int[length];
        forced = new boolean[length];
        requiredLeft = part.requiredCount;
        state = space.initial();
        linkAll();
    }

    Result run()
    {
        if (leftovers.isHopeless(space.held(state)))
        {
            return Result.IMPOSSIBLE;
        }
        int from = NONE;
        while (requiredLeft > 0)
        {
            if ((++steps & TIME_CHECK_MASK) == 0 && budget.isTimeUp())
            {
                return Result.OUT_OF_TIME;
            }
            if (steps > maxSteps)
            {
                return Result.OUT_OF_STEPS;
            }
            limit = firstEnd();
            int choice = NONE;
            if (from == NONE)
            {
                takeReads();
                if (requiredLeft == 0)
                {
                    break;
                }
                if (!seen.makeRoom() || space.isFull())
                {
                    return Result.OUT_OF_MEMORY;
                }
                if (isNew() && !isStuck())
                {
                    choice = choose(next[required], next[optional]);
                }
            }
            else
            {
                choice = part.isRequired(from) ? choose(next[from], next[optional]) : choose(required, next[from]);
            }
            if (choice == NONE)
            {
                from = backtrack();
                if (from == NONE)
                {
                    return Result.IMPOSSIBLE;
                }
            }
            else
            {
                take(choice, space.step(state, part.signature[choice]), false);
                from = NONE;
            }
        }
        return Result.FOUND;
    }

    /** Gives the memory of the search back; what it found stays. */
    void close()
    {
        seen.clear();
        space.release();
    }

    /** Indexes of the operations in the order found. */
    int[] order()
    {
        return Arrays.copyOf(order, depth);
    }

    /** Number of the state after the order found. */
    int state()
    {
        return state;
    }

    /** Configurations the search was in. */
    long visited()
    {
        return steps;
    }

    private void linkAll()
    {
        Arrays.fill(twin, NONE);
        final int[] lastOfSignature = new int[part.samples.size()];
        Arrays.fill(lastOfSignature, NONE);
        int lastRequired = required;
        int lastOptional = optional;
        for (int i = 0; i < part.length; i++)
        {
            if (part.isRequired(i))
            {
                link(lastRequired, i);
                lastRequired = i;
            }
            else
            {
                link(lastOptional, i);
                lastOptional = i;
                twin[i] = lastOfSignature[part.signature[i]];
                lastOfSignature[part.signature[i]] = i;
            }
        }
        link(lastRequired, required);
        link(lastOptional, optional);
    }

    private void link(final int a, final int b)
    {
        next[a] = b;
        previous[b] = a;
    }

    /** The first completion among the required operations left; calls beyond it cannot come earlier. */
    private int firstEnd()
    {
        int first = Operation.NEVER;
        for (int i = next[required]; i != required && part.call[i] < first; i = next[i])
        {
            first = Math.min(first, part.end[i]);
        }
        return first;
    }

    private void takeReads()
    {
        int i = next[required];
        while (i != required && part.call[i] < limit)
        {
            final int following = next[i];
            if (part.readOnly[i] && space.step(state, part.signature[i]) == state)
            {
                take(i, state, true);
                if (part.end[i] == limit)
                {
                    limit = firstEnd();
                }
            }
            i = following;
        }
    }

    /** Whether the first of those that need a thing needs one that no operation called in time can bring about. */
    private boolean isStuck()
    {
        final int needer = firstNeeder();
        if (needer == NONE)
        {
            return false;
        }
        final int need = leftovers.needed(needer);
        final int held = space.held(state);
        if (need == held)
        {
            return false;
        }
        boolean canGrow = false;
        boolean hasStart = leftovers.canBecome(held, need);
        for (int list = required; list <= optional; list++)
        {
            for (int i = next[list]; i != list && part.call[i] < part.end[needer]; i = next[i])
            {
                final int made = leftovers.made(i);
                if (made == need)
                {
                    return false;
                }
                canGrow |= made == Leftovers.UNCERTAIN;
                hasStart |= made >= 0 && leftovers.canBecome(made, need);
            }
        }
        return !canGrow || !hasStart;
    }

    /** Of the required operations left that need a thing, the one that is over first. */
    private int firstNeeder()
    {
        int needer = NONE;
        int end = Operation.NEVER;
        for (int i = next[required]; i != required && part.call[i] < end; i = next[i])
        {
            if (leftovers.needed(i) != Leftovers.NONE && part.end[i] < end)
            {
                needer = i;
                end = part.end[i];
            }
        }
        return needer;
    }

    /** The first operation from there on, in the required list and then in the optional one, that can be next. */
    private int choose(final int fromRequired, final int fromOptional)
    {
        for (int i = fromRequired; i != required && part.call[i] < limit; i = next[i])
        {
            final int target = space.step(state, part.signature[i]);
            if (target != StateSpace.IMPOSSIBLE && !losesSomething(i, target) && !hasTwinOverBefore(i))
            {
                return i;
            }
        }
        for (int i = fromOptional; i != optional && part.call[i] < limit; i = next[i])
        {
            final int target = space.step(state, part.signature[i]);
            final boolean isFirstTwin = twin[i] == NONE || taken[twin[i]];
            if (target != StateSpace.IMPOSSIBLE && target != state && isFirstTwin && !losesSomething(i, target))
            {
                return i;
            }
        }
        return NONE;
    }

    private boolean losesSomething(final int operation, final int target)
    {
        return target != state && leftovers.isLost(space.held(state), operation);
    }

    private boolean hasTwinOverBefore(final int operation)
    {
        final int signature = part.signature[operation];
        for (int i = next[required]; i != required && part.call[i] < limit; i = next[i])
        {
            if (part.signature[i] == signature && part.end[i] < part.end[operation])
            {
                return true;
            }
        }
        return false;
    }

    private void take(final int operation, final int target, final boolean isForced)
    {
        order[depth] = operation;
        statesBefore[depth] = state;
        forced[depth] = isForced;
        depth++;
        state = target;
        next[previous[operation]] = next[operation];
        previous[next[operation]] = previous[operation];
        taken[operation] = true;
        leftovers.count(operation, -1);
        requiredLeft -= part.isRequired(operation) ? 1 : 0;
        toggle(operation);
    }

    /** Takes back the last choice and the reads after it; returns it, or NONE if there was none. */
    private int backtrack()
    {
        while (depth > 0)
        {
            depth--;
            final int operation = order[depth];
            next[previous[operation]] = operation;
            previous[next[operation]] = operation;
            taken[operation] = false;
            leftovers.count(operation, 1);
            requiredLeft += part.isRequired(operation) ? 1 : 0;
            state = statesBefore[depth];
            toggle(operation);
            if (!forced[depth])
            {
                return operation;
            }
        }
        return NONE;
    }

    private boolean isNew()
    {
        return seen.add(hashHigh ^ mix(~(long)state), hashLow ^ mix(Long.MIN_VALUE + state));
    }

    /** The fingerprint of a set is the exclusive or of its members' random numbers, so that it follows each step. */
    private void toggle(final int operation)
    {
        hashHigh ^= mix(2L * operation + 1);
        hashLow ^= mix(0x5851F42D4C957F2DL * (operation + 1));
    }

    /** The finaliser of SplitMix64. */
    private static long mix(final long value)
    {
        long z = value + 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
