package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SegmentHold;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.BiFunction;

/** A protection domain of a {@link RoceEngine}. Thread-safe. */
public final class RoceProtectionDomain implements ProtectionDomain
{
    private static final int PAGE_BYTES = 4096;

    private final EngineContext engine;
    private final BiFunction<ProtectionDomain, QueuePairOptions, RoceQueuePair> queuePairs;

    RoceProtectionDomain(
        final EngineContext engine, final BiFunction<ProtectionDomain, QueuePairOptions, RoceQueuePair> queuePairs)
    {
        this.engine = engine;
        this.queuePairs = queuePairs;
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        final Arena arena = Arena.ofShared();
        return add(arena.allocate(lengthBytes, PAGE_BYTES), accessFlags, arena::close);
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        RegisteredRegion.checkRequest(segment.byteSize(), accessFlags);
        SegmentHold.checkCanBeHeld(segment);
        if (segment.isReadOnly())
        {
            throw new RdmaException("read-only memory cannot be registered, peers could write to it: " + segment);
        }
        final SegmentHold hold = SegmentHold.of(segment);
        return add(segment, accessFlags, hold::close);
    }

    /** Frees the memory, or lets it go, when the region is closed and when there is no key for it. */
    private MemoryRegion add(final MemorySegment segment, final int accessFlags, final Runnable free)
    {
        final RegisteredRegion[] added = {null};
        try
        {
            engine.exclusively(() -> added[0] = engine.memory().regions.add(
                segment, segment.address(), accessFlags, this, (region) -> remove(region, free)));
            return added[0];
        }
        finally
        {
            if (added[0] == null)
            {
                free.run();
            }
        }
    }

    private void remove(final RegisteredRegion region, final Runnable free)
    {
        // Whoever drives looks a key up and uses the region without a pause: none does afterwards.
        engine.exclusively(() -> engine.memory().regions.remove(region));
        free.run();
    }

    @Override
    public RoceQueuePair createQueuePair(final QueuePairOptions options)
    {
        final boolean isForeign = !(options.sendCompletions() instanceof RoceCompletionQueue) ||
            !(options.receiveCompletions() instanceof RoceCompletionQueue) ||
            options.sharedReceiveQueue() != null &&
            !(options.sharedReceiveQueue() instanceof RoceSharedReceiveQueue shared && shared.domain() == this);
        if (isForeign)
        {
            throw new RdmaException("queues of a queue pair must be of its device and domain: type=" + options.type());
        }
        return queuePairs.apply(this, options);
    }

    @Override
    public RoceSharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        if (maxReceiveRequests < 1)
        {
            throw new RdmaException(
                "a shared receive queue takes 1 receive or more: maxReceiveRequests=" + maxReceiveRequests);
        }
        return new RoceSharedReceiveQueue(engine, this, maxReceiveRequests);
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        final MemoryWindow[] added = {null};
        engine.exclusively(() -> added[0] = engine.memory().windows.add(
            this, (window) -> engine.exclusively(() -> engine.memory().windows.remove(window))));
        return added[0];
    }

    @Override
    public AddressHandle createAddressHandle(final DeviceAddress target)
    {
        return new RoceAddressHandle(target, engine.options().pathTo(target));
    }

    @Override
    public void close()
    {
        // the engine keeps no record of domains
    }
}
