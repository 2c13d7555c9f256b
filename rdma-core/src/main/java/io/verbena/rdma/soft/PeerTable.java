package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.FabricDirectory;
import io.verbena.rdma.soft.shared.OutsideWait;
import io.verbena.rdma.soft.shared.SharedMemoryFile;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static io.verbena.rdma.soft.shared.DeviceFileDescriptor.*;

/**
 * The devices that a device has mapped, and those that have mapped it (its visitors). A device registers as a visitor
 * before it touches anything, so that who revokes knows whose marks to look at. Thread-safe.
 */
final class PeerTable
{
    /** What the claims of visitors lie in. */
    interface Claims
    {
        /** Some peer is dead: it needs no contexts any more, and the owners of queues have to give its claims up. */
        void visitorsDied();

        /** Whether a claim of this visitor is open in any ring. */
        boolean hasClaimOf(int visitor);
    }

    private final FabricDirectory files;
    private final OutsideWait outside;
    private final DeviceFile own;
    private final DeviceAddress address;
    private final Claims claims;
    private final Map<Long, SoftPeer> peers = new HashMap<>();
    private final List<SharedMemoryFile> unused = new ArrayList<>();
    private final boolean[] deadVisitors = new boolean[MAX_VISITORS];
    private volatile boolean hasDeadVisitors;

    /**
     * @param files   of the fabric.
     * @param outside of the same.
     * @param own     control file of the device.
     * @param address of the device.
     * @param claims  in what is open on the device.
     */
    PeerTable(
        final FabricDirectory files,
        final OutsideWait outside,
        final DeviceFile own,
        final DeviceAddress address,
        final Claims claims)
    {
        this.files = files;
        this.outside = outside;
        this.own = own;
        this.address = address;
        this.claims = claims;
    }

    /** The device of this interface id, for one more user; null when it cannot be reached from here. */
    synchronized SoftPeer use(final long interfaceId)
    {
        final SoftPeer known = peers.get(interfaceId);
        if (known != null)
        {
            return known.file().isOpen() ? known.use() : null;
        }
        final DeviceFile file = DeviceFile.attach(path(interfaceId));
        if (file == null)
        {
            return null;
        }
        final int visitor = isReachable(file) ? register(file) : 0;
        if (visitor == 0)
        {
            file.close();
            return null;
        }
        final SoftPeer peer = new SoftPeer(
            files, file, new DeviceAddress(address.gidHigh(), interfaceId), visitor);
        peers.put(interfaceId, peer);
        return peer.use();
    }

    /** Same host: same directory, which holds, and same network namespace. Those to other hosts would come here. */
    private boolean isReachable(final DeviceFile file)
    {
        return SharedWords.getLong(file.base() + NETWORK_NAMESPACE_OFFSET) ==
            SharedWords.getLong(own.base() + NETWORK_NAMESPACE_OFFSET);
    }

    private int register(final DeviceFile file)
    {
        for (int i = 1; i < MAX_VISITORS; i++)
        {
            if (SharedWords.compareAndSetLong(
                visitorAddress(file, i), 0, address.gidLow()))
            {
                final long limitAddress = file.base() + VISITOR_LIMIT_OFFSET;
                int limit = SharedWords.getIntVolatile(limitAddress);
                while (limit <= i && !SharedWords.compareAndSetInt(limitAddress, limit, i + 1))
                {
                    limit = SharedWords.getIntVolatile(limitAddress);
                }
                return i;
            }
        }
        return 0;
    }

    private static long visitorAddress(final DeviceFile file, final int visitor)
    {
        return file.base() + VISITORS_OFFSET + (long)visitor * Long.BYTES;
    }

    private Path path(final long interfaceId)
    {
        return files.deviceFile((int)(interfaceId >>> Integer.SIZE), (int)interfaceId);
    }

    /** Waits until every visitor that was inside this device's memory has left it. */
    void awaitVisitorsOutside()
    {
        final int limit = visitorLimit();
        for (int i = 1; i < limit; i++)
        {
            final long id = SharedWords.getLongVolatile(visitorAddress(own, i));
            final DeviceFile visitor = id == 0 ? null : DeviceFile.attachToRevoke(path(id));
            // Without a file that is open its process is dead or it has closed the device: it does nothing any more.
            if (visitor != null)
            {
                try
                {
                    outside.awaitOutside(visitor, address.gidLow());
                }
                finally
                {
                    visitor.close();
                }
            }
        }
    }

    /** Whether a visitor is inside this device's memory right now, or cannot be looked at right now. */
    boolean isVisitorInside()
    {
        final int limit = visitorLimit();
        boolean isInside = false;
        for (int i = 1; i < limit && !isInside; i++)
        {
            final long id = SharedWords.getLongVolatile(visitorAddress(own, i));
            isInside = id != 0 && isInside(path(id));
        }
        return isInside;
    }

    private boolean isInside(final Path visitorFile)
    {
        try (DeviceFile visitor = DeviceFile.attachToRevoke(visitorFile))
        {
            return visitor != null && AccessMark.isAnyInside(visitor, address.gidLow());
        }
        catch (final RdmaException ex)
        {
            // Whoever asks, asks again later.
            return true;
        }
    }

    private int visitorLimit()
    {
        return SharedWords.getIntVolatile(own.base() + VISITOR_LIMIT_OFFSET);
    }

    boolean isDeadVisitor(final int visitor)
    {
        if (!hasDeadVisitors)
        {
            return false;
        }
        synchronized (this)
        {
            return deadVisitors[visitor];
        }
    }

    /** Adds the owners of all peers and visitors. */
    synchronized void collectOwners(final Set<Integer> owners)
    {
        for (final SoftPeer peer : peers.values())
        {
            if (peer.file().isOpen())
            {
                owners.add(peer.file().ownerId());
            }
        }
        final int limit = visitorLimit();
        for (int i = 1; i < limit; i++)
        {
            final long id = SharedWords.getLongAcquire(visitorAddress(own, i));
            if (id != 0 && !deadVisitors[i])
            {
                owners.add((int)(id >>> Integer.SIZE));
            }
        }
    }

    /** A process is dead: requests to its devices fail from now on, and its claims are given up. */
    void ownerDied(final int owner)
    {
        synchronized (this)
        {
            for (final SoftPeer peer : peers.values())
            {
                if (peer.file().ownerId() == owner)
                {
                    peer.file().markDead();
                }
            }
            final int limit = visitorLimit();
            for (int i = 1; i < limit; i++)
            {
                if ((int)(SharedWords.getLongAcquire(visitorAddress(own, i)) >>> Integer.SIZE) == owner)
                {
                    deadVisitors[i] = true;
                    hasDeadVisitors = true;
                }
            }
        }
        claims.visitorsDied();
    }

    /** Unmaps what nobody uses any more: regions whose keys are gone, devices that are gone. */
    void tidy()
    {
        synchronized (this)
        {
            peers.values().forEach(peer -> unused.addAll(peer.takeUnused()));
            peers.values().removeIf(peer ->
            {
                final boolean isGone = !peer.isUsed() && !peer.file().isOpen();
                if (isGone)
                {
                    peer.close();
                }
                return isGone;
            });
            freeDeadVisitors();
            if (unused.isEmpty())
            {
                return;
            }
        }
        // A requester that is inside may have looked a mapping up before it was taken out of use.
        outside.awaitOutside(own, 0);
        synchronized (this)
        {
            unused.forEach(SharedMemoryFile::close);
            unused.clear();
        }
    }

    private void freeDeadVisitors()
    {
        boolean remain = false;
        for (int i = 1; hasDeadVisitors && i < MAX_VISITORS; i++)
        {
            if (deadVisitors[i] && !claims.hasClaimOf(i))
            {
                deadVisitors[i] = false;
                SharedWords.putLongVolatile(visitorAddress(own, i), 0);
            }
            remain |= deadVisitors[i];
        }
        hasDeadVisitors = remain;
    }

    /** With no requester about. */
    synchronized void close()
    {
        peers.values().forEach(SoftPeer::close);
        peers.clear();
        unused.forEach(SharedMemoryFile::close);
        unused.clear();
    }
}
