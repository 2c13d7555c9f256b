package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.function.LongConsumer;

/**
 * A type 2 memory window of a software provider and its binding. Bound and unbound by the owner of the queue pair, or
 * by the peer's SEND_WITH_INV; the binding is one immutable object in a volatile field, so that anyone may check
 * against it.
 */
public final class BoundWindow implements MemoryWindow
{
    /** The provider's part of closing a memory window. */
    public interface Owner
    {
        /**
         * Takes the window out of its table and waits until no access through it can land.
         *
         * @param window being closed.
         */
        void release(BoundWindow window);

        /**
         * Notes what peers have done to the binding by themselves. Called without locks.
         *
         * @param window about to be bound by another way than the owner's.
         */
        default void settle(final BoundWindow window)
        {
            // where peers ask the owner's process to do it, there is nothing to note
        }
    }

    private static final int USER_BITS = 0xFF;

    private final ProtectionDomain protectionDomain;
    private final Owner owner;
    private volatile int key;
    private volatile WindowBinding binding;
    private volatile boolean isClosed;

    BoundWindow(final int key, final ProtectionDomain protectionDomain, final Owner owner)
    {
        this.key = key;
        this.protectionDomain = protectionDomain;
        this.owner = owner;
    }

    /**
     * Executes BIND_MW. Refused when window, region and queue pair are not of one domain, when the window is bound
     * already or the key is not another one of this window, and when the region lacks MW_BIND, LOCAL_WRITE where WRITE
     * or atomics shall be allowed, or the bytes.
     *
     * @param request         a BIND_MW of the queue pair.
     * @param region          that the request names, as this provider knows it; null when it is closed.
     * @param domain          of the queue pair.
     * @param queuePairNumber of the queue pair.
     * @return SUCCESS or MW_BIND_ERR.
     */
    public synchronized int bind(
        final WorkRequest request,
        final RegisteredRegion region,
        final ProtectionDomain domain,
        final int queuePairNumber)
    {
        if (isClosed || domain != protectionDomain)
        {
            return WorkCompletionStatus.MW_BIND_ERR;
        }
        final long lengthBytes = request.windowBytes;
        if (lengthBytes == 0)
        {
            final WindowBinding bound = binding;
            if (bound != null && bound.queuePairNumber() != queuePairNumber)
            {
                return WorkCompletionStatus.MW_BIND_ERR;
            }
            unbind();
            return WorkCompletionStatus.SUCCESS;
        }
        final int rights = request.accessFlags;
        final boolean isWritten = (rights & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) != 0;
        final int needed = AccessFlags.MW_BIND | (isWritten ? AccessFlags.LOCAL_WRITE : 0);
        final boolean isOtherKey = (request.remoteKey ^ key) != 0 && ((request.remoteKey ^ key) & ~USER_BITS) == 0;
        if (binding != null || !isOtherKey || region == null ||
            !region.allows(domain, needed, request.remoteAddress, lengthBytes) || !region.windowBound())
        {
            return WorkCompletionStatus.MW_BIND_ERR;
        }
        final boolean isZeroBased = (rights & AccessFlags.ZERO_BASED) != 0;
        key = request.remoteKey;
        binding = new WindowBinding(
            key, queuePairNumber, region, isZeroBased ? 0 : request.remoteAddress, request.remoteAddress, lengthBytes,
            rights);
        return WorkCompletionStatus.SUCCESS;
    }

    /** Has the owner note what peers have done to the binding; before {@link #bind} by another way than the owner's. */
    public void settle()
    {
        owner.settle(this);
    }

    /** Takes the binding away; without effect when there is none. */
    public synchronized void unbind()
    {
        final WindowBinding old = binding;
        if (old != null)
        {
            binding = null;
            old.region().windowUnbound();
        }
    }

    /**
     * Whether a local or remote invalidation of this key through a queue pair is in order.
     *
     * @param invalidatedKey  named by it.
     * @param domain          of the queue pair.
     * @param queuePairNumber of the queue pair.
     * @return whether it is.
     */
    public boolean mayInvalidate(final int invalidatedKey, final ProtectionDomain domain, final int queuePairNumber)
    {
        final WindowBinding current = binding;
        return current != null && current.key() == invalidatedKey && current.queuePairNumber() == queuePairNumber &&
            domain == protectionDomain;
    }

    /**
     * Decides whether an access through this window is allowed.
     *
     * @param accessKey       it names.
     * @param domain          of the responder's queue pair.
     * @param queuePairNumber of the responder's queue pair.
     * @param neededFlags     rights it needs.
     * @param accessAddress   first byte, in the window's terms.
     * @param accessBytes     length.
     * @return the binding to access through, or null.
     */
    public WindowBinding bindingFor(
        final int accessKey,
        final ProtectionDomain domain,
        final int queuePairNumber,
        final int neededFlags,
        final long accessAddress,
        final int accessBytes)
    {
        final WindowBinding current = binding;
        final boolean isAllowed = current != null && current.key() == accessKey &&
            current.queuePairNumber() == queuePairNumber && domain == protectionDomain &&
            (current.accessFlags() & neededFlags) == neededFlags && current.contains(accessAddress, accessBytes);
        return isAllowed ? current : null;
    }

    @Override
    public int remoteKey()
    {
        return key;
    }

    @Override
    public int nextRemoteKey()
    {
        final int current = key;
        return current & ~USER_BITS | current + 1 & USER_BITS;
    }

    @Override
    public void close()
    {
        if (!isClosed)
        {
            owner.release(this);
            isClosed = true;
        }
    }

    @Override
    public String toString()
    {
        return "BoundWindow{key=0x" + Integer.toHexString(key) + ", binding=" + binding + '}';
    }

    /** @return what it is bound to now; null when it is not. */
    public WindowBinding binding()
    {
        return binding;
    }

    /**
     * Whether it belongs to a domain.
     *
     * @param domain any.
     * @return whether it does.
     */
    public boolean isOf(final ProtectionDomain domain)
    {
        return domain == protectionDomain;
    }

    /** Tells its key and what it is bound to. */
    void describe(final LongConsumer words)
    {
        final WindowBinding current = binding;
        words.accept(key);
        words.accept(current == null ? -1 : current.queuePairNumber());
        if (current != null)
        {
            words.accept((long)current.region().localKey() << 32 | current.accessFlags());
            words.accept(current.firstAddress());
            words.accept(current.address());
            words.accept(current.lengthBytes());
        }
    }

    boolean isBoundAs(final int wantedKey)
    {
        final WindowBinding current = binding;
        return current != null && current.key() == wantedKey;
    }

    boolean isBoundTo(final int queuePairNumber)
    {
        final WindowBinding current = binding;
        return current != null && current.queuePairNumber() == queuePairNumber;
    }
}
