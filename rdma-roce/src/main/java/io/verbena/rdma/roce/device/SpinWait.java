package io.verbena.rdma.roce.device;

/**
 * How long a thread polls before it sleeps: a bounded time after each packet, and not where polling has brought nothing
 * several times in a row; then each sixteenth time, to find out whether it does again. Used by one thread at a time.
 */
final class SpinWait
{
    /** Vain attempts in a row after which it sleeps at once. */
    static final int MOST_VAIN = 4;
    /** Sleeps between attempts from then on. */
    static final int SLEEPS_BETWEEN = 16;

    private final long spinNs;
    private long seen;
    private long activeNs;
    private boolean isAsleep = true;
    private int vain;
    private int sleeps;

    /** @param spinNs longest time without a packet; 0 for none. */
    SpinWait(final long spinNs)
    {
        this.spinNs = spinNs;
    }

    boolean isSpinning()
    {
        return spinNs > 0;
    }

    /**
     * Whether to poll again rather than to sleep.
     *
     * @param nowNs    time.
     * @param received packets of the device so far.
     */
    boolean mayGoOn(final long nowNs, final long received)
    {
        if (received != seen)
        {
            seen = received;
            activeNs = nowNs;
            // A packet that ended a sleep says nothing of polling.
            vain = isAsleep ? vain : 0;
            isAsleep = vain >= MOST_VAIN && ++sleeps % SLEEPS_BETWEEN != 0;
        }
        else if (!isAsleep && nowNs - activeNs >= spinNs)
        {
            vain++;
            isAsleep = true;
        }
        return !isAsleep;
    }
}
