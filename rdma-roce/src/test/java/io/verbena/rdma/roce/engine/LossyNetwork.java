package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Engines on a network in virtual time that loses, repeats, overtakes, delays and corrupts packets as one seed decides,
 * and now and then has no room for one.
 */
final class LossyNetwork
{
    private static final int OWN_PORT = 4792;
    private static final int DATAGRAM_BYTES = 1024;
    private static final int PER_THOUSAND = 1000;
    private static final long MIN_DELAY_NS = 500;

    /** Faults of each packet in thousandths, and how far packets may overtake each other. */
    record Faults(int lost, int repeated, int corrupt, int noRoom, long maxDelayNs)
    {
        static final Faults NONE = new Faults(0, 0, 0, 0, 0);
    }

    private record Arrival(long timeNs, long number, RocePacket packet, boolean isAtBottleneck)
        implements Comparable<Arrival>
    {
        @Override
        public int compareTo(final Arrival other)
        {
            return timeNs == other.timeNs ? Long.compare(number, other.number) : Long.compare(timeNs, other.timeNs);
        }
    }

    private final SplittableRandom random;
    private final Faults faults;
    private final PriorityQueue<Arrival> arrivals = new PriorityQueue<>();
    private final List<EngineNode> nodes = new ArrayList<>();
    private final List<RocePacket> free = new ArrayList<>();
    private Consumer<RocePacket> observer = (packet) ->
    {
    };
    private Predicate<RocePacket> lost = (packet) -> false;
    private Consumer<RocePacket> rewriter = (packet) ->
    {
    };
    private Bottleneck bottleneck;
    private EngineNode paused;
    private long passDelayNs;
    private boolean isSealed;
    private long nowNs;
    private long arrivalCount;

    LossyNetwork(final long seed, final Faults faults)
    {
        random = new SplittableRandom(seed);
        this.faults = faults;
    }

    /** Packets of nodes that are added from now on are sealed. */
    LossyNetwork sealed()
    {
        isSealed = true;
        return this;
    }

    boolean isSealed()
    {
        return isSealed;
    }

    RoceEngine engineOf(final RoceQueuePair queuePair)
    {
        return nodes.stream().map((node) -> node.engine).filter((engine) -> engine.isOpen(queuePair)).findFirst()
            .orElseThrow();
    }

    EngineNode addNode(final int windowPackets, final int ackInterval)
    {
        return addNode(windowPackets, ackInterval, EngineOptions.DC_CONTEXTS);
    }

    /** A node at another port than Soft-RoCE and RNICs, as devices of the provider are. */
    EngineNode addNodeAtOwnPort(final int windowPackets, final int ackInterval)
    {
        final EngineNode node = new EngineNode(
            this, nodes.size(), windowPackets, ackInterval, EngineOptions.DC_CONTEXTS, DATAGRAM_BYTES, OWN_PORT);
        nodes.add(node);
        return node;
    }

    EngineNode addNode(final int windowPackets, final int ackInterval, final int dcContexts)
    {
        final EngineNode node = new EngineNode(
            this, nodes.size(), windowPackets, ackInterval, dcContexts, DATAGRAM_BYTES, RocePath.ROCE_PORT);
        nodes.add(node);
        return node;
    }

    /** A node whose longest datagrams have so many bytes. */
    EngineNode addNodeOfDatagrams(final int datagramBytes)
    {
        final EngineNode node = new EngineNode(
            this, nodes.size(), 32, 16, EngineOptions.DC_CONTEXTS, datagramBytes, RocePath.ROCE_PORT);
        nodes.add(node);
        return node;
    }

    /** Another device at the address of one. */
    EngineNode addTwin(final EngineNode node)
    {
        final EngineNode twin = new EngineNode(
            this, (int)node.address.gidLow() - 1, 32, 16, EngineOptions.DC_CONTEXTS, DATAGRAM_BYTES,
            RocePath.ROCE_PORT);
        nodes.add(twin);
        return twin;
    }

    /** A node gets and does nothing any more. */
    void remove(final EngineNode node)
    {
        nodes.remove(node);
    }

    /** A node that was removed is there again. */
    void add(final EngineNode node)
    {
        nodes.add(node);
    }

    /** Sees each packet when it is sent. */
    void observe(final Consumer<RocePacket> packetObserver)
    {
        observer = packetObserver;
    }

    /** Loses packets on purpose, besides those that chance takes; asked once for each. */
    void lose(final Predicate<RocePacket> packets)
    {
        lost = packets;
    }

    /** Changes packets under way; called once for each that arrives, repeated ones included. */
    void rewrite(final Consumer<RocePacket> packetRewriter)
    {
        rewriter = packetRewriter;
    }

    /** Packets to the node of a bottleneck pass it; all packets take so long besides. */
    void pass(final Bottleneck link, final long delayNs)
    {
        bottleneck = link;
        passDelayNs = delayNs;
    }

    long nowNs()
    {
        return nowNs;
    }

    int nextInt()
    {
        return random.nextInt();
    }

    int nextInt(final int bound)
    {
        return random.nextInt(bound);
    }

    boolean happens(final int perThousand)
    {
        return perThousand > 0 && random.nextInt(PER_THOUSAND) < perThousand;
    }

    boolean hasNoRoom()
    {
        return happens(faults.noRoom);
    }

    void transmit(final RocePacket packet)
    {
        observer.accept(packet);
        if (!lost.test(packet) && !happens(faults.lost))
        {
            deliver(packet);
            while (happens(faults.repeated))
            {
                deliver(packet);
            }
        }
    }

    private void deliver(final RocePacket packet)
    {
        final RocePacket copy = free.isEmpty() ? new RocePacket() : free.removeLast();
        copy.copyOf(packet);
        rewriter.accept(copy);
        if (happens(faults.corrupt))
        {
            final int at = random.nextInt(copy.lengthBytes());
            copy.buffer().putByte(at, (byte)(copy.buffer().getByte(at) ^ 1 << random.nextInt(Byte.SIZE)));
        }
        final long delayNs = passDelayNs + (faults.maxDelayNs == 0 ? 0 : random.nextLong(faults.maxDelayNs));
        if (bottleneck != null && bottleneck.addressLow == copy.destinationLow())
        {
            arrivals.add(new Arrival(nowNs + bottleneck.leave(copy, nowNs), arrivalCount++, copy, true));
        }
        else
        {
            inject(copy, delayNs);
        }
    }

    private void enterBottleneck(final RocePacket packet)
    {
        final long passedNs = bottleneck.pass(packet, nowNs);
        if (passedNs < 0)
        {
            free.add(packet);
        }
        else
        {
            inject(packet, passDelayNs + passedNs - nowNs);
        }
    }

    /** Lets a packet arrive at the node that it names. */
    void inject(final RocePacket packet, final long delayNs)
    {
        arrivals.add(new Arrival(nowNs + MIN_DELAY_NS + delayNs, arrivalCount++, packet, false));
    }

    /** A node does nothing from now on; null lets it go on. Packets to it arrive. */
    void pause(final EngineNode node)
    {
        paused = node;
    }

    /** Runs until a condition holds, or nothing can happen any more, or the time is over. */
    boolean run(final BooleanSupplier isDone, final long limitNs)
    {
        final long endNs = nowNs + limitNs;
        while (true)
        {
            boolean hasWorked;
            do
            {
                hasWorked = false;
                for (final EngineNode node : nodes)
                {
                    hasWorked |= node != paused && node.work();
                }
            }
            while (hasWorked);
            if (isDone.getAsBoolean())
            {
                return true;
            }
            long nextNs = arrivals.isEmpty() ? Long.MAX_VALUE : arrivals.peek().timeNs;
            for (final EngineNode node : nodes)
            {
                nextNs = Math.min(nextNs, node == paused ? Long.MAX_VALUE : node.engine.nextDeadlineNs());
            }
            if (nextNs > endNs)
            {
                return false;
            }
            nowNs = Math.max(nowNs, nextNs);
            if (!arrivals.isEmpty() && arrivals.peek().timeNs <= nowNs)
            {
                deliverNext();
            }
        }
    }

    /** Lets time pass, and everybody do what is due. */
    void elapse(final long timeNs)
    {
        final long endNs = nowNs + timeNs;
        run(() -> false, timeNs);
        nowNs = endNs;
    }

    /** Lets all packets under way arrive, and nobody do anything else. */
    void deliverAll()
    {
        for (int left = arrivals.size(); left > 0; left--)
        {
            deliverNext();
        }
    }

    /** Lets the next packet arrive, and nobody do anything else. */
    void deliverNext()
    {
        final Arrival arrival = arrivals.remove();
        final RocePacket packet = arrival.packet;
        if (arrival.isAtBottleneck)
        {
            enterBottleneck(packet);
            return;
        }
        for (final EngineNode node : nodes)
        {
            if (node.address.gidLow() == packet.destinationLow())
            {
                node.engine.onPacket(packet);
            }
        }
        free.add(packet);
    }

    /** Lets everything under way arrive and every timer fire. */
    void settle()
    {
        run(() -> false, Long.MAX_VALUE / 4);
    }
}
