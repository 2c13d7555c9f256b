package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.QueuePairEntry;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.CurrentAttributes;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairType;

import static io.verbena.rdma.soft.shared.QueuePairEntry.*;

/**
 * What a queue pair is connected to and on which terms: its attributes, given by the caller or agreed on by the
 * connection service, the part of them that peers see in its {@linkplain QueuePairEntry entry}, and the peer's device.
 * Owner thread, unless said otherwise.
 */
final class SoftConnection
{
    /** In place of a count of retries: the fabric's time decides, as the connection service has set it up. */
    static final int RNR_BY_TIME = -1;

    private static final int SERVICE_RETRIES = 7;
    private static final int SERVICE_TIMEOUT = 14;
    private static final int SERVICE_RNR_TIMER = 1;

    private final SoftHost device;
    private final QueuePairType type;
    private final long entry;
    private final int maxReadAtomic;
    private final CurrentAttributes attributes = new CurrentAttributes();
    private boolean isByService;
    private volatile SoftPeer peer;

    /**
     * @param device        of the queue pair.
     * @param type          of the queue pair.
     * @param entry         address of its entry.
     * @param maxReadAtomic what the connection service offers.
     */
    SoftConnection(final SoftHost device, final QueuePairType type, final long entry, final int maxReadAtomic)
    {
        this.device = device;
        this.type = type;
        this.entry = entry;
        this.maxReadAtomic = maxReadAtomic;
    }

    /** Any thread: the peer's device; null when there is none. */
    SoftPeer peer()
    {
        return peer;
    }

    /** Any thread. */
    boolean isPeerAlive()
    {
        final SoftPeer other = peer;
        return other != null && other.file().isOpen();
    }

    /** Whether the peer may be inside this device's memory right now. */
    boolean isPeerInside()
    {
        final long other = isPeerAlive() ? peerEntry() : 0;
        return other != 0 && AccessMark.isInside(AccessMark.sequence(other));
    }

    /** Entry of the peer; 0 when there is none. */
    private long peerEntry()
    {
        final SoftPeer other = peer;
        return other == null ?
            0 : other.file().findQueuePairEntry(SharedWords.getInt(entry + DESTINATION_NUMBER_OFFSET));
    }

    /** The attributes as they are; what an acceptor has written into the entry is taken over first. */
    CurrentAttributes attributes()
    {
        if (isByService && attributes.destination() == null &&
            SharedWords.getIntAcquire(entry + DESTINATION_NUMBER_OFFSET) != 0)
        {
            applyAgreement(peer.address());
        }
        return attributes;
    }

    /** Retries after receiver-not-ready, or {@link #RNR_BY_TIME}. */
    int rnrRetries()
    {
        return isByService ? RNR_BY_TIME : attributes.rnrRetry();
    }

    /** Time until a request that nobody answers fails. */
    long retryTimeNs()
    {
        return attributes().retryTimeNs();
    }

    /** The peer's device, which a requester, outside, looks up when it is not known yet; null when it is not there. */
    SoftPeer findPeer()
    {
        if (peer == null)
        {
            usePeer(attributes().destination());
        }
        return peer;
    }

    /** Shows peers a change, before the state that it comes with. */
    void show(final QueuePairAttributes change)
    {
        if (change.has(QueuePairAttributes.ADDRESS_VECTOR))
        {
            SharedWords.putLongVolatile(entry + DESTINATION_OFFSET, change.destination().gidLow());
            awaitRequesters();
            release();
            usePeer(change.destination());
        }
        if (change.has(QueuePairAttributes.DESTINATION_NUMBER))
        {
            SharedWords.putInt(entry + DESTINATION_NUMBER_OFFSET, change.destinationNumber());
        }
        if (change.has(QueuePairAttributes.MAX_DESTINATION_READ_ATOMIC))
        {
            SharedWords.putInt(entry + MAX_READS_OFFSET, change.maxDestinationReadAtomic());
        }
        if (change.has(QueuePairAttributes.MIN_RNR_TIMER))
        {
            SharedWords.putInt(entry + RNR_TIMER_OFFSET, change.minRnrTimer());
        }
        if (change.has(QueuePairAttributes.QKEY))
        {
            SharedWords.putInt(entry + QKEY_OFFSET, change.qkey());
        }
        if (change.has(QueuePairAttributes.ACCESS_FLAGS))
        {
            final int before = SharedWords.getInt(entry + ACCESS_FLAGS_OFFSET);
            SharedWords.putIntVolatile(entry + ACCESS_FLAGS_OFFSET, change.accessFlags());
            if ((before & ~change.accessFlags()) != 0)
            {
                awaitRequesters();
            }
        }
    }

    /** Takes over a change that was shown. */
    void apply(final QueuePairAttributes change)
    {
        attributes.apply(change);
        if (change.has(QueuePairAttributes.RNR_RETRY) || change.has(QueuePairAttributes.TIMEOUT))
        {
            isByService = false;
        }
    }

    /**
     * The connection service begins.
     *
     * @param target      device of the peer, used for this connection; null when it is not known yet or not there.
     * @param accessFlags rights of the peer; 0 when not known yet.
     */
    void offer(final SoftPeer target, final int accessFlags)
    {
        isByService = true;
        peer = target;
        SharedWords.putInt(entry + ACCESS_FLAGS_OFFSET, accessFlags);
        SharedWords.putInt(entry + MAX_READS_OFFSET, maxReadAtomic);
        SharedWords.putInt(entry + RNR_TIMER_OFFSET, SERVICE_RNR_TIMER);
    }

    /**
     * Acceptor: agrees on the terms with a peer that offers to connect, and opens this side.
     *
     * @param target       device of the peer, used for this connection.
     * @param targetNumber of the peer.
     * @param number       of this queue pair.
     * @param accessFlags  rights of the peer.
     */
    void accept(final SoftPeer target, final int targetNumber, final int number, final int accessFlags)
    {
        final long targetEntry = target.file().queuePairEntry(targetNumber);
        offer(target, accessFlags);
        final int agreed = Math.min(maxReadAtomic, SharedWords.getInt(targetEntry + MAX_READS_OFFSET));
        SharedWords.putInt(entry + MAX_READS_OFFSET, agreed);
        SharedWords.putInt(targetEntry + MAX_READS_OFFSET, agreed);
        open(entry, number, target.address().gidLow(), targetNumber);
        attributes();
    }

    private void applyAgreement(final DeviceAddress destination)
    {
        attributes.apply(new QueuePairAttributes()
            .pkeyIndex(0).port(1).accessFlags(SharedWords.getInt(entry + ACCESS_FLAGS_OFFSET)).destination(destination)
            .destinationNumber(SharedWords.getInt(entry + DESTINATION_NUMBER_OFFSET))
            .pathMtuBytes(SoftHost.PATH_MTU_BYTES).rqPsn(0).sqPsn(0));
        if (type == QueuePairType.RC)
        {
            final int agreed = SharedWords.getInt(entry + MAX_READS_OFFSET);
            attributes.apply(new QueuePairAttributes()
                .maxReadAtomic(agreed).maxDestinationReadAtomic(agreed).minRnrTimer(SERVICE_RNR_TIMER)
                .timeout(SERVICE_TIMEOUT).retryCount(SERVICE_RETRIES).rnrRetry(SERVICE_RETRIES));
        }
    }

    /** Waits until every requester that was inside this device's memory on account of this queue pair has left it. */
    void awaitRequesters()
    {
        final SoftPeer other = peer;
        final long otherEntry = peerEntry();
        if (type == QueuePairType.UD)
        {
            // Anybody may send to it.
            device.awaitOutside();
        }
        else if (otherEntry != 0)
        {
            device.outside().awaitOutside(other.file(), otherEntry, device.address().gidLow());
        }
        else if (attributes.destination() != null)
        {
            // Not there when it was looked for; it may have come since.
            device.awaitOutside();
        }
    }

    /** The mark of the requester that is inside through this queue pair now; 0 when none is. */
    long insideMark()
    {
        final long other = isPeerAlive() ? peerEntry() : 0;
        final long found = other == 0 ? 0 : AccessMark.sequence(other);
        return found != 0 && AccessMark.target(other, found) == device.address().gidLow() ? found : 0;
    }

    /** Ends the peer's process, whose requester has been inside for too long; false when that may not be done. */
    boolean endRequester()
    {
        final SoftPeer other = peer;
        return other == null || device.outside().end(other.file());
    }

    /** Forgets everything, with no requester about. */
    void reset()
    {
        attributes.clear();
        isByService = false;
        SharedWords.putInt(entry + ACCESS_FLAGS_OFFSET, 0);
        SharedWords.putLong(entry + DESTINATION_OFFSET, 0);
        SharedWords.putInt(entry + DESTINATION_NUMBER_OFFSET, 0);
        SharedWords.putInt(entry + MAX_READS_OFFSET, 0);
        SharedWords.putInt(entry + RNR_TIMER_OFFSET, 0);
        SharedWords.putInt(entry + QKEY_OFFSET, 0);
        release();
    }

    private void usePeer(final DeviceAddress destination)
    {
        peer = destination == null || destination.gidHigh() != device.address().gidHigh() ?
            null : device.usePeer(destination.gidLow());
    }

    /** The peer's device is used no more. */
    void release()
    {
        final SoftPeer other = peer;
        if (other != null)
        {
            peer = null;
            other.unuse();
        }
    }
}
