package io.verbena.server;

import io.verbena.rdma.verbs.Device;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import org.slf4j.Logger;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ObjLongConsumer;

/** Connections that a role's device refused because their packets are not sealed with its key. The role's thread. */
final class RefusedUnsealed
{
    /** What they are in the audit log. */
    static final String WHAT = "connections without the key of sealed packets";
    private static final long AUDIT_PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

    private final Device device;
    private final PacedWarning warning;
    private final ObjLongConsumer<String> audit;
    private final long before;
    private long reported;
    private long nextAuditNs;

    /**
     * @param device of the role.
     * @param logger takes a warning in 10 s at most.
     * @param audit  hears the last of whom was refused, and how many were since it heard last; once a second at most.
     *               What the device refused before this role began it does not hear again.
     * @param nowNs  time now.
     */
    RefusedUnsealed(final Device device, final Logger logger, final ObjLongConsumer<String> audit, final long nowNs)
    {
        this.device = device;
        this.audit = audit;
        before = device.refusedConnections().count();
        reported = before;
        nextAuditNs = nowNs;
        warning = new PacedWarning(logger, "refused {} connections whose packets are not sealed with the key of this " +
            "process: give all processes of the cluster the same token file; 'status --json' has the last peer", nowNs);
    }

    /** Looks at the device, now and then. */
    void poll(final long nowNs)
    {
        final Device.RefusedConnections now = device.refusedConnections();
        warning.poll(now.count() - before, nowNs);
        if (now.count() != reported && nowNs - nextAuditNs >= 0)
        {
            audit.accept(now.last(), now.count() - reported);
            reported = now.count();
            nextAuditNs = nowNs + AUDIT_PERIOD_NS;
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
