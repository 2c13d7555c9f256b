package io.verbena.server;

import io.verbena.rdma.verbs.Device;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import org.slf4j.Logger;

import java.util.Map;
import java.util.function.Consumer;

/** Connections that a role's device refused because their packets are not sealed with its key. The role's thread. */
final class RefusedUnsealed
{
    private final Device device;
    private final PacedWarning warning;
    private final Consumer<String> audit;
    private long reported;

    /**
     * @param device of the role.
     * @param logger takes a warning in 10 s at most.
     * @param audit  hears how many were refused since it heard last, and the last of whom, at most once a poll.
     * @param nowNs  time now.
     */
    RefusedUnsealed(final Device device, final Logger logger, final Consumer<String> audit, final long nowNs)
    {
        this.device = device;
        this.audit = audit;
        warning = new PacedWarning(logger, "refused {} connections whose packets are not sealed with the key of this " +
            "process: give all processes of the cluster the same token file; 'status --json' has the last peer", nowNs);
    }

    /** Looks at the device, now and then. */
    void poll(final long nowNs)
    {
        final Device.RefusedConnections now = device.refusedConnections();
        warning.poll(now.count(), nowNs);
        if (now.count() != reported)
        {
            audit.accept(now.count() - reported + " connections without the key of sealed packets, the last of " +
                now.last());
            reported = now.count();
        }
    }

    void put(final Map<String, Object> figures)
    {
        final Device.RefusedConnections now = device.refusedConnections();
        figures.put("refused_unsealed_connections", now.count());
        figures.put("last_refused_unsealed_connection", now.last());
    }

    static void measure(final Device device, final Measurements measurements)
    {
        measurements.set(Metric.REFUSED_UNSEALED_CONNECTIONS, device.refusedConnections().count());
    }
}
