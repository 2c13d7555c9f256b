package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;

import static io.verbena.rdma.soft.ConnectionMailbox.*;

/** Takes connection requests out of its {@link ConnectionMailbox}. Not on any hot path, so a monitor guards it. */
final class SoftConnectionListener implements ConnectionListener
{
    private static final byte[] NO_DATA = {};

    private final SoftDevice device;
    private final int tableIndex;
    private final long mailboxOffset;
    private final long mailbox;
    private long head = SLOT_COUNT;
    private boolean isClosed;

    /** @param tableIndex entry in the device's table of listeners, taken for this one. */
    SoftConnectionListener(final SoftDevice device, final int tableIndex)
    {
        this.device = device;
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

    /** The oldest request; those of peers that went meanwhile are passed over. */
    private SoftConnectionRequest take()
    {
        while (true)
        {
            final long slot = slot(mailbox, head);
            final long word = SharedWords.getLongAcquire(slot);
            final boolean isDead = ClaimWord.state(word) == ClaimWord.CLAIMED &&
                device.isDeadVisitor(ClaimWord.visitor(word));
            if (!ClaimWord.isAt(word, head) || ClaimWord.state(word) != ClaimWord.DONE && !isDead)
            {
                return null;
            }
            final SoftConnectionRequest request = isDead ? null : read(slot);
            SharedWords.putLongRelease(slot, ClaimWord.open(head + SLOT_COUNT));
            head++;
            if (request != null)
            {
                return request;
            }
        }
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
        device.listenerClosing(this);
        // Nobody can put anything in any more.
        for (SoftConnectionRequest request = take(); request != null; request = take())
        {
            request.reject(NO_DATA);
        }
        device.rings().free(mailboxOffset, LENGTH);
        device.childClosed();
    }
}
