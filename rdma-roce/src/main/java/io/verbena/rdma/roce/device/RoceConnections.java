package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ConnectableQueuePair;
import io.verbena.rdma.connection.ConnectionDevice;
import io.verbena.rdma.connection.ConnectionMessage;
import io.verbena.rdma.connection.ConnectionSecret;
import io.verbena.rdma.connection.PathCheck;
import io.verbena.rdma.roce.engine.RoceQueuePair;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;

/** What the connection service has to know of a device. */
final class RoceConnections implements ConnectionDevice
{
    /** TCP repeats its first packet after 1 s and 3 s. */
    private static final long SILENCE_PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(4500);

    private final String name;
    private final Lane[] lanes;
    private final int mtu;
    private final RandomGenerator random;
    private final RoceFabricOptions options;
    private final AtomicReference<Device.RefusedConnections> refused =
        new AtomicReference<>(Device.RefusedConnections.NONE);
    private final AtomicInteger listeners = new AtomicInteger();

    /**
     * @param mtu     of the port, {@code enum ibv_mtu}.
     * @param options of the fabric: whether packets are sealed.
     */
    RoceConnections(
        final String name,
        final Lane[] lanes,
        final int mtu,
        final RandomGenerator random,
        final RoceFabricOptions options)
    {
        this.options = options;
        this.name = name;
        this.lanes = lanes;
        this.mtu = mtu;
        this.random = random;
    }

    int listenerCount()
    {
        return listeners.get();
    }

    @Override
    public String name()
    {
        return name;
    }

    @Override
    public ConnectionSecret secret()
    {
        return options.secret();
    }

    @Override
    public boolean isClearAccepted()
    {
        return options.isClearAccepted();
    }

    @Override
    public void onRefused(final InetAddress peer, final String problem)
    {
        if (options.secret() == null)
        {
            // A peer that seals has come to one in clear: no key was missing here.
            return;
        }
        final String last = peer.getHostAddress();
        refused.updateAndGet((before) -> new Device.RefusedConnections(before.count() + 1, last));
    }

    /** With which secret packets are sealed; null: they go in clear. */
    ConnectionRequest.PacketSeal packetSeal()
    {
        return options.secret() == null ? null : options.secret().seal();
    }

    /** Connections that were refused, or answers that were not taken, because of the secret. */
    Device.RefusedConnections refused()
    {
        return refused.get();
    }

    @Override
    public DeviceAddress address()
    {
        return lanes[0].address;
    }

    @Override
    public DeviceAddress address(final ConnectableQueuePair queuePair)
    {
        return ((ConnectedQueuePair)queuePair).lane().address;
    }

    @Override
    public int mtu(final DeviceAddress peer)
    {
        int longest = mtu;
        for (final Lane lane : lanes)
        {
            longest = lane.driver.probes().mtu(peer, longest);
        }
        return longest;
    }

    @Override
    public RandomGenerator random()
    {
        return random;
    }

    @Override
    public ConnectableQueuePair own(final QueuePair queuePair)
    {
        if (queuePair instanceof final RoceQueuePair own)
        {
            for (final Lane lane : lanes)
            {
                if (lane.engine.isOpen(own))
                {
                    return new ConnectedQueuePair(own, lane);
                }
            }
        }
        throw new RdmaException(
            "the queue pair is closed or not of this device: device=" + name + ", queuePair=" + queuePair);
    }

    @Override
    public void childOpened()
    {
        listeners.incrementAndGet();
    }

    @Override
    public void childClosed()
    {
        listeners.decrementAndGet();
    }

    @Override
    public long silencePatienceNs()
    {
        return SILENCE_PATIENCE_NS;
    }

    @Override
    public boolean admits(final DeviceAddress source, final InetAddress from)
    {
        return RoceAddress.inetAddress(source).equals(from);
    }

    /** UC has no acknowledgements, so that nothing says whether a packet has come. */
    @Override
    public PathCheck checkPath(
        final ConnectableQueuePair queuePair,
        final ConnectionMessage peer,
        final int ownPsn,
        final int agreedMtu,
        final Runnable onAnswered)
    {
        final ConnectedQueuePair own = (ConnectedQueuePair)queuePair;
        return own.type() == QueuePairType.RC ?
            own.lane().driver.probes().begin(queuePair.number(), peer, ownPsn, agreedMtu, onAnswered) : null;
    }
}
