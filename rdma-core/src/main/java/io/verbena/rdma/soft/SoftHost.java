package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.FabricDirectory;
import io.verbena.rdma.soft.shared.OutsideWait;
import io.verbena.rdma.soft.shared.RingSpace;
import io.verbena.rdma.soft.shared.SharedFiles;
import io.verbena.rdma.soft.shared.SharedKeys;
import io.verbena.rdma.soft.shared.WatchPace;
import io.verbena.rdma.spi.AsyncEventQueue;
import io.verbena.rdma.spi.NetworkUse;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.util.function.IntFunction;

/**
 * What everything on one device of a {@link SoftFabric} shares: its control file with rings, keys and windows in it,
 * its queue pairs by number, and its peers. Thread-safe.
 */
final class SoftHost
{
    static final int MAX_MESSAGE_BYTES = 1 << 30;
    static final int PATH_MTU_BYTES = 4096;
    static final int MAX_QUEUE_PAIR_REQUESTS = 1 << 15;
    static final int MAX_READ_ATOMIC = 128;
    static final int MAX_INLINE_BYTES = 1 << 10;

    /**
     * What a fabric gives its devices.
     *
     * @param files         of the fabric.
     * @param outside       waits for requesters to be outside.
     * @param pace          of the watch.
     * @param rnrTimeoutNs  how long a request waits for a receive.
     * @param maxDcContexts of each device.
     * @param mayBeKilled   whether this process may be, when a requester of it stays inside for too long.
     */
    record FabricTerms(
        FabricDirectory files,
        OutsideWait outside,
        WatchPace pace,
        long rnrTimeoutNs,
        int maxDcContexts,
        boolean mayBeKilled)
    {
    }

    private final FabricTerms fabric;
    private final String name;
    private final DeviceAddress address;
    private final DeviceFile file;
    private final RingSpace rings;
    private final SharedKeys keys;
    private final SharedWindows windows;
    private final QueuePairTable queuePairs;
    private final PeerTable peers;
    private final AsyncEventQueue events = new AsyncEventQueue();
    /** Held while the watch works on the device; closing waits for that. */
    private final Object watchLock = new Object();
    private int childCount;
    private volatile boolean isClosed;

    /**
     * @param fabric  what it gives the device.
     * @param network that it is on, too.
     * @param claims  in what is open on the device.
     */
    SoftHost(
        final FabricTerms fabric,
        final String name,
        final DeviceAddress address,
        final int deviceIndex,
        final NetworkUse network,
        final PeerTable.Claims claims)
    {
        this.fabric = fabric;
        this.name = name;
        this.address = address;
        file = DeviceFile.create(fabric.files().deviceFile(fabric.files().ownerId(), deviceIndex));
        rings = new RingSpace(file);
        keys = new SharedKeys(file, network.random());
        windows = new SharedWindows(file, keys.local(), keys.entries(), network.random());
        queuePairs = new QueuePairTable(file, network.random());
        peers = new PeerTable(fabric.files(), fabric.outside(), file, address, claims);
        file.open(address, network.address(), deviceIndex, name, fabric.mayBeKilled(), fabric.maxDcContexts());
    }

    String name()
    {
        return name;
    }

    DeviceAddress address()
    {
        return address;
    }

    NanoClock clock()
    {
        return SystemNanoClock.INSTANCE;
    }

    FabricDirectory files()
    {
        return fabric.files();
    }

    WatchPace pace()
    {
        return fabric.pace();
    }

    OutsideWait outside()
    {
        return fabric.outside();
    }

    long rnrTimeoutNs()
    {
        return fabric.rnrTimeoutNs();
    }

    int maxDcContexts()
    {
        return fabric.maxDcContexts();
    }

    DeviceFile file()
    {
        return file;
    }

    RingSpace rings()
    {
        return rings;
    }

    SharedKeys keys()
    {
        return keys;
    }

    SharedWindows windows()
    {
        return windows;
    }

    QueuePairTable queuePairs()
    {
        return queuePairs;
    }

    PeerTable peers()
    {
        return peers;
    }

    AsyncEventQueue events()
    {
        return events;
    }

    void raise(final AsyncEventType type, final Object source)
    {
        events.raise(type, source);
    }

    /** Requesters, after entering anew without a check of their own state: whether they may do nothing any more. */
    boolean isEnding()
    {
        return fabric.files().isEnding();
    }

    <T extends SoftResponder> T addQueuePair(final IntFunction<T> factory)
    {
        return queuePairs.add(factory);
    }

    void removeQueuePair(final SoftResponder queuePair)
    {
        queuePairs.remove(queuePair);
        events.forget(queuePair);
    }

    /** Polling threads: the open queue pair of a number, or null. */
    SoftResponder queuePair(final int number)
    {
        return queuePairs.find(number);
    }

    /** Waits for every requester that may be inside this device's memory: own queue pairs and visitors. */
    void awaitOutside()
    {
        outside().awaitOutside(file, 0);
        peers.awaitVisitorsOutside();
    }

    /** Whether some requester is inside this device's memory right now. */
    boolean isAnyoneInside()
    {
        return AccessMark.isAnyInside(file, address.gidLow()) || peers.isVisitorInside();
    }

    /** As {@link #awaitOutside()}, for those that come through one queue pair. */
    void awaitOutside(final int queuePairNumber)
    {
        final SoftResponder queuePair = queuePair(queuePairNumber);
        if (queuePair != null)
        {
            queuePair.awaitRequesters();
        }
        else
        {
            // Being closed by another thread.
            awaitOutside();
        }
    }

    /** The device of this address, for one more user; null when it cannot be reached. */
    SoftPeer usePeer(final long interfaceId)
    {
        return peers.use(interfaceId);
    }

    boolean isDeadVisitor(final int visitor)
    {
        return peers.isDeadVisitor(visitor);
    }

    /** The watch: does something on the device unless it is closed. */
    void watch(final Runnable task)
    {
        synchronized (watchLock)
        {
            if (!isClosed)
            {
                task.run();
            }
        }
    }

    synchronized void childOpened()
    {
        childCount++;
    }

    synchronized void childClosed()
    {
        childCount--;
    }

    synchronized int childCount()
    {
        return childCount;
    }

    boolean isClosed()
    {
        return isClosed;
    }

    void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("device is closed: device=" + name);
        }
    }

    /** With nothing open on it. */
    void close()
    {
        synchronized (watchLock)
        {
            isClosed = true;
        }
        peers.close();
        file.disown();
        SharedFiles.deleteQuietly(file.path());
        file.close();
    }

    static void checkRange(final String what, final long value, final long min, final long max)
    {
        if (value < min || value > max)
        {
            throw new RdmaException(
                what + " is out of range: " + what + "=" + value + ", allowed " + min + " to " + max);
        }
    }
}
