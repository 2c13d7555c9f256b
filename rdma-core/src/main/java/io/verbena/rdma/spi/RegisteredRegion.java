package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A registered region of a software provider; {@code lkey} and {@code rkey} are the same key. Thread-safe. */
public final class RegisteredRegion implements MemoryRegion
{
    /** The provider's part of closing a region. */
    public interface Owner
    {
        /**
         * Called first of all when a region is to be closed: unbinds the windows on it that peers have invalidated, if
         * the provider learns of that only by looking.
         *
         * @param region to be closed.
         */
        default void collectInvalidated(final RegisteredRegion region)
        {
        }

        /**
         * Takes the region out of use, waits until no access through it can land, and frees what the provider
         * allocated.
         *
         * @param region being closed; again when an earlier call threw.
         */
        void release(RegisteredRegion region);
    }

    private static final int CLOSED = Integer.MIN_VALUE;

    private final MemorySegment segment;
    private final long address;
    private final long lengthBytes;
    private final int key;
    private final int accessFlags;
    private final ProtectionDomain protectionDomain;
    private final Owner owner;
    private final AtomicBoolean isClosed = new AtomicBoolean();
    /** Bound windows; negative once closed, so that none is bound any more. */
    private final AtomicInteger boundWindows = new AtomicInteger();

    RegisteredRegion(
        final MemorySegment segment,
        final long address,
        final int key,
        final int accessFlags,
        final ProtectionDomain protectionDomain,
        final Owner owner)
    {
        this.segment = segment;
        this.address = address;
        this.lengthBytes = segment.byteSize();
        this.key = key;
        this.accessFlags = accessFlags;
        this.protectionDomain = protectionDomain;
        this.owner = owner;
    }

    /**
     * Translates an address inside the region.
     *
     * @param accessAddress in the terms of {@link #address()}.
     * @return the same byte in the terms of {@link RawMemory}.
     */
    public long rawAddress(final long accessAddress)
    {
        return segment.address() + accessAddress - address;
    }

    /**
     * Checks a request to register; to be called before anything is allocated.
     *
     * @param lengthBytes must be 1 or more.
     * @param accessFlags must be known ones, and have LOCAL_WRITE with REMOTE_WRITE or REMOTE_ATOMIC.
     */
    public static void checkRequest(final long lengthBytes, final int accessFlags)
    {
        if (lengthBytes <= 0)
        {
            throw new RdmaException("region must have 1 byte or more: lengthBytes=" + lengthBytes);
        }
        if ((accessFlags & ~(AccessFlags.ALL_REMOTE | AccessFlags.MW_BIND)) != 0)
        {
            throw new RdmaException("unknown access flags: accessFlags=0x" + Integer.toHexString(accessFlags));
        }
        final boolean isWrittenRemotely =
            (accessFlags & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) != 0;
        if (isWrittenRemotely && (accessFlags & AccessFlags.LOCAL_WRITE) == 0)
        {
            throw new RdmaException(
                "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too: accessFlags=0x" +
                Integer.toHexString(accessFlags));
        }
    }

    /**
     * Decides whether an access through this region is allowed.
     *
     * @param domain        of the queue pair through which it comes.
     * @param neededFlags   rights it needs, 0 for a local read.
     * @param accessAddress first byte.
     * @param accessBytes   length, 0 or more.
     * @return whether domain, rights and bounds all fit.
     */
    public boolean allows(
        final ProtectionDomain domain, final int neededFlags, final long accessAddress, final long accessBytes)
    {
        return domain == protectionDomain &&
            (accessFlags & neededFlags) == neededFlags &&
            contains(accessAddress, accessBytes);
    }

    /**
     * Decides whether bytes are all inside.
     *
     * @param accessAddress first byte.
     * @param accessBytes   length, 0 or more.
     * @return whether they are.
     */
    public boolean contains(final long accessAddress, final long accessBytes)
    {
        // Addresses are signed and far from overflow: offset is negative before the region.
        final long offset = accessAddress - address;
        return offset >= 0 && offset <= lengthBytes - accessBytes;
    }

    @Override
    public MemorySegment segment()
    {
        return segment;
    }

    @Override
    public long address()
    {
        return address;
    }

    @Override
    public long lengthBytes()
    {
        return lengthBytes;
    }

    @Override
    public int localKey()
    {
        return key;
    }

    @Override
    public int remoteKey()
    {
        return key;
    }

    @Override
    public int accessFlags()
    {
        return accessFlags;
    }

    @Override
    public void close()
    {
        owner.collectInvalidated(this);
        if (!boundWindows.compareAndSet(0, CLOSED) && boundWindows.get() > 0)
        {
            throw new RdmaException("region has bound memory windows, take these back first: " + this);
        }
        if (isClosed.compareAndSet(false, true))
        {
            boolean isReleased = false;
            try
            {
                owner.release(this);
                isReleased = true;
            }
            finally
            {
                isClosed.set(isReleased);
            }
        }
    }

    /** Counts a window being bound; false when the region is closed. */
    boolean windowBound()
    {
        int count;
        do
        {
            count = boundWindows.get();
        }
        while (count >= 0 && !boundWindows.compareAndSet(count, count + 1));
        return count >= 0;
    }

    /** Counts a window being unbound. */
    void windowUnbound()
    {
        boundWindows.decrementAndGet();
    }

    @Override
    public String toString()
    {
        return "RegisteredRegion{address=0x" + Long.toHexString(address) + ", lengthBytes=" + lengthBytes +
            ", key=0x" + Integer.toHexString(key) + ", accessFlags=0x" + Integer.toHexString(accessFlags) +
            ", isClosed=" + isClosed + '}';
    }
}
