package io.verbena.resp.session;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Whether the present command of one session waits for the end of a pause. By the thread of the session. */
final class PauseWait
{
    /** A timer is set anew after this time at the latest: a pause may last longer than a timer can. */
    private static final long LONGEST_NS = TimeUnit.HOURS.toNanos(1);

    private final ClientPause pause;
    private final Transport transport;
    private final Runnable resume;
    /** One object, so that it can be removed again. */
    private final Runnable wake = this::wake;
    private Future<?> timer;

    /** @param resume goes on with the session, by its thread. */
    PauseWait(final ClientPause pause, final Transport transport, final Runnable resume)
    {
        this.pause = pause;
        this.transport = transport;
        this.resume = resume;
    }

    /** Whether a command has to wait: then the session is resumed when it may begin, or sooner. */
    boolean holds(final Command<?> command, final long nowNs)
    {
        if (pause.remainingNs(command.isWrite(), nowNs) <= 0)
        {
            stop();
            return false;
        }
        if (null == timer)
        {
            pause.add(wake);
            // Asked again, since a pause that ended before it was added woke nobody: then the timer is due at once.
            final long remainingNs = pause.remainingNs(command.isWrite(), nowNs);
            timer = transport.schedule(Math.clamp(remainingNs, 0, LONGEST_NS), this::proceed);
        }
        return true;
    }

    /** Any thread. */
    private void wake()
    {
        transport.schedule(0, this::proceed);
    }

    private void proceed()
    {
        stop();
        resume.run();
    }

    /** Waits no longer. Idempotent. */
    void stop()
    {
        if (null != timer)
        {
            timer.cancel(false);
            timer = null;
            pause.remove(wake);
        }
    }
}
