package io.verbena.elle.history;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;

/**
 * A well-formed history: every completion has its call, and no process had two calls open at once.
 *
 * <p>Values are of these types: null, {@link Boolean}, {@link Long}, {@link java.math.BigInteger} (beyond long),
 * {@link Double}, {@link String}, {@link Keyword}, {@link Symbol}, {@link List} (vectors and lists),
 * {@link java.util.Set} and {@link java.util.Map}; two values are the same if {@code equals} says so.
 * Immutable, and so safe to share between threads.
 */
public final class History
{
    private final String source;
    private final List<Operation> operations;
    private final List<Event> notes;

    History(final String source, final List<Operation> operations, final List<Event> notes)
    {
        this.source = source;
        this.operations = Collections.unmodifiableList(operations);
        this.notes = Collections.unmodifiableList(notes);
    }

    /**
     * Where the history came from.
     *
     * @return file name or other name, for messages.
     */
    public String source()
    {
        return source;
    }

    /**
     * All client operations, also failed ones.
     *
     * @return in the order of their calls; {@code operations().get(i).id() == i}.
     */
    public List<Operation> operations()
    {
        return operations;
    }

    /**
     * Events of bystanders such as Jepsen's nemesis, which checkers ignore and pictures may show.
     *
     * @return in the order of the history.
     */
    public List<Event> notes()
    {
        return notes;
    }

    /**
     * The client events in the order in which they happened, renumbered from 0 and without lines.
     *
     * @return a new list.
     */
    public List<Event> events()
    {
        final List<Event> events = new ArrayList<>(2 * operations.size());
        for (final Operation operation : operations)
        {
            events.add(new Event(operation.process(), EventType.INVOKE, operation.f(), operation.key(),
                operation.input(), operation.callTimeNs(), operation.callPosition(), 0));
            if (operation.endPosition() != Operation.NEVER)
            {
                events.add(new Event(operation.process(), operation.outcome(), operation.f(), operation.key(),
                    operation.output(), operation.endTimeNs(), operation.endPosition(), 0));
            }
        }
        events.sort((a, b) -> Long.compare(a.index(), b.index()));
        return events;
    }

    /**
     * The same history with less in it; positions are kept, ids are given anew.
     *
     * @param wanted says which operations stay.
     * @return a new history, without the notes.
     */
    public History filter(final Predicate<Operation> wanted)
    {
        final List<Operation> kept = new ArrayList<>();
        for (final Operation o : operations)
        {
            if (wanted.test(o))
            {
                kept.add(new Operation(kept.size(), o.process(), o.f(), o.key(), o.input(), o.outcome(), o.output(),
                    o.callPosition(), o.endPosition(), o.callTimeNs(), o.endTimeNs(), o.callLine(), o.endLine()));
            }
        }
        return new History(source, kept, List.of());
    }

    @Override
    public String toString()
    {
        return "History{source=" + source + " operations=" + operations.size() + "}";
    }
}
