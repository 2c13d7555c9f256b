package io.verbena.protocol.view;

/**
 * How far a memory node is filled that is to come into a group.
 *
 * @param attempt        to fill it.
 * @param copiedBytes    so far in this pass over the group's memory; 0 or more.
 * @param differingBytes found so far in this pass that are to be copied; {@code copiedBytes} or more.
 * @param comparedBytes  so far in this pass; 0 or more.
 * @param totalBytes     of the group's memory; {@code comparedBytes} or more.
 * @param pass           1 or more: in a later one only what has changed since is copied.
 * @param secondsLeft    of this pass, as far as is known; {@link #UNKNOWN}, or 0 or more.
 */
public record FillProgress(
    ViewAttempt attempt, long copiedBytes, long differingBytes, long comparedBytes, long totalBytes, int pass,
    int secondsLeft)
{
    /** Nothing was compared yet. */
    public static final int UNKNOWN = -1;

    /** Refuses what is no progress. */
    public FillProgress
    {
        if (copiedBytes < 0 || differingBytes < copiedBytes || comparedBytes < differingBytes ||
            totalBytes < comparedBytes || pass < 1 || secondsLeft < UNKNOWN)
        {
            throw new IllegalArgumentException("no progress: copied " + copiedBytes + " of " + differingBytes +
                " bytes, compared " + comparedBytes + " of " + totalBytes + ", pass=" + pass + " secondsLeft=" +
                secondsLeft);
        }
    }
}
