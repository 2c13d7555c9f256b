package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.KeyEntries;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.WindowBinding;
import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntSupplier;

import static io.verbena.rdma.soft.shared.KeyEntryDescriptor.*;

/**
 * An own device's memory windows: the bindings in the heap, and what peers see of them in the device file. Taking a
 * binding away has three steps, so that nothing lands afterwards: {@link #revoke}, waiting until the requesters that
 * were inside then are outside, and {@link #finish} or {@link #remove}. A peer's SEND_WITH_INV takes away only what
 * peers see, with nobody but itself inside; the heap learns of it when it matters. Thread-safe.
 */
final class SharedWindows
{
    private final KeyTable regions;
    private final KeyEntries regionEntries;
    private final KeyEntries entries;
    private final WindowTable windows;
    /** Bound here, so that peers see the binding; the others are not bound, or by another way to this memory. */
    private final Set<BoundWindow> published = new HashSet<>();
    /** Between {@link #revoke} and {@link #finish}: bound to all but peers. */
    private final Set<BoundWindow> revoked = new HashSet<>();

    /**
     * @param file          of the device.
     * @param regions       of the device.
     * @param regionEntries of the same.
     * @param random        where keys come from that are not to be guessed; null when they may follow each other.
     */
    SharedWindows(
        final DeviceFile file, final KeyTable regions, final KeyEntries regionEntries, final IntSupplier random)
    {
        windows = new WindowTable(random);
        this.regions = regions;
        this.regionEntries = regionEntries;
        entries = KeyEntries.ofWindows(file);
    }

    /** A new window, not bound. */
    synchronized BoundWindow add(final ProtectionDomain domain, final BoundWindow.Owner owner)
    {
        return windows.add(domain, owner);
    }

    /** Whether a window is one of this device and open. */
    boolean contains(final BoundWindow window)
    {
        return windows.contains(window);
    }

    /** The window that is bound under a key as far as the heap knows, or null. */
    BoundWindow find(final int key)
    {
        return windows.find(key);
    }

    /** Executes a BIND_MW of a length; returns its status. */
    synchronized int bind(
        final BoundWindow window,
        final WorkRequest request,
        final DomainIdentity domain,
        final int queuePairNumber)
    {
        collect(window);
        if (revoked.contains(window))
        {
            return WorkCompletionStatus.MW_BIND_ERR;
        }
        final RegisteredRegion region =
            request.region == null ? null : regions.find(request.region.localKey());
        final int status = window.bind(
            request, region == request.region ? region : null, domain.domain(), queuePairNumber);
        if (status == WorkCompletionStatus.SUCCESS)
        {
            published.add(window);
            publish(window.binding(), domain.id());
        }
        return status;
    }

    private void publish(final WindowBinding binding, final int domainId)
    {
        final RegisteredRegion region = binding.region();
        final long regionEntry = regionEntries.entry(region.remoteKey());
        final long entry = entries.entry(binding.key());
        // A requester that has found the entry earlier under the same key sees that it is another binding.
        SharedWords.putLong(entry + BINDING_OFFSET, SharedWords.getLong(entry + BINDING_OFFSET) + 1);
        VarHandle.releaseFence();
        SharedWords.putInt(entry + RIGHTS_OFFSET, binding.accessFlags() & ~AccessFlags.ZERO_BASED);
        SharedWords.putInt(entry + DOMAIN_OFFSET, domainId);
        SharedWords.putInt(entry + QUEUE_PAIR_OFFSET, binding.queuePairNumber());
        SharedWords.putLong(entry + ADDRESS_OFFSET, binding.firstAddress());
        SharedWords.putLong(entry + LENGTH_OFFSET, binding.lengthBytes());
        SharedWords.putLong(entry + FILE_OFFSET, SharedWords.getLong(regionEntry + FILE_OFFSET));
        SharedWords.putLong(
            entry + FILE_POSITION_OFFSET,
            SharedWords.getLong(regionEntry + FILE_POSITION_OFFSET) + binding.address() - region.address());
        SharedWords.putIntRelease(entry + KEY_OFFSET, binding.key());
    }

    /**
     * Takes the rights of peers away. Those that have looked before may still be using them.
     *
     * @return whether they had any; the heap knows the binding until {@link #finish} then.
     */
    synchronized boolean revoke(final BoundWindow window)
    {
        final WindowBinding binding = window.binding();
        final boolean wasBound = binding != null && !revoked.contains(window) &&
            SharedWords.compareAndSetInt(entries.entry(binding.key()) + KEY_OFFSET, binding.key(), 0);
        if (wasBound)
        {
            revoked.add(window);
        }
        return wasBound;
    }

    /** Nobody uses a revoked binding any more. */
    synchronized void finish(final BoundWindow window)
    {
        if (revoked.remove(window))
        {
            unbind(window);
        }
    }

    /** As {@link #finish}, and makes the window unknown. */
    synchronized void remove(final BoundWindow window)
    {
        revoke(window);
        revoked.remove(window);
        published.remove(window);
        windows.remove(window);
    }

    /** Takes away all bindings made through a queue pair by which no requester comes any more. */
    synchronized void unbindAll(final int queuePairNumber)
    {
        for (final BoundWindow window : windows.openWindows())
        {
            final WindowBinding binding = window.binding();
            if (binding != null && binding.queuePairNumber() == queuePairNumber)
            {
                revoke(window);
                revoked.remove(window);
                unbind(window);
            }
        }
    }

    /** Learns which windows on a region peers have taken the rights of. */
    synchronized void collect(final RegisteredRegion region)
    {
        for (final BoundWindow window : windows.openWindows())
        {
            final WindowBinding binding = window.binding();
            if (binding != null && binding.region() == region)
            {
                collect(window);
            }
        }
    }

    private void unbind(final BoundWindow window)
    {
        published.remove(window);
        window.unbind();
    }

    /** Learns whether peers have taken the rights of a window. */
    synchronized void collect(final BoundWindow window)
    {
        final WindowBinding binding = window.binding();
        if (binding != null && published.contains(window) && !revoked.contains(window) &&
            SharedWords.getIntVolatile(entries.entry(binding.key()) + KEY_OFFSET) == 0)
        {
            unbind(window);
        }
    }
}
