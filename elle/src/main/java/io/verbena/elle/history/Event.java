package io.verbena.elle.history;

/**
 * One line of a history.
 *
 * @param process a {@link Integer} from 0 up for clients; anything else (such as {@code :nemesis}) is a bystander whose
 *                events are kept as notes and not checked.
 * @param type    call or kind of completion.
 * @param f       name of the function called.
 * @param key     the object the function works on, or null if the history names none.
 * @param value   argument at the call, result at the completion; see {@link History} for the types of values.
 * @param timeNs  nanoseconds since any fixed point, or {@link Operation#NO_TIME}.
 * @param index   the index written in the history, or -1 if there is none.
 * @param line    where the event stands in its source, from 1; 0 if it does not come from a text.
 */
public record Event(
    Object process, EventType type, String f, Object key, Object value, long timeNs, long index, int line)
{
    /**
     * Whether the event belongs to a client, so that it is checked.
     *
     * @return true for processes numbered from 0 up.
     */
    public boolean isOfClient()
    {
        return process instanceof Integer number && number >= 0;
    }
}
