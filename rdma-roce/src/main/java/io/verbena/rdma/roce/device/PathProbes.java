package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ConnectionMessage;
import io.verbena.rdma.connection.PathCheck;
import io.verbena.rdma.roce.engine.EngineDriver;
import io.verbena.rdma.roce.seal.PacketCipher;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.DeviceAddress;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.SystemNanoClock;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * Finds out whether packets pass between two queue pairs that have just been connected: TCP may, where UDP does not.
 *
 * <p>A probe is a SEND with the number before the first: to the peer it is a request that it has answered before, so
 * that it acknowledges it once more and does nothing else. Every implementation of RC answers it, whatever rights and
 * receives there are. It is as long as packets may be on this way; where those do not come back, short ones tell
 * whether the length is to blame, and the next connections to that device use shorter packets.
 */
final class PathProbes
{
    private static final int SEND_ONLY = RoceOpcode.RC | RoceOpcode.SEND_ONLY;
    private static final int ACKNOWLEDGE = RoceOpcode.RC | RoceOpcode.ACKNOWLEDGE;
    /** After this without an answer probes are short. */
    private static final long LONG_PROBES_NS = TimeUnit.MILLISECONDS.toNanos(1500);
    private static final int MIN_MTU = 1;
    private static final int MAX_KNOWN_WAYS = 1024;

    private final UdpPort port;
    private final EngineDriver driver;
    private final IntFunction<PacketCipher> cipherOf;
    private final InvariantCrc crc = new InvariantCrc();
    /** By number of the own queue pair; under the driver's lock. */
    private final Int2ObjectHashMap<Probe> open = new Int2ObjectHashMap<>();
    /** Where packets were found to be too long, with what passed; the oldest is forgotten first. Guarded by itself. */
    private final Map<DeviceAddress, Integer> shortened = new LinkedHashMap<>();

    /** @param cipherOf what seals the packets of a queue pair of this number, or null; for the thread that drives. */
    PathProbes(final UdpPort port, final EngineDriver driver, final IntFunction<PacketCipher> cipherOf)
    {
        this.cipherOf = cipherOf;
        this.port = port;
        this.driver = driver;
    }

    /** The longest packets to a device that may pass, {@code enum ibv_mtu}. */
    int mtu(final DeviceAddress peer, final int portMtu)
    {
        synchronized (shortened)
        {
            return Math.min(portMtu, shortened.getOrDefault(way(peer), portMtu));
        }
    }

    private static DeviceAddress way(final DeviceAddress peer)
    {
        return new DeviceAddress(peer.gidHigh(), peer.gidLow());
    }

    /** Begins; see {@link io.verbena.rdma.connection.ConnectionDevice#checkPath}. */
    PathCheck begin(
        final int number, final ConnectionMessage peer, final int ownPsn, final int mtu, final Runnable onAnswered)
    {
        final Probe probe = new Probe(number, peer, ownPsn, mtu, onAnswered);
        driver.enter();
        try
        {
            open.put(number, probe);
        }
        finally
        {
            driver.exit();
        }
        probe.ask();
        return probe;
    }

    /**
     * Driver: whatever arrives may be an answer.
     *
     * @param packet  that the engine has handled; one that was sealed is open.
     * @param isTaken whether the engine says that it is from the peer of its queue pair.
     */
    void onPacket(final RocePacket packet, final boolean isTaken)
    {
        if (!open.isEmpty() && packet.lengthBytes() >= RocePacket.MIN_LENGTH_BYTES &&
            BthDescriptor.opcode(packet.buffer(), 0) == ACKNOWLEDGE)
        {
            final Probe probe = open.get(BthDescriptor.destination(packet.buffer(), 0));
            if (probe != null && probe.isFromPeer(packet) &&
                (cipherOf.apply(probe.number) == null ? crc.isIntact(packet) : isTaken))
            {
                probe.onAnswer();
            }
        }
    }

    /** One connection's. */
    private final class Probe implements PathCheck
    {
        private final long begunNs = SystemNanoClock.INSTANCE.nanoTime();
        private final int number;
        private final ConnectionMessage peer;
        private final int psn;
        private final int mtu;
        private final Runnable onAnswered;
        private boolean isShort;
        private boolean isAnswered;
        private volatile boolean isTooLong;

        private Probe(
            final int number, final ConnectionMessage peer, final int ownPsn, final int mtu, final Runnable onAnswered)
        {
            this.number = number;
            this.peer = peer;
            psn = PacketSequence.add(ownPsn, -1);
            this.mtu = mtu;
            this.onAnswered = onAnswered;
        }

        @Override
        public void ask()
        {
            driver.enter();
            try
            {
                isShort = mtu > MIN_MTU && SystemNanoClock.INSTANCE.nanoTime() - begunNs > LONG_PROBES_NS;
                final RocePacket packet = isAnswered || isTooLong ? null : port.claim();
                if (packet != null)
                {
                    fill(packet, isShort ? 0 : Byte.MAX_VALUE + 1 << mtu);
                    port.send(packet);
                    port.flush();
                }
            }
            finally
            {
                driver.exit();
            }
        }

        private void fill(final RocePacket packet, final int payloadBytes)
        {
            final int headerBytes = BthDescriptor.LENGTH_BYTES;
            final DeviceAddress own = port.address();
            BthDescriptor.encode(
                packet.buffer(), 0, SEND_ONLY, false, 0, peer.queuePairNumber(), true, psn);
            packet.buffer().setMemory(headerBytes, payloadBytes, (byte)0);
            final PacketCipher cipher = cipherOf.apply(number);
            final int end = headerBytes + payloadBytes;
            packet.lengthBytes(
                (cipher == null ? end : cipher.seal(packet.buffer(), end)) + InvariantCrc.LENGTH_BYTES);
            packet.path(own.gidHigh(), own.gidLow(), (int)own.serviceLocator(),
                peer.source().gidHigh(), peer.source().gidLow(), RoceAddress.udpPort(peer.source()));
            crc.seal(packet);
        }

        private boolean isFromPeer(final RocePacket packet)
        {
            return packet.sourceHigh() == peer.source().gidHigh() && packet.sourceLow() == peer.source().gidLow();
        }

        private void onAnswer()
        {
            if (isAnswered || isTooLong)
            {
                return;
            }
            if (isShort)
            {
                isTooLong = true;
                shorten();
            }
            else
            {
                isAnswered = true;
                onAnswered.run();
            }
        }

        private void shorten()
        {
            synchronized (shortened)
            {
                shortened.remove(way(peer.source()));
                if (shortened.size() == MAX_KNOWN_WAYS)
                {
                    shortened.remove(shortened.keySet().iterator().next());
                }
                shortened.put(way(peer.source()), mtu - 1);
            }
        }

        @Override
        public String problem()
        {
            final DeviceAddress to = peer.source();
            final InetAddress host = RoceAddress.inetAddress(to);
            final String name = host.getHostAddress() + " port " + RoceAddress.udpPort(to) + "/udp";
            if (isTooLong)
            {
                return "packets of " + (Byte.MAX_VALUE + 1 << mtu) + " bytes do not reach " + name +
                    ", short ones do: the way there carries less than its ends say; connecting again tries " +
                    (Byte.MAX_VALUE + 1 << mtu - 1) + " bytes, or say so at once with mtu=" +
                    (Byte.MAX_VALUE + 1 << mtu - 1);
            }
            final String reported = port.problem(RoceAddress.forPort(to));
            return reported == null ? "no answer from " + name + ": is it open?" : reported;
        }

        @Override
        public void close()
        {
            driver.enter();
            try
            {
                open.remove(number, this);
            }
            finally
            {
                driver.exit();
            }
        }
    }
}
