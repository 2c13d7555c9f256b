package io.verbena.rdma.roce.interop;

import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.udp.PacketHandler;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.AtomicAckEthDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;

import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * Loses, repeats and holds back packets of an engine, in both directions, between it and its socket: the other side
 * sees what it would on a bad network, and each fault can be aimed at one packet.
 */
final class WireFaults implements PacketSink
{
    private static final int MOST_HELD = 4;
    private static final int TRACED = 120;

    private final PacketSink wire;
    private final PacketHandler engine;
    private final ArrayDeque<RocePacket> heldOut = new ArrayDeque<>();
    private final ArrayDeque<RocePacket> heldIn = new ArrayDeque<>();
    private SplittableRandom random = new SplittableRandom(1);
    private double lost;
    private double repeated;
    private double held;
    private Predicate<RocePacket> losesOut = (packet) -> false;
    private Predicate<RocePacket> losesIn = (packet) -> false;
    private final ArrayDeque<String> trace = new ArrayDeque<>();
    long faults;

    WireFaults(final PacketSink wire, final PacketHandler engine)
    {
        this.wire = wire;
        this.engine = engine;
    }

    /** From now on; 0 for none of it. */
    void rates(final long seed, final double lostPart, final double repeatedPart, final double heldPart)
    {
        random = new SplittableRandom(seed);
        lost = lostPart;
        repeated = repeatedPart;
        held = heldPart;
    }

    void loseOut(final Predicate<RocePacket> which)
    {
        losesOut = which;
    }

    void loseIn(final Predicate<RocePacket> which)
    {
        losesIn = which;
    }

    void none()
    {
        rates(1, 0, 0, 0);
        loseOut((packet) -> false);
        loseIn((packet) -> false);
    }

    @Override
    public RocePacket claim()
    {
        return wire.claim();
    }

    @Override
    public void send(final RocePacket packet)
    {
        if (losesOut.test(packet) || random.nextDouble() < lost)
        {
            faults++;
            note("lost >", packet);
            return; // the same packet is lent again
        }
        if (random.nextDouble() < held)
        {
            note("held >", packet);
            hold(heldOut, packet);
            return;
        }
        final RocePacket copy = random.nextDouble() < repeated ? copy(packet) : null;
        note("     >", packet);
        wire.send(packet);
        if (null != copy)
        {
            faults++;
            sendCopy(copy);
        }
    }

    void arrived(final RocePacket packet)
    {
        if (losesIn.test(packet) || random.nextDouble() < lost)
        {
            faults++;
            note("lost <", packet);
            return;
        }
        if (random.nextDouble() < held)
        {
            note("held <", packet);
            hold(heldIn, packet);
            return;
        }
        note("     <", packet);
        engine.onPacket(packet);
        if (random.nextDouble() < repeated)
        {
            faults++;
            note("again<", packet);
            engine.onPacket(packet);
        }
    }

    private void hold(final ArrayDeque<RocePacket> where, final RocePacket packet)
    {
        faults++;
        where.add(copy(packet));
    }

    /** Lets go what was held back: behind what came after it. */
    void release()
    {
        while (!heldOut.isEmpty() && (heldOut.size() > MOST_HELD || random.nextInt(3) == 0))
        {
            if (!sendCopy(heldOut.peek()))
            {
                break;
            }
            heldOut.poll();
        }
        while (!heldIn.isEmpty() && (heldIn.size() > MOST_HELD || random.nextInt(3) == 0))
        {
            note("late <", heldIn.peek());
            engine.onPacket(heldIn.poll());
        }
    }

    private boolean sendCopy(final RocePacket copy)
    {
        final RocePacket lent = wire.claim();
        if (null != lent)
        {
            lent.copyOf(copy);
            note("late >", copy);
            wire.send(lent);
        }
        return null != lent;
    }

    /** What passed last, for people. */
    String trace()
    {
        return String.join("\n", trace);
    }

    private void note(final String what, final RocePacket packet)
    {
        if (trace.size() == TRACED)
        {
            trace.poll();
        }
        final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
        final int headers = BthDescriptor.LENGTH_BYTES;
        final boolean hasAeth = (RoceOpcode.traits(opcode) & RoceOpcode.HAS_AETH) != 0;
        trace.add(String.format("  %s op %02x psn %06x to %06x, %4d bytes%s%s", what, opcode,
            BthDescriptor.sequence(packet.buffer(), 0), BthDescriptor.destination(packet.buffer(), 0),
            packet.lengthBytes(), hasAeth ? String.format(" syndrome %02x msn %d",
                AethDescriptor.syndrome(packet.buffer(), headers),
                AethDescriptor.messageSequence(packet.buffer(), headers)) : "",
            RoceOpcode.ATOMIC_ACKNOWLEDGE == opcode ? " original " +
                AtomicAckEthDescriptor.original(packet.buffer(), headers + AethDescriptor.LENGTH_BYTES) : ""));
    }

    private static RocePacket copy(final RocePacket packet)
    {
        final RocePacket copy = new RocePacket();
        copy.copyOf(packet);
        return copy;
    }
}
