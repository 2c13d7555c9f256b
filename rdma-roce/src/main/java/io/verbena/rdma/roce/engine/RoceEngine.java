package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.AsyncEventQueue;
import io.verbena.rdma.spi.OpenChildren;
import io.verbena.rdma.spi.SecondWay;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * The RoCEv2 protocol of one device: packets in by {@link #onPacket}, packets out by a {@link PacketSink}, time from a
 * clock. What is posted is sent by {@link #doWork}, which its owner calls in a loop, at the latest at
 * {@link #nextDeadlineNs}. Driven by one thread at a time, as its {@link EngineDriver} decides.
 *
 * <p>Every packet is checked before it has any effect: length, opcode, version, partition, padding, queue pair, sender
 * and checksum here; sequence, place in the message, key, bounds and rights by the queue pair. Memory is bounded
 * whatever arrives: packets make no state.
 */
public final class RoceEngine
{
    /** Longest message of RC and UC. */
    public static final int MAX_MESSAGE_BYTES = 1 << 30;
    /** Most queue pairs. */
    public static final int MAX_QUEUE_PAIRS = 1 << 20;

    private static final int NUMBER_MASK = (1 << BthDescriptor.NUMBER_BITS) - 1;
    /** Queue pairs 0 and 1 are for the management of subnets; the highest number is for multicast. */
    private static final int FIRST_NUMBER = 2;
    private static final int ALIGNMENT_MASK = 3;

    /** Fails the queue pairs whose completions have no place any more. */
    private final class OverrunTurn extends ScheduleEntry
    {
        @Override
        boolean transmit(final int quantum)
        {
            queuePairs.values().stream().filter(RoceQueuePair::isOverrun).toList().forEach(RoceQueuePair::fail);
            targets.failOverrun();
            return false;
        }

        @Override
        void onTimer(final long nowNs)
        {
            // has none
        }
    }

    private final EngineCounters counters = new EngineCounters();
    private final InvariantCrc crc = new InvariantCrc();
    private final EngineContext context;
    private final IntSupplier random;
    private final Int2ObjectHashMap<RoceQueuePair> queuePairs = new Int2ObjectHashMap<>();
    private final DcTargets targets;

    /**
     * Makes an engine without queue pairs.
     *
     * @param options address, window.
     * @param sink    where packets go.
     * @param clock   monotone time; read for each packet and each {@link #doWork}, so a cached one may be given.
     * @param random  where queue pair numbers and keys come from, unpredictable unless in a test; called in
     *                control verbs only, one at a time.
     * @param driver  decides which thread drives; {@link EngineDriver#NONE} when one thread uses everything.
     */
    public RoceEngine(
        final EngineOptions options,
        final PacketSink sink,
        final NanoClock clock,
        final IntSupplier random,
        final EngineDriver driver)
    {
        this.random = random;
        context = new EngineContext(options, new PacketWriter(sink, crc, counters), clock, counters, driver,
            random, new OverrunTurn());
        targets = new DcTargets(context, random);
    }

    /** @return a new protection domain. */
    public RoceProtectionDomain createProtectionDomain()
    {
        return createProtectionDomain(null, SecondWay.NONE);
    }

    /**
     * Creates a protection domain for memory that is reached by another way, too.
     *
     * @param user   what its regions, windows and queue pairs belong to in the eyes of that way; null for the new
     *               domain.
     * @param others engines that reach the same regions and windows under the same keys.
     * @return the domain, closed by the caller.
     */
    public RoceProtectionDomain createProtectionDomain(final ProtectionDomain user, final SecondWay others)
    {
        return new RoceProtectionDomain(context, user, others, this::createQueuePair, this::createDcTarget);
    }

    /**
     * Creates a completion queue.
     *
     * @param capacity most completions, 1 or more.
     * @param listener called for an armed queue; null when nobody waits.
     * @return the queue, closed by the caller.
     */
    public RoceCompletionQueue createCompletionQueue(final int capacity, final CompletionListener listener)
    {
        if (capacity < 1)
        {
            throw new RdmaException("a completion queue holds 1 completion or more: capacity=" + capacity);
        }
        return new RoceCompletionQueue(context, capacity, listener);
    }

    /**
     * Ends the making of domains and completion queues.
     *
     * @return false when that was done before.
     * @throws RdmaException while there are some.
     */
    public boolean close()
    {
        return context.children().close();
    }

    /**
     * @param queuePair any.
     * @return whether it is of this engine and open. Thread-safe, but may wait for who drives.
     */
    public boolean isOpen(final QueuePair queuePair)
    {
        context.enter();
        try
        {
            return queuePairs.get(queuePair.number()) == queuePair;
        }
        finally
        {
            context.exit();
        }
    }

    /** @return asynchronous events that nobody has taken. */
    public AsyncEventQueue events()
    {
        return context.events();
    }

    /** @return what has been counted. */
    public EngineCounters counters()
    {
        return counters;
    }

    /**
     * Handles a packet.
     *
     * @param packet with its length and the addresses it came under; not kept.
     */
    public void onPacket(final RocePacket packet)
    {
        handle(packet);
        context.notifier().run();
    }

    private void handle(final RocePacket packet)
    {
        counters.received++;
        final int lengthBytes = packet.lengthBytes();
        if (lengthBytes < RocePacket.MIN_LENGTH_BYTES || lengthBytes > RocePacket.MAX_LENGTH_BYTES)
        {
            counters.malformed++;
            return;
        }
        final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
        final int traits = RoceOpcode.traits(opcode);
        final int payloadBytes = lengthBytes - RoceOpcode.headerBytes(opcode) - InvariantCrc.LENGTH_BYTES -
            BthDescriptor.padBytes(packet.buffer(), 0);
        final int partition = BthDescriptor.partitionKey(packet.buffer(), 0) & BthDescriptor.PARTITION_MASK;
        if (traits == RoceOpcode.UNKNOWN || payloadBytes < 0 || payloadBytes > RocePacket.MAX_PAYLOAD_BYTES ||
            payloadBytes > 0 && (traits & RoceOpcode.HAS_PAYLOAD) == 0 || (lengthBytes & ALIGNMENT_MASK) != 0 ||
            BthDescriptor.version(packet.buffer(), 0) != 0 || partition != BthDescriptor.PARTITION_MASK)
        {
            counters.malformed++;
            return;
        }
        final int number = BthDescriptor.destination(packet.buffer(), 0);
        final RoceQueuePair queuePair = queuePairs.get(number);
        if (queuePair == null ? !targets.takes(number, opcode) : !queuePair.takes(packet, opcode))
        {
            counters.misdirected++;
        }
        else if (!crc.isIntact(packet))
        {
            counters.corrupt++;
        }
        else if (queuePair == null)
        {
            targets.onPacket(number, packet, opcode, payloadBytes);
        }
        else
        {
            queuePair.onPacket(packet, opcode, payloadBytes);
        }
    }

    /**
     * Sends what is to be sent, the queue pairs in turn, and repeats what was not answered in time.
     *
     * @return how many queue pairs sent something or were due; 0 when there was nothing to do.
     */
    public int doWork()
    {
        context.posted().drainTo(context.schedule());
        final long nowNs = context.nowNs();
        context.onCycle(nowNs);
        final int workCount = context.schedule().fireTimers(nowNs) + context.schedule().transmit(context.writer());
        context.notifier().run();
        return workCount;
    }

    /** @return when {@link #doWork} has something to do at the latest, without another packet or post; may be past. */
    public long nextDeadlineNs()
    {
        final long nowNs = context.nowNs();
        return hasPosted() ? nowNs : context.schedule().nextDeadlineNs(nowNs);
    }

    /**
     * Whether something was posted that no {@link #doWork} has taken up. Thread-safe; ordered after everything that
     * the calling thread has done before.
     */
    public boolean hasPosted()
    {
        return context.posted().isPending();
    }

    private RoceQueuePair createQueuePair(
        final RoceProtectionDomain domain, final QueuePairOptions queuePairOptions, final int number)
    {
        final QueuePairType type = queuePairOptions.type();
        final boolean mayShare = type == QueuePairType.RC || type == QueuePairType.UD;
        if (!mayShare && queuePairOptions.sharedReceiveQueue() != null)
        {
            throw new RdmaException("a shared receive queue is for RC and UD queue pairs: type=" + type);
        }
        context.enter();
        try
        {
            return openQueuePair(domain, queuePairOptions, number);
        }
        finally
        {
            context.exit();
        }
    }

    private RoceQueuePair openQueuePair(
        final RoceProtectionDomain domain, final QueuePairOptions queuePairOptions, final int wantedNumber)
    {
        checkUnused(wantedNumber);
        checkRoom();
        final QueuePairType type = queuePairOptions.type();
        final int maxMessageBytes = type == QueuePairType.UD ? context.options().datagramBytes() : MAX_MESSAGE_BYTES;
        final List<OpenChildren> parents = parents(domain, queuePairOptions);
        OpenChildren.addAll(parents);
        boolean isOpen = false;
        try
        {
            final RoceQueuePair queuePair = new RoceQueuePair(context, domain.user(),
                wantedNumber == 0 ? nextNumber() : wantedNumber, queuePairOptions, maxMessageBytes,
                type == QueuePairType.DC_INITIATOR ? random.getAsInt() : 0, RoceEngine::receiver,
                closed -> remove(closed, parents));
            queuePairs.put(queuePair.number(), queuePair);
            isOpen = true;
            return queuePair;
        }
        finally
        {
            if (!isOpen)
            {
                OpenChildren.removeAll(parents);
            }
        }
    }

    private static List<OpenChildren> parents(final RoceProtectionDomain domain, final QueuePairOptions options)
    {
        final List<OpenChildren> parents = new ArrayList<>();
        parents.add(domain.children());
        parents.add(((RoceCompletionQueue)options.sendCompletions()).children());
        parents.add(((RoceCompletionQueue)options.receiveCompletions()).children());
        if (options.sharedReceiveQueue() instanceof final RoceSharedReceiveQueue shared)
        {
            parents.add(shared.children());
        }
        return parents;
    }

    private static ReceiveSide receiver(final QueuePairPort queuePair)
    {
        return switch (queuePair.type())
        {
            case RC -> new ReliableReceiver(queuePair);
            case UC -> new UnreliableReceiver(queuePair);
            case UD -> new DatagramReceiver(queuePair);
            case DC_INITIATOR -> new DcRoute.NoRequests(queuePair);
        };
    }

    private void checkUnused(final int number)
    {
        if (queuePairs.containsKey(number) || targets.contains(number))
        {
            throw new RdmaException("there is a queue pair or DC target of that number: " + number);
        }
    }

    private void checkRoom()
    {
        if (queuePairs.size() + targets.count() >= MAX_QUEUE_PAIRS)
        {
            throw new RdmaException("too many queue pairs and DC targets: open=" +
                (queuePairs.size() + targets.count()) + ", close some first");
        }
    }

    private DcTarget createDcTarget(final RoceProtectionDomain domain, final DcTargetOptions options, final int number)
    {
        context.enter();
        try
        {
            checkUnused(number);
            checkRoom();
            return targets.open(domain, options, number == 0 ? nextNumber() : number);
        }
        finally
        {
            context.exit();
        }
    }

    private int nextNumber()
    {
        int number;
        do
        {
            final int drawn = random.getAsInt() & NUMBER_MASK;
            number = drawn - drawn % context.options().lanes() + context.options().lane();
        }
        while (number < FIRST_NUMBER || number >= NUMBER_MASK || queuePairs.containsKey(number) ||
            targets.contains(number));
        return number;
    }

    /** Takes a queue pair out; false when it was out already. */
    private boolean remove(final RoceQueuePair queuePair, final List<OpenChildren> parents)
    {
        final boolean wasOpen = queuePairs.remove(queuePair.number(), queuePair);
        if (wasOpen)
        {
            OpenChildren.removeAll(parents);
        }
        return wasOpen;
    }
}
