package io.verbena.elle.linear;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The model's states by number, and its steps by table: the model is asked once for each pair of state and signature.
 */
final class StateSpace<S>
{
    /** Number that stands for "this cannot happen". */
    static final int IMPOSSIBLE = -1;

    private static final int INITIAL_CAPACITY = 1 << 10;
    private static final long EMPTY = -1;
    /** What a state of a model counts for in the bound on memory: nobody knows how big it is. */
    private static final int STATE_WEIGHT = 16;

    private final Model<S> model;
    private final Part part;
    private final Budget budget;
    private final Map<S, Integer> numbers = new HashMap<>();
    private final List<S> states = new ArrayList<>();
    private final Leftovers leftovers;
    /** By state: number of the thing it holds. */
    private int[] held = new int[16];
    private long[] keys = new long[INITIAL_CAPACITY];
    private int[] targets = new int[INITIAL_CAPACITY];
    private int count;
    private long reserved;
    private boolean isFull;

    StateSpace(final Model<S> model, final Part part, final Budget budget)
    {
        this.budget = budget;
        this.model = model;
        this.part = part;
        this.leftovers = new Leftovers(model, part);
        Arrays.fill(keys, EMPTY);
    }

    int initial()
    {
        return numberOf(model.initial());
    }

    /** Whether there are more states than the bound on memory allows; the search ends then. */
    boolean isFull()
    {
        return isFull;
    }

    /** Gives the memory back. */
    void release()
    {
        budget.release(reserved);
        reserved = 0;
    }

    /** What the operations need that are not yet in the order; the search keeps it up to date. */
    Leftovers leftovers()
    {
        return leftovers;
    }

    /** Number of the thing that a state holds, as {@link Leftovers} counts things. */
    int held(final int state)
    {
        return held[state];
    }

    S state(final int number)
    {
        return states.get(number);
    }

    /** The state after an operation of that signature, or {@link #IMPOSSIBLE}. */
    int step(final int state, final int signature)
    {
        final long key = (long)state << 32 | signature;
        int slot = slotOf(key, keys.length);
        while (keys[slot] != EMPTY)
        {
            if (keys[slot] == key)
            {
                return targets[slot];
            }
            slot = slot + 1 & keys.length - 1;
        }
        final S next = model.step(states.get(state), part.samples.get(signature));
        final int target = next == null ? IMPOSSIBLE : numberOf(next);
        keys[slot] = key;
        targets[slot] = target;
        if (++count > keys.length / 2)
        {
            grow();
        }
        return target;
    }

    private int numberOf(final S state)
    {
        final Integer known = numbers.putIfAbsent(state, states.size());
        if (known != null)
        {
            return known;
        }
        final int number = states.size();
        states.add(state);
        isFull |= !budget.reserve(STATE_WEIGHT);
        reserved += isFull ? 0 : STATE_WEIGHT;
        if (number == held.length)
        {
            held = Arrays.copyOf(held, 2 * number);
        }
        held[number] = model instanceof Overwriting<S> overwriting ?
            leftovers.heldNumber(overwriting.holds(state)) : Leftovers.NONE;
        return number;
    }

    private void grow()
    {
        final int weight = keys.length / 2;
        isFull |= !budget.reserve(weight);
        reserved += isFull ? 0 : weight;
        final long[] oldKeys = keys;
        final int[] oldTargets = targets;
        keys = new long[2 * oldKeys.length];
        targets = new int[2 * oldKeys.length];
        Arrays.fill(keys, EMPTY);
        for (int i = 0; i < oldKeys.length; i++)
        {
            if (oldKeys[i] != EMPTY)
            {
                int slot = slotOf(oldKeys[i], keys.length);
                while (keys[slot] != EMPTY)
                {
                    slot = slot + 1 & keys.length - 1;
                }
                keys[slot] = oldKeys[i];
                targets[slot] = oldTargets[i];
            }
        }
    }

    private static int slotOf(final long key, final int capacity)
    {
        final long mixed = key * 0x9E3779B97F4A7C15L;
        return (int)(mixed >>> 32) & capacity - 1;
    }
}
