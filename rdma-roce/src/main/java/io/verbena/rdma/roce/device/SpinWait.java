package io.verbena.rdma.roce.device;

/**
 * How long a thread polls before it sleeps: a bounded time after each packet, where that pays. It does not where
 * polling has brought nothing several times in a row, nor where others want the processor: a packet wakes a thread that
 * sleeps, while one that polls may get its turn long after the packet. Then it sleeps at once, and tries again after
 * some sleeps, each time in vain after twice as many as before. Used by one thread at a time.
 */
final class SpinWait
{
    /** Vain attempts in a row after which it sleeps at once. */
    static final int MOST_VAIN = 4;
    /** Sleeps between attempts from then on. */
    static final int FEWEST_SLEEPS = 16;
    /** Most of them. */
    static final int MOST_SLEEPS = 1_024;
    /** Two polls are 1 to 5 us apart; after this, another thread has had the processor between them. */
    static final long AWAY_NS = 20_000;

    private final long spinNs;
    private long seen;
    private long activeNs;
    private long polledNs;
    private boolean isAsleep = true;
    private int vain;
    private int sleeps;
    private int sleepsBetween = FEWEST_SLEEPS;

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
            onPacket();
        }
        else if (!isAsleep)
        {
            if (nowNs - polledNs >= AWAY_NS)
            {
                vain = Math.max(vain, MOST_VAIN - 1);
                onVain();
            }
            else if (nowNs - activeNs >= spinNs)
            {
                onVain();
            }
        }
        polledNs = nowNs;
        return !isAsleep;
    }

    private void onPacket()
    {
        if (!isAsleep)
        {
            vain = 0;
            sleepsBetween = FEWEST_SLEEPS;
        }
        // A packet that ended a sleep says nothing of polling.
        else if (vain < MOST_VAIN || ++sleeps >= sleepsBetween)
        {
            sleeps = 0;
            isAsleep = false;
        }
    }

    private void onVain()
    {
        isAsleep = true;
        if (vain >= MOST_VAIN)
        {
            sleepsBetween = Math.min(2 * sleepsBetween, MOST_SLEEPS);
        }
        else
        {
            vain++;
        }
    }
}
