package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What everything made on an open device shares: the {@code struct ibv_context}, what is known about it, its events,
 * and how many things are open on it. Knows none of the classes of those things. Thread-safe.
 */
final class DeviceContext
{
    private static final int KNOWN_ACCESS_FLAGS = 0x3F;

    private final String name;
    private final String rnic;
    private final long context;
    private final DeviceQuery query;
    private final PortGid gid;
    private final EventReader events;
    private final AtomicInteger children = new AtomicInteger();
    private final AtomicInteger lastSerial = new AtomicInteger();
    private volatile DeviceAddress address;
    private volatile DeviceAttributes attributes;
    private volatile int maxWindows;
    private volatile String windowProblem = "";
    private volatile boolean isLost;
    private boolean isClosed;

    /**
     * @param source  of the events that concern the whole device.
     * @param name    of the device, as it was opened.
     * @param rnic    that it is a context of.
     * @param context {@code struct ibv_context *}, closed by the caller.
     * @param query   what the device says about itself.
     * @param gid     of its port.
     */
    DeviceContext(
        final Object source,
        final String name,
        final String rnic,
        final long context,
        final DeviceQuery query,
        final PortGid gid)
    {
        this.name = name;
        this.rnic = rnic;
        this.context = context;
        this.query = query;
        this.gid = gid;
        attributes = query.attributes();
        events = new EventReader(name, context, source, this::onLost);
    }

    String name()
    {
        return name;
    }

    String rnic()
    {
        return rnic;
    }

    /** {@code struct ibv_context *}. */
    long pointer()
    {
        return context;
    }

    DeviceQuery query()
    {
        return query;
    }

    /** From which packets go. */
    QueuePairStructures.LocalPort localPort()
    {
        return new QueuePairStructures.LocalPort(query.portNumber(), gid.index());
    }

    EventReader events()
    {
        return events;
    }

    /** Null until the connection service has a port. */
    DeviceAddress address()
    {
        return address;
    }

    void address(final DeviceAddress ownAddress)
    {
        address = ownAddress;
    }

    DeviceAttributes attributes()
    {
        return attributes;
    }

    void attributes(final DeviceAttributes known)
    {
        attributes = known;
    }

    /**
     * What was found out about memory windows.
     *
     * @param most    0 when they are not offered.
     * @param problem why not.
     */
    void offerWindows(final int most, final String problem)
    {
        maxWindows = most;
        windowProblem = problem;
    }

    String windowProblem()
    {
        return windowProblem;
    }

    void checkWindows(final String what)
    {
        if (maxWindows == 0)
        {
            throw new UnsupportedVerbException(what, name, windowProblem);
        }
    }

    /** A number that no other queue of this device had before; never 0. */
    int nextSerial()
    {
        return lastSerial.incrementAndGet();
    }

    /** A function of the context's operation table, by its C name. */
    MemorySegment operation(final String function)
    {
        final long offset = VerbsLayouts.offset(VerbsLayouts.IBV_CONTEXT, "ops", function);
        return MemorySegment.ofAddress(VerbsLayouts.pointerAt(context, offset));
    }

    /** Event reader: nothing completes here any more. */
    private void onLost()
    {
        isLost = true;
    }

    /** Polling finds nothing for ever once a device is gone, so a caller that finds nothing has to ask here. */
    void checkThere()
    {
        if (isLost)
        {
            throw new RdmaException("RDMA device " + rnic + " failed or was taken away: close everything and open it " +
                "again, device=" + name);
        }
    }

    synchronized void childOpened()
    {
        if (isClosed)
        {
            throw new RdmaException("device is closed: device=" + name);
        }
        children.incrementAndGet();
    }

    void childClosed()
    {
        children.decrementAndGet();
    }

    /** Nothing can be opened on it any more; false when that was so before. Throws as long as something is open. */
    synchronized boolean close()
    {
        if (isClosed)
        {
            return false;
        }
        if (children.get() > 0)
        {
            throw new RdmaException("device is in use: close what was made from it first, device=" + name +
                ", open=" + children);
        }
        isClosed = true;
        return true;
    }

    static void checkRange(final String what, final long value, final long least, final long most)
    {
        if (value < least || value > most)
        {
            throw new RdmaException(what + "=" + value + " is not from " + least + " to " + most);
        }
    }

    static void checkAccessFlags(final int accessFlags)
    {
        if ((accessFlags & ~KNOWN_ACCESS_FLAGS) != 0)
        {
            throw new RdmaException("unknown access flags: 0x" + Integer.toHexString(accessFlags));
        }
    }
}
