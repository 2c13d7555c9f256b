package io.verbena.raas.message;

import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A receive queue of its own for each queue pair, for devices without shared ones. Buffers are registered some blocks
 * at a time: connecting seldom registers.
 */
public final class OwnReceives implements ReceiveSupply
{
    private static final int BLOCKS_PER_REGION = 8;

    private final ProtectionDomain protectionDomain;
    private final int credits;
    private final int messages;
    private final int slotsPerBlock;
    private final int maxQueuePairs;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final ArrayDeque<MessageBlock> free = new ArrayDeque<>();

    /**
     * @param credits       of a queue pair, for requests or replies.
     * @param messages      receives of a queue pair for messages of endpoints.
     * @param maxQueuePairs with completions of receives in one completion queue.
     */
    public OwnReceives(
        final ProtectionDomain protectionDomain, final int credits, final int messages, final int maxQueuePairs)
    {
        this.protectionDomain = protectionDomain;
        this.credits = credits;
        this.messages = messages;
        slotsPerBlock = credits + messages;
        this.maxQueuePairs = maxQueuePairs;
        grow();
    }

    @Override
    public Receives forReplies()
    {
        return new Ring(acquire(), credits);
    }

    @Override
    public Receives forRequests(final int wanted)
    {
        return new Ring(acquire(), Math.min(wanted, credits));
    }

    @Override
    public int completionsOfEach()
    {
        return slotsPerBlock;
    }

    @Override
    public int completionsOfAll()
    {
        return maxQueuePairs * slotsPerBlock;
    }

    @Override
    public void giveBack(final int slot)
    {
        // It went with its queue pair.
    }

    @Override
    public void poll()
    {
        // Nothing is held for longer than its queue pair lives.
    }

    @Override
    public int buffers()
    {
        return regions.size() * BLOCKS_PER_REGION * slotsPerBlock;
    }

    @Override
    public void addLimit(final List<RaasLimit> limits)
    {
        // Each queue pair has its own.
    }

    private MessageBlock acquire()
    {
        if (free.isEmpty())
        {
            grow();
        }
        return free.poll();
    }

    private void grow()
    {
        final long lengthBytes = (long)BLOCKS_PER_REGION * slotsPerBlock * MessageBlock.SLOT_LENGTH_BYTES;
        final MemoryRegion region = protectionDomain.allocateRegistered(lengthBytes, AccessFlags.LOCAL_WRITE);
        regions.add(region);
        for (int i = 0; i < BLOCKS_PER_REGION; i++)
        {
            free.add(new MessageBlock(region, i * slotsPerBlock, slotsPerBlock));
        }
    }

    @Override
    public void close()
    {
        regions.forEach(MemoryRegion::close);
        regions.clear();
        free.clear();
    }

    /** The receives of one queue pair. */
    private final class Ring implements Receives
    {
        private final MessageBlock block;
        private final int credits;
        private int messagesLeft = messages;
        private QueuePair queuePair;
        private boolean isClosed;

        private Ring(final MessageBlock block, final int credits)
        {
            this.block = block;
            this.credits = credits;
        }

        @Override
        public int credits()
        {
            return credits;
        }

        @Override
        public void addTo(final QueuePairOptions options)
        {
            // The depth of its own queue is among the capabilities.
        }

        @Override
        public void open(final QueuePair owner)
        {
            queuePair = owner;
            for (int slot = 0; slot < block.slotCount(); slot++)
            {
                post(slot);
            }
        }

        @Override
        public boolean take(final int slot)
        {
            return true;
        }

        @Override
        public boolean reserve(final int receives)
        {
            if (receives > messagesLeft)
            {
                return false;
            }
            messagesLeft -= receives;
            return true;
        }

        @Override
        public void release(final int receives)
        {
            messagesLeft += receives;
        }

        @Override
        public void post(final int slot)
        {
            final int status = isClosed ? PostStatus.INVALID_STATE : queuePair.postReceive(
                slot, block.localAddress(slot), MessageBlock.SLOT_LENGTH_BYTES, block.localKey());
            if (status == PostStatus.QUEUE_FULL)
            {
                throw new IllegalStateException("receive slot " + slot + " posted twice on " + queuePair);
            }
            // INVALID_STATE: the queue pair broke meanwhile; its completions say so.
        }

        @Override
        public UnsafeBuffer buffer(final int slot)
        {
            return block.buffer();
        }

        @Override
        public int offset(final int slot)
        {
            return block.offset(slot);
        }

        @Override
        public boolean isShared()
        {
            return false;
        }

        @Override
        public void close()
        {
            isClosed = true;
            free.add(block);
        }
    }
}
