package io.verbena.elle.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Pairs calls with completions and refuses what is not a history.
 *
 * <p>The order in which events are added is the order in which they happened. Not safe for use by several threads: use
 * a recorder to record a run of several.
 */
public final class HistoryBuilder
{
    private final String source;
    private final List<Call> calls = new ArrayList<>();
    private final Map<Integer, Call> openByProcess = new HashMap<>();
    private final List<Event> notes = new ArrayList<>();
    private int position;
    private long lastIndex = -1;

    /** Starts a history made in memory; the order of its events is the order in which they are added. */
    public HistoryBuilder()
    {
        this("history");
    }

    /**
     * Starts an empty history.
     *
     * @param source its name in messages, such as a file name.
     */
    public HistoryBuilder(final String source)
    {
        this.source = source;
    }

    /**
     * Adds a call.
     *
     * @param process the client, from 0; it has no other call open.
     * @param f       name of the function.
     * @param key     object of the function, or null.
     * @param value   argument, or null.
     * @return this.
     */
    public HistoryBuilder invoke(final int process, final String f, final Object key, final Object value)
    {
        return add(new Event(process, EventType.INVOKE, f, key, value, Operation.NO_TIME, -1, 0));
    }

    /**
     * Adds the completion of the call that the process has open.
     *
     * @param process the client.
     * @param type    {@code OK}, {@code FAIL} or {@code INFO}.
     * @param value   result, or null.
     * @return this.
     */
    public HistoryBuilder complete(final int process, final EventType type, final Object value)
    {
        return add(new Event(process, type, null, null, value, Operation.NO_TIME, -1, 0));
    }

    /**
     * Adds the completion of an operation that happened.
     *
     * @param process the client.
     * @param value   result, or null.
     * @return this.
     */
    public HistoryBuilder ok(final int process, final Object value)
    {
        return complete(process, EventType.OK, value);
    }

    /**
     * Adds an event.
     *
     * @param event the next in time; its function and key may be null if it is a completion.
     * @return this.
     * @throws HistoryException if the event cannot follow those added before; names the line.
     */
    public HistoryBuilder add(final Event event)
    {
        if (event.type() == null)
        {
            throw broken(event, "event without a type");
        }
        if (event.index() >= 0)
        {
            if (event.index() <= lastIndex)
            {
                throw broken(event, "index " + event.index() + " after index " + lastIndex +
                    ": the indexes of a history must increase");
            }
            lastIndex = event.index();
        }
        if (!event.isOfClient())
        {
            notes.add(event);
            return this;
        }
        if (event.type() == EventType.INVOKE)
        {
            open(event);
        }
        else
        {
            close(event);
        }
        position++;
        return this;
    }

    /**
     * Makes the history; calls still open become operations of unknown outcome.
     *
     * @return the history of all events added so far.
     */
    public History build()
    {
        final List<Operation> operations = new ArrayList<>(calls.size());
        for (final Call call : calls)
        {
            operations.add(call.operation(operations.size()));
        }
        return new History(source, operations, new ArrayList<>(notes));
    }

    private void open(final Event event)
    {
        if (event.f() == null)
        {
            throw broken(event, "call of process " + event.process() + " without a function (:f)");
        }
        final Call call = new Call(event, position);
        final Call other = openByProcess.put((Integer)event.process(), call);
        if (other != null)
        {
            throw broken(event, "process " + event.process() + " calls " + event.f() + " while its call of " +
                other.invocation.f() + at(other.invocation) + " is still open");
        }
        calls.add(call);
    }

    private void close(final Event event)
    {
        final Call call = openByProcess.remove((Integer)event.process());
        if (call == null)
        {
            throw broken(event, "completion (:" + event.type().word() + ") of process " + event.process() +
                ", which has no call open");
        }
        if (event.f() != null && !event.f().equals(call.invocation.f()))
        {
            throw broken(event, "process " + event.process() + " completes " + event.f() + " but had called " +
                call.invocation.f() + at(call.invocation));
        }
        if (event.key() != null && call.invocation.key() != null && !event.key().equals(call.invocation.key()))
        {
            throw broken(event, "process " + event.process() + " completes " + call.invocation.f() + " of key " +
                event.key() + " but had called it with key " + call.invocation.key() + at(call.invocation));
        }
        call.completion = event;
        call.endPosition = position;
    }

    private HistoryException broken(final Event event, final String what)
    {
        return new HistoryException(source, event.line(), what);
    }

    private static String at(final Event event)
    {
        return event.line() > 0 ? " (line " + event.line() + ")" : "";
    }

    private static final class Call
    {
        private final Event invocation;
        private final int callPosition;
        private Event completion;
        private int endPosition = Operation.NEVER;

        private Call(final Event invocation, final int callPosition)
        {
            this.invocation = invocation;
            this.callPosition = callPosition;
        }

        private Operation operation(final int id)
        {
            final boolean closed = completion != null;
            final Object key = invocation.key() == null && closed ? completion.key() : invocation.key();
            return new Operation(
                id,
                (Integer)invocation.process(),
                invocation.f(),
                key,
                invocation.value(),
                closed ? completion.type() : EventType.INFO,
                closed ? completion.value() : null,
                callPosition,
                endPosition,
                invocation.timeNs(),
                closed ? completion.timeNs() : Operation.NO_TIME,
                invocation.line(),
                closed ? completion.line() : 0);
        }
    }
}
