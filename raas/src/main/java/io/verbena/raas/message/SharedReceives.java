package io.verbena.raas.message;

import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import org.agrona.collections.IntArrayList;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * One shared receive queue for all queue pairs of a context, with as many buffers as there are credits. Requests: each
 * queue pair has credits of its own, one at least, so that a consumer that is slow keeps no more than those from the
 * others. Replies: no more can come than calls are made, to however many peers, but for late ones to calls that have
 * ended: if more than there are buffers come at once, their senders wait.
 *
 * <p>Which queue pair consumes a buffer is known when its completion is polled. Nothing is flushed when a queue pair
 * fails; so before one is closed its completions are taken from the completion queue, and their buffers come back here.
 */
public final class SharedReceives implements ReceiveSupply
{
    private static final int BLOCK_SLOTS = 32;
    /** What a queue pair gets beyond one credit, where there is not enough for all: a part of what is left. */
    private static final int SHARE = 8;

    private final ProtectionDomain protectionDomain;
    private final SharedReceiveQueue queue;
    private final int maxReplies;
    private final int creditsOfEach;
    private final int maxAccepted;
    private final int messagesOfEach;
    private final int maxMessages;
    private final String setting;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final ArrayList<MessageBlock> blocks = new ArrayList<>();
    private final IntArrayList toBePosted = new IntArrayList();
    private int slotCount;
    private int replyCredits;
    private int requestCredits;
    private int accepted;
    /** Of channels closed, whose buffers are not posted again yet. */
    private int creditsToFree;
    private int repliesToFree;
    private int messages;
    private int messagesToFree;

    /**
     * @param protectionDomain of the queue pairs.
     * @param maxCalls         whose replies can be under way.
     * @param creditsOfEach    most credits of a queue pair.
     * @param maxAccepted      most queue pairs that are accepted at once; each gets one credit or more.
     * @param maxRequests      most credits given to them together, {@code maxAccepted} or more.
     * @param messagesOfEach   most receives of a queue pair for messages of endpoints.
     * @param maxMessages      most of these of all queue pairs together.
     * @param setting          names what raises the most credits.
     */
    public SharedReceives(
        final ProtectionDomain protectionDomain,
        final int maxCalls,
        final int creditsOfEach,
        final int maxAccepted,
        final int maxRequests,
        final int messagesOfEach,
        final int maxMessages,
        final String setting)
    {
        this.protectionDomain = protectionDomain;
        this.creditsOfEach = creditsOfEach;
        this.maxAccepted = maxAccepted;
        this.messagesOfEach = messagesOfEach;
        this.maxMessages = maxMessages;
        this.setting = setting;
        maxReplies = maxReplies(maxCalls);
        queue = protectionDomain.createSharedReceiveQueue(maxReplies + maxRequests + maxMessages);
    }

    /** Buffers that the replies to so many calls need: a call may be made while the reply to another is looked at. */
    public static int maxReplies(final int maxCalls)
    {
        return maxCalls + 1;
    }

    @Override
    public Receives forReplies()
    {
        replyCredits += creditsOfEach;
        return new Share(creditsOfEach, false);
    }

    @Override
    public Receives forRequests(final int wanted)
    {
        final int left = capacity() - maxReplies - requestCredits;
        if (left < 1)
        {
            return null;
        }
        final int leftOverOnes = left - Math.max(1, maxAccepted - accepted);
        final boolean isEnoughForAll = (long)maxAccepted * creditsOfEach <= capacity() - maxReplies;
        final int more = Math.max(0, isEnoughForAll ? left - 1 : leftOverOnes / SHARE);
        final int credits = 1 + Math.min(Math.min(wanted, creditsOfEach) - 1, more);
        requestCredits += credits;
        accepted++;
        return new Share(credits, true);
    }

    @Override
    public void addLimit(final List<RaasLimit> limits)
    {
        limits.add(new RaasLimit("receives for requests", requestCredits, capacity() - maxReplies, setting));
    }

    @Override
    public int completionsOfEach()
    {
        return 0;
    }

    @Override
    public int completionsOfAll()
    {
        return queue.capacity();
    }

    @Override
    public int buffers()
    {
        return slotCount;
    }

    private int capacity()
    {
        return queue.capacity() - maxMessages;
    }

    /** Posts buffers that were never posted, until all credits have theirs. */
    private void fill()
    {
        final int needed = Math.min(maxReplies, replyCredits) + requestCredits + messages;
        while (slotCount < needed)
        {
            if (slotCount == blocks.size() * BLOCK_SLOTS)
            {
                final MemoryRegion region = protectionDomain.allocateRegistered(
                    (long)BLOCK_SLOTS * MessageBlock.SLOT_LENGTH_BYTES, AccessFlags.LOCAL_WRITE);
                regions.add(region);
                blocks.add(new MessageBlock(region, 0, BLOCK_SLOTS));
            }
            giveBack(slotCount++);
        }
    }

    @Override
    public void giveBack(final int slot)
    {
        final MessageBlock block = block(slot);
        final int status = queue.postReceive(
            slot, block.localAddress(slot % BLOCK_SLOTS), MessageBlock.SLOT_LENGTH_BYTES, block.localKey());
        if (status != PostStatus.OK)
        {
            throw new IllegalStateException("shared receive slot " + slot + " was not posted, status=" + status +
                ", buffers=" + slotCount + ", capacity=" + queue.capacity());
        }
    }

    private MessageBlock block(final int slot)
    {
        return blocks.get(slot / BLOCK_SLOTS);
    }

    @Override
    public void poll()
    {
        while (!toBePosted.isEmpty())
        {
            giveBack(toBePosted.popInt());
        }
        requestCredits -= creditsToFree;
        creditsToFree = 0;
        replyCredits -= repliesToFree;
        repliesToFree = 0;
        messages -= messagesToFree;
        messagesToFree = 0;
    }

    @Override
    public void close()
    {
        queue.close();
        regions.forEach(MemoryRegion::close);
        regions.clear();
        blocks.clear();
    }

    /** The receives of one queue pair. */
    private final class Share implements Receives
    {
        private final int credits;
        private final boolean isForRequests;
        private final int[] held;
        private int heldCount;
        private int reserved;

        private Share(final int credits, final boolean isForRequests)
        {
            this.credits = credits;
            this.isForRequests = isForRequests;
            held = new int[credits + messagesOfEach];
        }

        @Override
        public int credits()
        {
            return credits;
        }

        @Override
        public void addTo(final QueuePairOptions options)
        {
            options.sharedReceiveQueue(queue);
        }

        @Override
        public void open(final QueuePair queuePair)
        {
            fill();
        }

        @Override
        public boolean take(final int slot)
        {
            if (heldCount == credits + reserved)
            {
                giveBack(slot);
                return false;
            }
            held[heldCount++] = slot;
            return true;
        }

        @Override
        public boolean reserve(final int receives)
        {
            if (receives > messagesOfEach - reserved || receives > maxMessages - messages)
            {
                return false;
            }
            reserved += receives;
            messages += receives;
            fill();
            return true;
        }

        @Override
        public void release(final int receives)
        {
            reserved -= receives;
            messages -= receives;
        }

        @Override
        public void post(final int slot)
        {
            for (int i = 0; i < heldCount; i++)
            {
                if (held[i] == slot)
                {
                    held[i] = held[--heldCount];
                    giveBack(slot);
                    return;
                }
            }
            throw new IllegalStateException(
                "shared receive slot " + slot + " posted twice, or after its channel closed");
        }

        @Override
        public UnsafeBuffer buffer(final int slot)
        {
            return block(slot).buffer();
        }

        @Override
        public int offset(final int slot)
        {
            return block(slot).offset(slot % BLOCK_SLOTS);
        }

        @Override
        public boolean isShared()
        {
            return true;
        }

        /** What it holds may still be read, by a handler that closed the channel. */
        @Override
        public void close()
        {
            while (heldCount > 0)
            {
                toBePosted.addInt(held[--heldCount]);
            }
            messagesToFree += reserved;
            reserved = 0;
            if (isForRequests)
            {
                accepted--;
                creditsToFree += credits;
            }
            else
            {
                repliesToFree += credits;
            }
        }
    }
}
