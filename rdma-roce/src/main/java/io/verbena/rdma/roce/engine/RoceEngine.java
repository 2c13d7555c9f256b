package io.verbena.rdma.roce.engine;

import io.verbena.rdma.connection.ConnectionKeys;
import io.verbena.rdma.roce.seal.PacketCipher;
import io.verbena.rdma.roce.seal.SealedPacketDescriptor;
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
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;
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
    private final byte[] scratch = PacketCipher.scratch();

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

    /**
     * Decides how packets of a connection are sent and taken; between {@link EngineDriver#enter} and exit, before the
     * queue pair enters RTR. RESET forgets it.
     *
     * @param queuePair of this engine, RC or UC.
     * @param keys      of this connection alone; null: packets go in clear.
     * @throws RdmaException when the queue pair is connected already, or closed: what it has stays.
     */
    public void seal(final RoceQueuePair queuePair, final ConnectionKeys keys)
    {
        if (queuePair.state() != QueuePairState.RESET && queuePair.state() != QueuePairState.INIT)
        {
            throw new RdmaException("the queue pair is " + queuePair.state() + " already: " + queuePair);
        }
        queuePair.port.route().seal(
            keys == null ? null : new PacketCipher(keys.sending(), keys.receiving(), scratch));
    }

    /**
     * @param number of a queue pair.
     * @return what seals its packets; null when they go in clear. For the thread that drives.
     */
    public PacketCipher cipher(final int number)
    {
        final RoceQueuePair queuePair = queuePairs.get(number);
        return queuePair == null ? null : queuePair.port.route().cipher();
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
     * @param packet with its length and the addresses it came under; not kept. A sealed one is opened where it stands.
     * @return whether it is from the peer of a queue pair here, as far as its addresses, its checksum and, of a sealed
     *         one, its tag say.
     */
    public boolean onPacket(final RocePacket packet)
    {
        final boolean isTaken = isTaken(packet);
        context.notifier().run();
        return isTaken;
    }

    private boolean isTaken(final RocePacket packet)
    {
        counters.received++;
        final int lengthBytes = packet.lengthBytes();
        if (lengthBytes < RocePacket.MIN_LENGTH_BYTES || lengthBytes > RocePacket.MAX_LENGTH_BYTES)
        {
            counters.malformed++;
            return false;
        }
        final int version = BthDescriptor.version(packet.buffer(), 0);
        final int sealBytes = version == SealedPacketDescriptor.VERSION ? SealedPacketDescriptor.OVERHEAD_BYTES : 0;
        final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
        final int traits = RoceOpcode.traits(opcode);
        final int payloadBytes = lengthBytes - sealBytes - RoceOpcode.headerBytes(opcode) - InvariantCrc.LENGTH_BYTES -
            BthDescriptor.padBytes(packet.buffer(), 0);
        final int partition = BthDescriptor.partitionKey(packet.buffer(), 0) & BthDescriptor.PARTITION_MASK;
        if (traits == RoceOpcode.UNKNOWN || payloadBytes < 0 || payloadBytes > RocePacket.MAX_PAYLOAD_BYTES ||
            payloadBytes > 0 && (traits & RoceOpcode.HAS_PAYLOAD) == 0 || (lengthBytes & ALIGNMENT_MASK) != 0 ||
            version != 0 && sealBytes == 0 || partition != BthDescriptor.PARTITION_MASK)
        {
            counters.malformed++;
            return false;
        }
        final int number = BthDescriptor.destination(packet.buffer(), 0);
        final RoceQueuePair queuePair = queuePairs.get(number);
        if (queuePair == null ? !targets.takes(number, opcode) : !queuePair.takes(packet, opcode))
        {
            counters.misdirected++;
            return false;
        }
        final PacketCipher cipher = queuePair == null ? null : queuePair.port.route().cipher();
        if ((cipher == null) != (sealBytes == 0))
        {
            counters.wronglySealed++;
            return false;
        }
        if (!crc.isIntact(packet))
        {
            counters.corrupt++;
            return false;
        }
        if (cipher != null && !isOpened(cipher, packet))
        {
            return false;
        }
        if (queuePair == null)
        {
            targets.onPacket(number, packet, opcode, payloadBytes);
        }
        else
        {
            queuePair.onPacket(packet, opcode, payloadBytes);
        }
        return true;
    }

    /** Whether a packet could be opened; what the checks before have seen of it is authenticated then. */
    private boolean isOpened(final PacketCipher cipher, final RocePacket packet)
    {
        final int end = cipher.open(packet.buffer(), packet.lengthBytes() - InvariantCrc.LENGTH_BYTES);
        if (end == PacketCipher.REPLAYED)
        {
            counters.replayed++;
        }
        else if (end == PacketCipher.NOT_OPENED)
        {
            counters.notOpened++;
        }
        else
        {
            packet.lengthBytes(end + InvariantCrc.LENGTH_BYTES);
        }
        return end >= 0;
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
        checkKeys(queuePairOptions.type() == QueuePairType.RC || queuePairOptions.type() == QueuePairType.UC,
            "a queue pair of " + queuePairOptions.type());
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

    private void checkKeys(final boolean isConnected, final String what)
    {
        if (context.options().isSealed() && !isConnected)
        {
            throw new UnsupportedVerbException(what, context.options().address().toString(),
                "packets are sealed, and without a connection there are no keys: use RC");
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
            checkKeys(false, "a DC target");
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
