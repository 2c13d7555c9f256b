package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.request.RoceAddressHandle;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.OpenChildren;
import io.verbena.rdma.spi.ReceiveClaims;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SecondWay;
import io.verbena.rdma.spi.SegmentHold;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A protection domain of a {@link RoceEngine}. Thread-safe. */
public final class RoceProtectionDomain implements ProtectionDomain
{
    private static final int PAGE_BYTES = 4096;

    private final OpenChildren children = new OpenChildren("protection domain");
    private final EngineContext engine;
    private final ProtectionDomain user;
    private final SecondWay others;
    private final Factory queuePairs;
    private final TargetFactory targets;

    /** Makes queue pairs. */
    interface Factory
    {
        /** Makes one, of a number, or of any when that is 0. */
        RoceQueuePair create(RoceProtectionDomain domain, QueuePairOptions options, int number);
    }

    /** Makes DC targets. */
    interface TargetFactory
    {
        /** Makes one, of a number, or of any when that is 0. */
        DcTarget create(RoceProtectionDomain domain, DcTargetOptions options, int number);
    }

    /**
     * @param user   what regions, windows and queue pairs belong to; null for this.
     * @param others engines that reach the same regions and windows.
     */
    RoceProtectionDomain(
        final EngineContext engine,
        final ProtectionDomain user,
        final SecondWay others,
        final Factory queuePairs,
        final TargetFactory targets)
    {
        engine.children().add();
        this.targets = targets;
        this.others = others;
        this.user = user == null ? this : user;
        this.engine = engine;
        this.queuePairs = queuePairs;
    }

    /** @throws RdmaException when it is closed. */
    public void checkOpen()
    {
        children.checkOpen();
    }

    /** @throws RdmaException while something that was made from it is open. */
    public void checkUnused()
    {
        children.checkUnused();
    }

    OpenChildren children()
    {
        return children;
    }

    /** What its regions, windows and queue pairs belong to. */
    ProtectionDomain user()
    {
        return user;
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        checkOpen();
        final Arena arena = Arena.ofShared();
        return register(arena.allocate(lengthBytes, PAGE_BYTES), accessFlags, arena::close);
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        RegisteredRegion.checkRequest(segment.byteSize(), accessFlags);
        SegmentHold.checkCanBeHeld(segment);
        checkWritable(segment);
        final SegmentHold hold = SegmentHold.of(segment);
        return register(segment, accessFlags, hold::close);
    }

    /** @throws RdmaException when the segment is read-only. */
    public static void checkWritable(final MemorySegment segment)
    {
        if (segment.isReadOnly())
        {
            throw new RdmaException("read-only memory cannot be registered, peers could write to it: " + segment);
        }
    }

    /**
     * Registers memory that somebody keeps until the region is closed.
     *
     * @param segment     native.
     * @param accessFlags checked before.
     * @param free        run once, when no access through the region can land any more, or there is no key for it.
     * @return the region, closed by the caller.
     */
    public MemoryRegion register(final MemorySegment segment, final int accessFlags, final Runnable free)
    {
        final RegisteredRegion[] added = {null};
        try
        {
            engine.exclusively(() ->
            {
                children.checkOpen();
                added[0] = engine.memory().regions.add(
                    segment, segment.address(), accessFlags, user, (region) -> remove(region, free));
                children.add();
            });
            return shown(added[0]);
        }
        finally
        {
            if (added[0] == null)
            {
                free.run();
            }
        }
    }

    /** Lets the other engines know a region, or closes it. */
    private MemoryRegion shown(final RegisteredRegion region)
    {
        boolean isShown = false;
        try
        {
            others.regionAdded(region);
            isShown = true;
            return region;
        }
        finally
        {
            if (!isShown)
            {
                region.close();
            }
        }
    }

    private void remove(final RegisteredRegion region, final Runnable free)
    {
        abandon(region);
        free.run();
        children.remove();
    }

    /**
     * Lets peers reach a region that another provider has made, under its key.
     *
     * @param region of the {@link RoceEngine#createProtectionDomain(ProtectionDomain, SecondWay) user} of this domain,
     *               with a key that this engine has not given out; its maker {@linkplain #abandon takes it back}.
     */
    public void adopt(final RegisteredRegion region)
    {
        engine.exclusively(() -> engine.memory().regions.adopt(region));
        others.regionAdded(region);
    }

    /**
     * Takes a region back; without effect the second time.
     *
     * @param region that was adopted; no access lands in it when this returns.
     */
    public void abandon(final RegisteredRegion region)
    {
        // Whoever drives looks a key up and uses the region without a pause: none does afterwards.
        engine.exclusively(() -> engine.memory().regions.remove(region));
        others.regionWithdrawn(region);
    }

    /** As {@link #adopt(RegisteredRegion)}, a window. */
    public void adopt(final BoundWindow window)
    {
        engine.exclusively(() -> engine.memory().windows.adopt(window));
        others.windowAdded(window);
    }

    /** As {@link #abandon(RegisteredRegion)}, a window, whose binding is taken away if it is bound. */
    public void abandon(final BoundWindow window)
    {
        engine.exclusively(() -> engine.memory().windows.remove(window));
        others.windowRemoved(window);
    }

    @Override
    public RoceQueuePair createQueuePair(final QueuePairOptions options)
    {
        return createQueuePair(options, 0);
    }

    /**
     * Creates a queue pair of a number.
     *
     * @param options as of {@link #createQueuePair(QueuePairOptions)}.
     * @param number  2 to 2^24 - 2, that no queue pair of the engine has; 0 for any.
     * @return the queue pair, closed by the caller.
     */
    public RoceQueuePair createQueuePair(final QueuePairOptions options, final int number)
    {
        final boolean isForeign = !isOwn(options.sendCompletions()) || !isOwn(options.receiveCompletions()) ||
            options.sharedReceiveQueue() != null &&
            !(options.sharedReceiveQueue() instanceof RoceSharedReceiveQueue shared && shared.domain() == this);
        if (isForeign)
        {
            throw new RdmaException("queues of a queue pair must be of its device and domain: type=" + options.type());
        }
        return queuePairs.create(this, options, number);
    }

    private boolean isOwn(final CompletionQueue queue)
    {
        return queue instanceof final RoceCompletionQueue own && own.isOf(engine);
    }

    @Override
    public RoceSharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        if (maxReceiveRequests < 1)
        {
            throw new RdmaException(
                "a shared receive queue takes 1 receive or more: maxReceiveRequests=" + maxReceiveRequests);
        }
        return new RoceSharedReceiveQueue(engine, this, children, maxReceiveRequests, null);
    }

    /**
     * Creates a shared receive queue for receives of another provider's, which are posted and limited there.
     *
     * @param claims             takes them.
     * @param maxReceiveRequests most outstanding there.
     * @return the queue, for queue pairs of this domain only; closed by the caller.
     */
    public RoceSharedReceiveQueue createSharedReceiveQueue(final ReceiveClaims claims, final int maxReceiveRequests)
    {
        return new RoceSharedReceiveQueue(engine, this, children, maxReceiveRequests, claims);
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        final BoundWindow[] added = {null};
        engine.exclusively(() ->
        {
            children.checkOpen();
            added[0] = engine.memory().windows.add(user, this::remove);
            children.add();
        });
        boolean isShown = false;
        try
        {
            others.windowAdded(added[0]);
            isShown = true;
        }
        finally
        {
            if (!isShown)
            {
                added[0].close();
            }
        }
        return added[0];
    }

    private void remove(final BoundWindow window)
    {
        abandon(window);
        children.remove();
    }

    @Override
    public AddressHandle createAddressHandle(final DeviceAddress target)
    {
        return createAddressHandle(target, true);
    }

    /**
     * Creates an address handle.
     *
     * @param target      device.
     * @param isOfProject whether the device is one of this project: DC goes to no others.
     * @return the handle, closed by the caller.
     */
    public AddressHandle createAddressHandle(final DeviceAddress target, final boolean isOfProject)
    {
        return new RoceAddressHandle(
            target, engine.options().pathTo(target), engine.options().pathFrom(target), isOfProject, children);
    }

    @Override
    public DcTarget createDcTarget(final DcTargetOptions options)
    {
        return createDcTarget(options, 0);
    }

    /**
     * Creates a DC target of a number.
     *
     * @param options as of {@link #createDcTarget(DcTargetOptions)}.
     * @param number  2 to 2^24 - 2, that no queue pair or target of the engine has; 0 for any.
     * @return the target, closed by the caller.
     */
    public DcTarget createDcTarget(final DcTargetOptions options, final int number)
    {
        if (!isOwn(options.receiveCompletions()) ||
            !(options.sharedReceiveQueue() instanceof RoceSharedReceiveQueue shared && shared.domain() == this))
        {
            throw new RdmaException("queues of a DC target must be of its device and domain");
        }
        return targets.create(this, options, number);
    }

    @Override
    public void close()
    {
        if (children.close())
        {
            engine.children().remove();
        }
    }
}
