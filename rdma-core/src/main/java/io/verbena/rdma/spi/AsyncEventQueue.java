package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;

import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * A device's asynchronous events until they are taken. Bounded: when nobody takes them the oldest ones go, and are
 * counted. Thread-safe.
 */
public final class AsyncEventQueue
{
    /** Most events kept. */
    public static final int MAX_EVENTS = 4096;

    private final ArrayDeque<AsyncEvent> events = new ArrayDeque<>();
    private long lostCount;

    /**
     * Adds an event.
     *
     * @param type   what happened.
     * @param source it happened to.
     */
    public synchronized void raise(final AsyncEventType type, final Object source)
    {
        if (events.size() == MAX_EVENTS)
        {
            events.remove();
            lostCount++;
        }
        events.add(new AsyncEvent(type, source));
    }

    /** Takes the oldest event, or null. */
    public synchronized AsyncEvent poll()
    {
        return events.poll();
    }

    /**
     * Drops what is about an object that is being closed.
     *
     * @param source the object.
     */
    public synchronized void forget(final Object source)
    {
        events.removeIf(event -> event.source() == source);
    }

    /** How many there are to be taken. */
    public synchronized int count()
    {
        return events.size();
    }

    /**
     * Shows those that are there, oldest first.
     *
     * @param viewer must not come back here.
     */
    public synchronized void forEach(final Consumer<AsyncEvent> viewer)
    {
        events.forEach(viewer);
    }

    /** How many were dropped because nobody took them. */
    public synchronized long lostCount()
    {
        return lostCount;
    }
}
