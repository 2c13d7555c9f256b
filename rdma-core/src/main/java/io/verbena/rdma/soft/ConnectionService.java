package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.ConnectionMailbox;
import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.EventWord;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.DeviceAddress;

import static io.verbena.rdma.soft.shared.DeviceFileDescriptor.*;

/** The connecting side's first step: finds the listener and leaves it a request. */
final class ConnectionService
{
    private ConnectionService()
    {
    }

    static ConnectionAttempt connect(
        final SoftHost device,
        final SoftQueuePair queuePair,
        final DeviceAddress target,
        final int servicePort,
        final int accessFlags,
        final byte[] privateData,
        final long timeoutNs)
    {
        queuePair.toInit();
        final SoftConnectionAttempt attempt =
            new SoftConnectionAttempt(queuePair, device.clock(), device.clock().nanoTime() + timeoutNs);
        final SoftPeer peer = target.gidHigh() == device.address().gidHigh() ? device.usePeer(target.gidLow()) : null;
        queuePair.attempt(attempt, peer, accessFlags);
        if (peer == null || !offer(device, queuePair, peer, servicePort, attempt.number(), privateData))
        {
            attempt.unreachable();
        }
        return attempt;
    }

    private static boolean offer(
        final SoftHost device,
        final SoftQueuePair queuePair,
        final SoftPeer peer,
        final int servicePort,
        final long attempt,
        final byte[] privateData)
    {
        // Marked inside, so that a listener that closes meanwhile finds this request or is found closed.
        queuePair.enter(peer);
        long sleepers = 0;
        try
        {
            final long entry = device.isEnding() ? 0 : findListener(peer.file(), servicePort);
            final boolean isOffered = entry != 0 && ConnectionMailbox.offer(
                peer.file().base() + SharedWords.getLong(entry + LISTENER_MAILBOX_OFFSET), peer.visitor(),
                device.address().gidLow(), attempt, queuePair.number(), privateData);
            final int eventOffset = isOffered ? SharedWords.getIntAcquire(entry + LISTENER_EVENT_OFFSET) : 0;
            if (eventOffset != 0)
            {
                sleepers = EventWord.announce(peer.file().base() + eventOffset);
            }
            return isOffered;
        }
        finally
        {
            queuePair.leave();
            EventWord.wake(sleepers);
        }
    }

    /**
     * Finds the entry of a listener in a device's table.
     *
     * @param file        of the device.
     * @param servicePort of the listener; 0 finds a free entry.
     * @return its address, or 0 when there is none.
     */
    static long findListener(final DeviceFile file, final int servicePort)
    {
        for (int i = 0; i < MAX_LISTENERS; i++)
        {
            final long entry = file.base() + LISTENERS_OFFSET + (long)i * LISTENER_BYTES;
            if (SharedWords.getIntAcquire(entry + LISTENER_PORT_OFFSET) == servicePort)
            {
                return entry;
            }
        }
        return 0;
    }
}
