package io.verbena.elle.linear;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the operations not yet in the order still need and can still make ({@link Overwriting}); shows when taking an
 * operation would overwrite for good what another one needs.
 *
 * <p>Things have numbers from 0. Knows nothing, and so never objects, if the model is of another kind.
 */
final class Leftovers
{
    /** Number of no thing: nothing is needed, nothing is made, or what is held is of no interest. */
    static final int NONE = -1;
    /** Number of a product that depends on the state. */
    static final int UNCERTAIN = -2;

    private final Overwriting<?> model;
    private final Map<Object, Integer> numbers = new HashMap<>();
    private final List<Object> things = new ArrayList<>();
    private final int[] needed;
    private final int[] made;
    private final boolean hasUncertain;
    /** By thing: how many operations that are left need it, or make it. */
    private final int[] needers;
    private final int[] makers;

    Leftovers(final Model<?> model, final Part part)
    {
        this.model = model instanceof Overwriting<?> overwriting ? overwriting : null;
        needed = new int[part.length];
        made = new int[part.length];
        boolean isUncertain = false;
        for (int i = 0; i < part.length; i++)
        {
            needed[i] = part.isRequired(i) && isActive() ?
                number(this.model.needs(part.operations.get(i)), NONE) : NONE;
            made[i] = part.readOnly[i] || !isActive() ?
                NONE : number(this.model.makes(part.operations.get(i)), UNCERTAIN);
            isUncertain |= made[i] == UNCERTAIN;
        }
        hasUncertain = isUncertain;
        needers = new int[things.size()];
        makers = new int[things.size()];
        for (int i = 0; i < part.length; i++)
        {
            count(i, 1);
        }
    }

    boolean isActive()
    {
        return model != null;
    }

    /** Number of the thing that a state holds. */
    int heldNumber(final Object thing)
    {
        return hasUncertain ? number(thing, NONE) : numbers.getOrDefault(thing, NONE);
    }

    /** Number of the thing without which the operation cannot happen. */
    int needed(final int operation)
    {
        return needed[operation];
    }

    /** Number of the thing that the operation makes. */
    int made(final int operation)
    {
        return made[operation];
    }

    /** Whether operations of uncertain product can turn one thing into the other. */
    boolean canBecome(final int from, final int to)
    {
        return hasUncertain && model.canBecome(things.get(from), things.get(to));
    }

    /** Notes that an operation left (-1) or came back (1). */
    void count(final int operation, final int change)
    {
        if (needed[operation] >= 0)
        {
            needers[needed[operation]] += change;
        }
        if (made[operation] >= 0)
        {
            makers[made[operation]] += change;
        }
    }

    /** Whether, if the operation overwrites what is held, another one needs that and none can make it again. */
    boolean isLost(final int held, final int operation)
    {
        if (hasUncertain || held == NONE || made[operation] == NONE || made[operation] == held)
        {
            return false;
        }
        final int own = needed[operation] == held ? 1 : 0;
        return needers[held] > own && makers[held] == 0;
    }

    /** Whether some operation needs a thing that is not held and that none can make. */
    boolean isHopeless(final int held)
    {
        for (int thing = 0; thing < needers.length && !hasUncertain; thing++)
        {
            if (needers[thing] > 0 && makers[thing] == 0 && thing != held)
            {
                return true;
            }
        }
        return false;
    }

    private int number(final Object thing, final int otherwise)
    {
        if (thing == null)
        {
            return otherwise;
        }
        final Integer known = numbers.putIfAbsent(thing, things.size());
        if (known != null)
        {
            return known;
        }
        things.add(thing);
        return things.size() - 1;
    }
}
