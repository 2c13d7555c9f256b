package io.verbena.elle.history;

/**
 * A call together with its completion.
 *
 * <p>Positions count the client events of the history from 0 in the order in which they happened; they, and not the
 * times, say what came first. Two operations overlap unless one's completion stands before the other's call.
 *
 * @param id               number of the operation within its history, from 0, in the order of the calls.
 * @param process          the client, from 0.
 * @param f                name of the function called.
 * @param key              the object the function works on, or null if the history names none.
 * @param input            value given at the call, or null.
 * @param outcome          {@code OK}, {@code FAIL} or {@code INFO}; never {@code INVOKE}. A call that the end of the
 *                         history cut off is {@code INFO}.
 * @param output           value given at the completion, or null. For {@code FAIL} and {@code INFO} it is a remark.
 * @param callPosition     position of the call.
 * @param endPosition      position of the completion event of whatever type, or {@link #NEVER} if there is none.
 * @param callTimeNs       time of the call, or {@link #NO_TIME}.
 * @param endTimeNs        time of the completion event, or {@link #NO_TIME}.
 * @param callLine         line of the call in its source, from 1; 0 if unknown.
 * @param endLine          line of the completion in its source, from 1; 0 if unknown.
 */
public record Operation(
    int id,
    int process,
    String f,
    Object key,
    Object input,
    EventType outcome,
    Object output,
    int callPosition,
    int endPosition,
    long callTimeNs,
    long endTimeNs,
    int callLine,
    int endLine)
{
    /** Position after all others: of a completion that never came. */
    public static final int NEVER = Integer.MAX_VALUE;

    /** Stands for an unknown time. */
    public static final long NO_TIME = Long.MIN_VALUE;

    /**
     * Whether the operation happened, beyond doubt.
     *
     * @return true for {@code OK}.
     */
    public boolean isOk()
    {
        return outcome == EventType.OK;
    }

    /**
     * Whether the operation certainly never happened.
     *
     * @return true for {@code FAIL}.
     */
    public boolean isFail()
    {
        return outcome == EventType.FAIL;
    }

    /**
     * Whether nobody knows if and when the operation happened.
     *
     * @return true for {@code INFO}.
     */
    public boolean isInfo()
    {
        return outcome == EventType.INFO;
    }

    /**
     * The position before which the operation took effect, if it did.
     *
     * @return position of the completion for {@code OK} and {@code FAIL}, {@link #NEVER} for {@code INFO}.
     */
    public int effectPosition()
    {
        return outcome == EventType.INFO ? NEVER : endPosition;
    }

    /**
     * Whether this operation was over before the other was called (the real-time order).
     *
     * @param other of the same history.
     * @return true if nothing of the two overlaps and this one came first.
     */
    public boolean precedes(final Operation other)
    {
        return effectPosition() < other.callPosition;
    }

    /**
     * The fullest account of the operation's value: the result if it is known, else the argument.
     *
     * @return output of an {@code OK} operation unless that is null, else the input.
     */
    public Object value()
    {
        return outcome == EventType.OK && output != null ? output : input;
    }

    /**
     * The operation in one line, as reports show it.
     *
     * @return such as {@code process 3: get "x" -> 7}.
     */
    @Override
    public String toString()
    {
        final StringBuilder text = new StringBuilder(64);
        text.append("process ").append(process).append(": ").append(f);
        if (key != null)
        {
            text.append(' ');
            EdnValue.appendTo(text, key);
        }
        if (input != null)
        {
            text.append(' ');
            EdnValue.appendTo(text, input);
        }
        switch (outcome)
        {
            case OK ->
            {
                text.append(" -> ");
                EdnValue.appendTo(text, output);
            }
            case FAIL -> text.append(" -> failed");
            default -> text.append(" -> unknown");
        }
        return text.toString();
    }
}
