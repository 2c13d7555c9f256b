package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.ClaimWord;
import io.verbena.rdma.soft.shared.ConnectionMailbox;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;

import java.util.function.Consumer;

import static io.verbena.rdma.soft.shared.ConnectionMailbox.*;

/** Takes connection requests out of its {@link ConnectionMailbox}. Not on any hot path, so a monitor guards it. */
final class SoftConnectionListener implements ConnectionListener, SoftCompletionChannel.Listener
{
    private static final byte[] NO_DATA = {};

    private final SoftHost device;
    private final int tableIndex;
    private final SoftCompletionChannel channel;
    private final Consumer<SoftConnectionListener> onClosing;
    private final long mailboxOffset;
    private final long mailbox;
    private long head = SLOT_COUNT;
    private boolean isClosed;

    /**
     * @param tableIndex entry in the device's table of listeners, taken for this one.
     * @param channel    whose sleeper a request wakes; null for none.
     * @param onClosing  called once: returns when nobody can be putting anything in any more.
     */
    SoftConnectionListener(
        final SoftHost device,
        final int tableIndex,
        final SoftCompletionChannel channel,
        final Consumer<SoftConnectionListener> onClosing)
    {
        this.onClosing = onClosing;
        this.device = device;
        this.channel = channel;
        this.tableIndex = tableIndex;
        mailboxOffset = device.rings().allocate(LENGTH);
        mailbox = device.file().base() + mailboxOffset;
        initialize(mailbox);
    }

    int tableIndex()
    {
        return tableIndex;
    }

    long mailboxOffset()
    {
        return mailboxOffset;
    }

    @Override
    public synchronized boolean hasRequest()
    {
        for (long position = head; !isClosed && position < head + SLOT_COUNT; position++)
        {
            final long word = SharedWords.getLongAcquire(slot(mailbox, position));
            if (!ClaimWord.isAt(word, position) || ClaimWord.state(word) == ClaimWord.OPEN)
            {
                return false;
            }
            if (ClaimWord.state(word) == ClaimWord.DONE)
            {
                return true;
            }
        }
        return false;
    }

    @Override
    public synchronized ConnectionRequest poll()
    {
        SoftConnectionRequest request = isClosed ? null : take();
        while (request != null && !request.isWanted())
        {
            request.drop();
            request = take();
        }
        return request;
    }

    /**
     * The oldest request; those of peers that went meanwhile are passed over, and so are those that a slow peer has not
     * written to their end: nobody waits for it.
     */
    private SoftConnectionRequest take()
    {
        SoftConnectionRequest request = null;
        boolean isContiguous = true;
        for (long position = head; request == null && position < head + SLOT_COUNT; position++)
        {
            final long slot = slot(mailbox, position);
            final long word = SharedWords.getLongAcquire(slot);
            if (!ClaimWord.isAt(word, position) || ClaimWord.state(word) == ClaimWord.OPEN)
            {
                break;
            }
            if (ClaimWord.state(word) == ClaimWord.DONE)
            {
                request = read(slot);
                // Behind a slot that was passed by it waits as FREE for the head to come.
                SharedWords.putLongRelease(slot, ClaimWord.free(position));
            }
            isContiguous &= ClaimWord.state(word) != ClaimWord.CLAIMED ||
                device.isDeadVisitor(ClaimWord.visitor(word)) && SharedWords.getLongAcquire(slot) == word;
            if (isContiguous)
            {
                // Its claimer may have died before it advanced the tail, which nobody could do once the slot is of a
                // later lap.
                SharedWords.compareAndSetLong(mailbox + TAIL_OFFSET, position, position + 1);
                SharedWords.putLongRelease(slot, ClaimWord.open(position + SLOT_COUNT));
                head = position + 1;
            }
        }
        return request;
    }

    /**
     * Whether this visitor has not written a request to its end. Any thread, without a lock, since {@link #poll()} asks
     * for peers under its own.
     */
    boolean hasClaimOf(final int visitor)
    {
        for (int i = 0; i < SLOT_COUNT; i++)
        {
            final long word = SharedWords.getLongAcquire(slot(mailbox, i));
            if (ClaimWord.state(word) == ClaimWord.CLAIMED && ClaimWord.visitor(word) == visitor)
            {
                return true;
            }
        }
        return false;
    }

    private SoftConnectionRequest read(final long slot)
    {
        final SoftPeer peer = device.usePeer(SharedWords.getLong(slot + SOURCE_OFFSET));
        if (peer == null)
        {
            return null;
        }
        final int length = SharedWords.getInt(slot + DATA_LENGTH_OFFSET);
        final byte[] data = new byte[Math.max(0, Math.min(length, ConnectionRequest.MAX_PRIVATE_DATA_BYTES))];
        SharedWords.getBytes(slot + DATA_OFFSET, data);
        return new SoftConnectionRequest(
            device, peer, SharedWords.getInt(slot + NUMBER_OFFSET), SharedWords.getLong(slot + ATTEMPT_OFFSET), data);
    }

    @Override
    public void close()
    {
        synchronized (this)
        {
            if (isClosed)
            {
                return;
            }
            isClosed = true;
        }
        onClosing.accept(this);
        // Nobody can put anything in any more.
        for (SoftConnectionRequest request = take(); request != null; request = take())
        {
            request.reject(NO_DATA);
        }
        if (channel != null)
        {
            channel.detach(this);
        }
        device.rings().free(mailboxOffset, LENGTH);
        device.childClosed();
    }
}
