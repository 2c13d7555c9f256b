package io.verbena.server;

import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.server.metrics.Measurements;

import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What one process does in a cluster. {@code RoleRunner} drives it by one thread, which makes every call here except
 * {@link #health()} and {@link #measure(Measurements)}. Closed by the runner.
 */
public interface Role extends AutoCloseable
{
    /** How long an orderly end may take of a role that has little to finish: 10 s. */
    long DRAIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    /** @return name of the role, such as {@code compute-node}. */
    String name();

    /**
     * Makes the thread that drives it.
     *
     * @param run        what it does.
     * @param threadName of it.
     * @return not started.
     */
    default Thread thread(final Runnable run, final String threadName)
    {
        return new Thread(run, threadName);
    }

    /** @return the device it works on. */
    Device device();

    /** @return what raises an event when something arrives for the role, or null: then it is polled all the time. */
    CompletionChannel completionChannel();

    /**
     * One duty cycle.
     *
     * @return work done.
     */
    int doWork();

    /** The thread has slept since the last duty cycle, until something arrived or was due. */
    default void onWake()
    {
    }

    /** @return how long nothing is due by the clock, 0 when that is not known; what arrives comes besides. */
    long idleNs();

    /** @return whether it awaits answers to what it has asked others, which come soon. */
    default boolean awaitsAnswers()
    {
        return false;
    }

    /** @return true once it has become what it is there for, and as long as it is. */
    boolean isReady();

    /** @return why it will never be ready, or not again, in one line; empty otherwise. */
    String failure();

    /** @return whether {@link #failure()} is that of a disk, whose writes have an unknown outcome. */
    default boolean hasDiskFailed()
    {
        return false;
    }

    /** Begins an orderly end: nothing new is taken, what was begun is finished. */
    void drain();

    /** @return true when nothing is left to finish after {@link #drain()}. */
    boolean isDrained();

    /** @return how long the orderly end may take; what is not finished then is cut off. */
    default long drainTimeoutNs()
    {
        return DRAIN_TIMEOUT_NS;
    }

    /** @return what it means when the orderly end is cut off, for people; one line. */
    default String undrained()
    {
        return "what was asked of it last may have an unknown outcome";
    }

    /** @return figures for people and probes, in the order to show them. Any thread. */
    Map<String, Object> health();

    /** @return its slow operations, as {@code docs/slowlog.md} describes them; null if it has none. Any thread. */
    default Map<String, Object> slowlog()
    {
        return null;
    }

    /**
     * Measures the process for one look at its metrics. Any thread.
     *
     * @param measurements takes the values of all metrics of the catalogue that the role exposes.
     */
    void measure(Measurements measurements);

    @Override
    void close();
}
