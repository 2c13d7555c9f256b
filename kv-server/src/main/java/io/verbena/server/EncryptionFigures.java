package io.verbena.server;

import io.verbena.protocol.remote.RequestServer;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.raas.usage.EncryptionUse;
import io.verbena.rdma.verbs.Device;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import org.slf4j.Logger;

import java.util.Map;

/** Encrypted connections of a compute node, and those refused because of encryption. Written by the node's thread. */
final class EncryptionFigures
{
    private final RequestServer server;
    private final PacedWarning refused;
    private final RefusedUnsealed unsealed;
    private volatile EncryptionUse use = EncryptionUse.NONE;

    /**
     * @param device     of the node.
     * @param server     of the node.
     * @param endpoint   of the node, which reports what is refused.
     * @param isRequired whether clients have to encrypt.
     * @param logger     takes a warning in 10 s at most.
     * @param nowNs      time now.
     */
    EncryptionFigures(
        final Device device, final RequestServer server, final ComputeEndpoint endpoint, final boolean isRequired,
        final Logger logger, final long nowNs)
    {
        this.server = server;
        refused = new PacedWarning(logger, "refused {} connections of clients because of encryption: they came in " +
            "clear where --encrypt is required, or sent what is not the next message of their connection; the audit " +
            "log says whose", nowNs);
        unsealed = new RefusedUnsealed(
            device, logger, (last, times) -> endpoint.onUnproved(RefusedUnsealed.WHAT, times, last), nowNs);
        server.encryption(isRequired, endpoint::onRefused);
    }

    /** Looks at the server, now and then. */
    void poll(final long nowNs)
    {
        use = server.encryption();
        refused.poll(use.refused(), nowNs);
        unsealed.poll(nowNs);
    }

    void put(final Map<String, Object> figures)
    {
        final EncryptionUse now = use;
        figures.put("encrypted_connections", now.connections());
        figures.put("refused_in_clear", now.refusedInClear());
        figures.put("refused_messages", now.refusedMessages());
        unsealed.put(figures);
    }

    void measure(final Measurements measurements)
    {
        final EncryptionUse now = use;
        measurements.set(Metric.ENCRYPTED_CONNECTIONS, now.connections());
        measurements.set(Metric.REFUSED_IN_CLEAR, now.refusedInClear());
        measurements.set(Metric.REFUSED_MESSAGES, now.refusedMessages());
    }
}
