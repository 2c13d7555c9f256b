package io.verbena.protocol.view;

/**
 * One attempt to end a view.
 *
 * @param group   of the view; 1 or more.
 * @param number  of the view; 1 or more.
 * @param attempt 1 or more.
 */
public record ViewAttempt(int group, long number, int attempt)
{
    /**
     * @param view that is being ended.
     * @return the attempt that its record is about.
     */
    public static ViewAttempt of(final View view)
    {
        return new ViewAttempt(view.group(), view.number(), view.attempt());
    }

    /**
     * @param other attempt, of the same group.
     * @return whether this one was over when the other one began.
     */
    public boolean isBefore(final ViewAttempt other)
    {
        return number < other.number || number == other.number && attempt < other.attempt;
    }
}
