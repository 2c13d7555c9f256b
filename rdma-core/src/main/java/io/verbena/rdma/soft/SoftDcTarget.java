package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.QueuePairEntry;
import io.verbena.rdma.soft.shared.QueuePairFailure;
import io.verbena.rdma.soft.shared.ReceiveRing;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePairState;

import java.util.function.Consumer;

import static io.verbena.rdma.soft.shared.QueuePairEntry.*;

/**
 * A DC target: an entry of the queue pair table that any initiator with the access key is served by. What an initiator
 * does wrong ends that initiator's connection and nothing else.
 */
final class SoftDcTarget implements DcTarget, SoftResponder
{
    /** Code of 10 us. */
    private static final int RNR_TIMER = 1;

    private final SoftHost device;
    private final Consumer<SoftResponder> onClosed;
    private final SoftCompletionQueue completions;
    private final SoftSharedReceiveQueue shared;
    private final long entry;
    private final int number;
    private final int index;
    private volatile boolean isClosed;
    private boolean isDestroyed;

    /** @param onClosed called once. */
    SoftDcTarget(
        final SoftHost device,
        final int domainId,
        final Consumer<SoftResponder> onClosed,
        final SoftCompletionQueue completions,
        final SoftSharedReceiveQueue shared,
        final DcTargetOptions options,
        final int number)
    {
        this.device = device;
        this.onClosed = onClosed;
        this.completions = completions;
        this.shared = shared;
        this.number = number;
        index = number & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1;
        entry = device.file().queuePairEntry(number);
        SharedWords.putInt(entry + TYPE_OFFSET, DC_TARGET);
        SharedWords.putInt(entry + ACCESS_FLAGS_OFFSET, options.accessFlags());
        SharedWords.putLong(entry + DESTINATION_OFFSET, 0);
        SharedWords.putInt(entry + DESTINATION_NUMBER_OFFSET, 0);
        SharedWords.putInt(entry + DOMAIN_OFFSET, domainId);
        SharedWords.putLong(entry + RECEIVE_RING_OFFSET, shared.offset());
        SharedWords.putLong(entry + RECEIVE_COMPLETIONS_OFFSET, completions.inboxOffset());
        SharedWords.putLong(entry + SEND_COMPLETIONS_OFFSET, completions.inboxOffset());
        SharedWords.putInt(entry + MAX_READS_OFFSET, options.maxReadAtomic());
        SharedWords.putInt(entry + RNR_TIMER_OFFSET, RNR_TIMER);
        SharedWords.putLong(entry + DC_KEY_OFFSET, options.accessKey());
        SharedWords.putLong(entry + KEY_VIOLATIONS_OFFSET, 0);
        SharedWords.putLong(entry + EVENTS_OFFSET, 0);
        SharedWords.putLongVolatile(entry + STATE_OFFSET, stateWord(number, QueuePairState.RTR));
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public QueuePairState state()
    {
        return isClosed ? QueuePairState.RESET : QueuePairEntry.state(SharedWords.getLongAcquire(entry + STATE_OFFSET));
    }

    @Override
    public long accessKeyViolations()
    {
        return isClosed ? 0 : SharedWords.getLongAcquire(entry + KEY_VIOLATIONS_OFFSET);
    }

    @Override
    public boolean isClosed()
    {
        return isClosed;
    }

    @Override
    public long takeEvents()
    {
        return 0;
    }

    @Override
    public boolean hasClaimOf(final int visitor)
    {
        return false;
    }

    @Override
    public SoftReceiveQueue receives()
    {
        return null;
    }

    @Override
    public void releaseReceive(final long slotInRing)
    {
        shared.releaseSlot(slotInRing, index);
    }

    @Override
    public int depthIn(final CompletionQueue queue)
    {
        return shared.capacity();
    }

    @Override
    public void awaitRequesters()
    {
        device.awaitOutside();
    }

    @Override
    public void moveToError()
    {
        QueuePairFailure.moveToError(device.file(), entry, number);
    }

    /** What a dead initiator was filling; the others are served on. */
    @Override
    public void flushIfInError()
    {
        shared.flushClaimed(
            index, device::isDeadVisitor, slotInRing -> completions.hasReceived(this, slotInRing),
            slot -> completions.pushFlushedReceive(
                this, SharedWords.getLong(slot + ReceiveRing.WR_ID_OFFSET), slot - shared.ring()));
    }

    @Override
    public synchronized void close()
    {
        if (isDestroyed)
        {
            return;
        }
        isClosed = true;
        SharedWords.putLongVolatile(entry + STATE_OFFSET, (long)number << Byte.SIZE | GONE);
        device.awaitOutside();
        isDestroyed = true;
        completions.detach(this);
        shared.releaseAll(index);
        shared.detach();
        onClosed.accept(this);
    }

    @Override
    public String toString()
    {
        return "SoftDcTarget{device=" + device.name() + ", number=" + number + ", state=" + state() +
            ", accessKeyViolations=" + accessKeyViolations() + '}';
    }
}
