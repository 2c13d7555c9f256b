package io.verbena.compute.control;

import io.verbena.compute.catalog.CallerTurns;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Status;

import java.util.ArrayList;
import java.util.List;

/**
 * The control requests of a session that take several steps: at most {@value #MAX_RUNNING} of them have calls under way
 * at once, so that the calls of the session's lease and maintenance find room; further ones wait, where callers take
 * turns, and fail at their deadlines. A request that meets a RuntimeException fails alone. Owned by the node's thread.
 */
public final class ControlTasks
{
    /** Most tasks with calls under way. Those that only wait, for memory or for another creation, do not count. */
    static final int MAX_RUNNING = 16;
    private static final long EXPIRY_PAUSE_NS = 1_000_000;

    private final TableTasks beginner;
    private final UnexpectedFailures failures;
    private final CallerTurns<ControlRequest> waiting = new CallerTurns<>();
    private final List<ControlTask> tasks = new ArrayList<>();
    private long expiryAtNs;
    private boolean isLeaving;

    /**
     * @param beginner makes the tasks.
     * @param failures counts what a request meets unexpectedly.
     */
    public ControlTasks(final TableTasks beginner, final UnexpectedFailures failures)
    {
        this.beginner = beginner;
        this.failures = failures;
    }

    /** Takes a request that is QUEUED; it is started when it begins, so that it can be withdrawn until then. */
    public void accept(final ControlRequest request, final long nowNs)
    {
        expiryAtNs = waiting.isEmpty() ? nowNs : expiryAtNs;
        waiting.add(request.caller(), request);
        beginWaiting(nowNs);
    }

    /** @return whether nothing is under way or waits. */
    public boolean isEmpty()
    {
        return waiting.isEmpty() && tasks.isEmpty();
    }

    /** @return whether a task waits for epochs, in which memory is returned. */
    public boolean wantsEpochs()
    {
        return tasks.stream().anyMatch(ControlTask::wantsEpochs);
    }

    /**
     * Goes on.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        int workCount = 0;
        for (int i = 0; i < tasks.size();)
        {
            final ControlTask task = tasks.get(i);
            workCount += poll(task, nowNs);
            if (isLeaving && !task.hasEnded() && task.isPausing())
            {
                task.stop();
            }
            if (task.hasEnded())
            {
                tasks.remove(i);
            }
            else
            {
                i++;
            }
        }
        return workCount + beginWaiting(nowNs) + expire(nowNs);
    }

    private int poll(final ControlTask task, final long nowNs)
    {
        try
        {
            return task.poll(nowNs);
        }
        catch (final RuntimeException ex)
        {
            task.fail(failures.onFailure(task.request(), ex));
            return 1;
        }
    }

    private int beginWaiting(final long nowNs)
    {
        int begun = 0;
        while (!waiting.isEmpty() && running() < MAX_RUNNING)
        {
            final ControlRequest request = waiting.poll();
            if (request.start())
            {
                begin(request, nowNs);
                begun++;
            }
        }
        return begun;
    }

    private void begin(final ControlRequest request, final long nowNs)
    {
        try
        {
            tasks.add(beginner.begin(request, nowNs));
        }
        catch (final RuntimeException ex)
        {
            answer(request, Status.REFUSED, failures.onFailure(request, ex));
        }
    }

    private long running()
    {
        return tasks.stream().filter((task) -> !task.isPausing()).count();
    }

    private int expire(final long nowNs)
    {
        if (waiting.isEmpty() || expiryAtNs - nowNs > 0)
        {
            return 0;
        }
        expiryAtNs = nowNs + EXPIRY_PAUSE_NS;
        final int before = waiting.size();
        waiting.removeIf((request) ->
        {
            final boolean isLate = request.deadlineNs() - nowNs <= 0;
            if (isLate)
            {
                refuse(request, Status.TIMED_OUT, "it waited for other requests about tables until its deadline");
            }
            return isLate;
        });
        return before - waiting.size();
    }

    /** The node leaves: what has calls under way is finished, what only waits is for other nodes. */
    public void leave()
    {
        isLeaving = true;
        refuseWaiting("node leaves");
    }

    private void refuseWaiting(final String detail)
    {
        waiting.drain((request) -> refuse(request, Status.NOT_SERVING, detail));
    }

    private static void refuse(final ControlRequest request, final Status status, final String detail)
    {
        if (request.start())
        {
            answer(request, status, detail);
        }
    }

    private static void answer(final ControlRequest request, final Status status, final String detail)
    {
        request.answer(status, null, detail);
        request.complete();
    }

    /** The node stops: what may have changed something has an unknown outcome, the rest may be asked elsewhere. */
    public void close()
    {
        tasks.forEach(ControlTask::stop);
        tasks.clear();
        refuseWaiting("node stops");
    }
}
