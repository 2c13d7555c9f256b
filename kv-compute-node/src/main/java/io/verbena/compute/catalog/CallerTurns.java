package io.verbena.compute.catalog;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * What waits for several callers, who take turns: one thing of each, in the order in which it came. For what is begun
 * seldom, so that it allocates. One thread.
 *
 * @param <T> what waits.
 */
public final class CallerTurns<T>
{
    /** The next turn is that of the first. None is empty. */
    private final Map<Object, ArrayDeque<T>> byCaller = new LinkedHashMap<>();
    private int size;

    /**
     * @param caller whose turn it is to be; equal ones share one, and null is one as well.
     * @param waiting behind what waits of the same caller.
     */
    public void add(final Object caller, final T waiting)
    {
        byCaller.computeIfAbsent(caller, (_) -> new ArrayDeque<>()).add(waiting);
        size++;
    }

    /** @return whether nothing waits. */
    public boolean isEmpty()
    {
        return byCaller.isEmpty();
    }

    /** @return how many wait. */
    public int size()
    {
        return size;
    }

    /** @return what is next, which does not wait any more; null: nothing waits. */
    public T poll()
    {
        if (byCaller.isEmpty())
        {
            return null;
        }
        final Iterator<Map.Entry<Object, ArrayDeque<T>>> turns = byCaller.entrySet().iterator();
        final Map.Entry<Object, ArrayDeque<T>> turn = turns.next();
        final Object caller = turn.getKey();
        final ArrayDeque<T> waiting = turn.getValue();
        turns.remove();
        final T next = waiting.poll();
        size--;
        if (!waiting.isEmpty())
        {
            byCaller.put(caller, waiting);
        }
        return next;
    }

    /**
     * Looks at all that waits.
     *
     * @param filter says whether it waits no longer; must not change what waits.
     */
    public void removeIf(final Predicate<? super T> filter)
    {
        byCaller.values().removeIf((waiting) ->
        {
            final int before = waiting.size();
            waiting.removeIf(filter);
            size -= before - waiting.size();
            return waiting.isEmpty();
        });
    }

    /**
     * Nothing waits any more.
     *
     * @param taker gets what waited.
     */
    public void drain(final Consumer<? super T> taker)
    {
        T next;
        while (null != (next = poll()))
        {
            taker.accept(next);
        }
    }

    @Override
    public String toString()
    {
        return "CallerTurns{callers=" + byCaller.size() + ", waiting=" + size() + '}';
    }
}
