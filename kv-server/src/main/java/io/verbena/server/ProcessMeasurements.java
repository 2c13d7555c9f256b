package io.verbena.server;

import com.sun.management.ThreadMXBean;

import io.verbena.rdma.verbs.Device;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import java.lang.management.ManagementFactory;

/** What every process measures, whatever its role. Stateless. */
final class ProcessMeasurements
{
    private ProcessMeasurements()
    {
    }

    /** @param device that the role works on; null while it has none. */
    static void measure(final Device device, final Measurements measurements)
    {
        if (ManagementFactory.getThreadMXBean() instanceof final ThreadMXBean threads &&
            threads.isThreadAllocatedMemorySupported())
        {
            measurements.set(Metric.ALLOCATED, threads.getTotalThreadAllocatedBytes());
        }
        if (null != device)
        {
            RefusedUnsealed.measure(device, measurements);
        }
        final Device.NetworkCounters network = null == device ? null : device.networkCounters();
        if (null != network)
        {
            measurements.set(Metric.NETWORK_PACKETS, network.sent(), "sent");
            measurements.set(Metric.NETWORK_PACKETS, network.received(), "received");
            measurements.set(Metric.NETWORK_RETRANSMITS, network.resent());
            measurements.set(Metric.NETWORK_TIMEOUTS, network.timeouts());
            measurements.set(Metric.NETWORK_DROPS, network.invalid(), "invalid");
            measurements.set(Metric.NETWORK_DROPS, network.unsendable(), "unsendable");
            measurements.set(Metric.NETWORK_CONGESTION, network.notifications());
        }
    }
}
