package io.verbena.server.dashboard;

import java.util.Map;

/** What a dashboard shows. Any thread. Closed by who opened it. */
public interface DashboardSource extends AutoCloseable
{
    /**
     * The state of the cluster. It returns within a few seconds, also when processes of the cluster do not answer.
     *
     * @return maps, lists, numbers, booleans and texts; {@code docs/dashboard.md} lists them.
     */
    Map<String, Object> status();

    /** Lets go of the cluster; what is under way ends first, or is cut off. Idempotent. */
    @Override
    void close();
}
