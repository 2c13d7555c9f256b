package io.verbena.elle.history;

import java.io.IOException;

/**
 * Writes histories as EDN, one event a line, as Jepsen stores them.
 */
public final class EdnWriter
{
    private EdnWriter()
    {
    }

    /**
     * Writes a history, notes left out.
     *
     * @param history what to write.
     * @param target  where to; not closed.
     * @throws IOException if the target fails.
     */
    public static void write(final History history, final Appendable target) throws IOException
    {
        final StringBuilder line = new StringBuilder(128);
        for (final Event event : history.events())
        {
            line.setLength(0);
            appendEvent(line, event);
            target.append(line).append('\n');
        }
    }

    private static void appendEvent(final StringBuilder line, final Event event)
    {
        line.append("{:process ").append(event.process()).append(", :type :").append(event.type().word());
        line.append(", :f :").append(event.f());
        if (event.key() != null)
        {
            line.append(", :key ");
            EdnValue.appendTo(line, event.key());
        }
        line.append(", :value ");
        EdnValue.appendTo(line, event.value());
        line.append(", :index ").append(event.index());
        if (event.timeNs() != Operation.NO_TIME)
        {
            line.append(", :time ").append(event.timeNs());
        }
        line.append('}');
    }
}
