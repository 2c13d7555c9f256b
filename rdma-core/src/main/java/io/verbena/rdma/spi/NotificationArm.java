package io.verbena.rdma.spi;

import java.util.concurrent.atomic.AtomicInteger;

/** Whether a completion queue raises an event for its next completion: one-shot ({@code ibv_req_notify_cq}). */
public final class NotificationArm
{
    private static final int DISARMED = 0;
    private static final int SOLICITED = 1;
    private static final int ANY = 2;

    private final AtomicInteger state = new AtomicInteger();

    /**
     * Arms; armed for any completion stays so.
     *
     * @param solicitedOnly whether only solicited receives and errors count.
     */
    public void arm(final boolean solicitedOnly)
    {
        state.accumulateAndGet(solicitedOnly ? SOLICITED : ANY, Math::max);
    }

    /** What it is armed for: 0 nothing, 1 solicited receives and errors, 2 any completion. */
    public int armed()
    {
        return state.get();
    }

    /**
     * Tells of a completion that was added before this call.
     *
     * @param isSolicited whether it is a receive whose sender asked for attention, or has an error.
     * @return whether to raise an event; then it is disarmed.
     */
    public boolean fires(final boolean isSolicited)
    {
        int current;
        do
        {
            current = state.get();
            if (current == DISARMED || current == SOLICITED && !isSolicited)
            {
                return false;
            }
        }
        while (!state.compareAndSet(current, DISARMED));
        return true;
    }
}
