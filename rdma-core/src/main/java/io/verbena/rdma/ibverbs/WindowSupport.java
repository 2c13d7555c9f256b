package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.RdmaException;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Whether a device offers memory windows. What it says about itself is not enough: Soft-RoCE of Linux 6.1 binds windows
 * and then looks at the bounds of the region behind them. So each RNIC is tried once in a process, when it is opened
 * first; {@code windows=on} or {@code windows=off} in the fabric's name decides without trying.
 *
 * @param maxWindows 0 when they are not offered.
 * @param problem    empty when they are; else why not and what to do, in one line.
 */
record WindowSupport(int maxWindows, String problem)
{
    /** What was found out, by RNIC; one that could not be tried, for want of memory or time, is tried again. */
    private static final Map<String, WindowSupport> KNOWN = new ConcurrentHashMap<>();
    private static final String REMEDY = "; give peers regions of their own instead";

    /** While nothing is known. */
    static final WindowSupport NONE = new WindowSupport(0, "");

    /**
     * Finds out.
     *
     * @param device  open, without windows so far.
     * @param domains makes protection domains on it.
     * @param choice  what the fabric's name says.
     * @return what the device shall offer.
     */
    static WindowSupport of(
        final DeviceContext device,
        final Supplier<IbverbsProtectionDomain> domains,
        final IbverbsOptions.Windows choice)
    {
        final int most = device.query().maxWindows();
        if (most == 0)
        {
            return new WindowSupport(0, device.rnic() + " has no memory windows of type 2" + REMEDY);
        }
        return switch (choice)
        {
            case ON -> new WindowSupport(most, "");
            case OFF -> new WindowSupport(0, "switched off by windows=off");
            case PROBE -> tryOut(device, domains, most);
        };
    }

    private static WindowSupport tryOut(
        final DeviceContext device, final Supplier<IbverbsProtectionDomain> domains, final int most)
    {
        try
        {
            return KNOWN.computeIfAbsent(device.rnic(), rnic -> verdict(device, domains, most));
        }
        catch (final RdmaException ex)
        {
            return new WindowSupport(0, "memory windows of " + device.rnic() + " could not be tried: " +
                ex.getMessage() + REMEDY);
        }
    }

    private static WindowSupport verdict(
        final DeviceContext device, final Supplier<IbverbsProtectionDomain> domains, final int most)
    {
        final String problem = WindowProbe.problem(device, domains);
        return problem.isEmpty() ? new WindowSupport(most, "") :
            new WindowSupport(0, device.rnic() + " " + problem + REMEDY);
    }

    /** @return the attributes with what was found out. */
    DeviceAttributes addTo(final DeviceAttributes plain)
    {
        final Set<DeviceCapability> capabilities = EnumSet.copyOf(plain.capabilities());
        if (maxWindows > 0)
        {
            capabilities.add(DeviceCapability.MEMORY_WINDOW);
        }
        return new DeviceAttributes(plain.provider(), capabilities, plain.readAfterAtomicNeedsFence(),
            plain.maxQueuePairRequests(), plain.maxCompletions(), plain.maxMessageBytes(), plain.maxInlineBytes(),
            plain.maxSendSegments(), plain.maxReadAtomic(), plain.maxSharedReceiveRequests(), maxWindows,
            plain.maxDcContexts());
    }
}
