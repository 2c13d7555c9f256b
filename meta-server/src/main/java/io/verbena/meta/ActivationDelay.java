package io.verbena.meta;

/**
 * Has nodes wait a little for the notification of a spare that was activated. Its clients hear of it at the same
 * moment, list the nodes and send operations; nodes do nothing with it but read the list, all of them at once, and
 * would take processors, and the meta server, from those that somebody waits for. Used by the server's thread.
 */
final class ActivationDelay
{
    /** How long nodes wait: clients have sent operations by then. 20 ms. */
    static final long DELAY_NS = 20_000_000;

    private long untilNs;
    private boolean isUnderWay;

    /**
     * @param versions    of the membership that nodes were not notified of.
     * @param activations those of them that activated a spare, and changed nothing else.
     * @param isUrgent    whether nodes are to hear of anything else.
     * @param nowNs       time now.
     * @return whether nodes are to be notified now.
     */
    boolean isOver(final long versions, final long activations, final boolean isUrgent, final long nowNs)
    {
        if (isUrgent || 0 == activations || versions != activations)
        {
            isUnderWay = false;
            return true;
        }
        untilNs = isUnderWay ? untilNs : nowNs + DELAY_NS;
        isUnderWay = untilNs - nowNs > 0;
        return !isUnderWay;
    }

    /** @return whether nodes wait. */
    boolean isUnderWay()
    {
        return isUnderWay;
    }

    /** @return how long nodes wait from now on; as long as can be where none does. */
    long leftNs(final long nowNs)
    {
        return isUnderWay ? Math.max(0, untilNs - nowNs) : Long.MAX_VALUE;
    }
}
