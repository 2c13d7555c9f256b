package io.verbena.rdma.ibverbs;

import io.verbena.rdma.connection.ConnectableQueuePair;
import io.verbena.rdma.connection.ConnectionDevice;
import io.verbena.rdma.connection.ConnectionService;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/** What the connection service has to know of a device. */
final class IbverbsConnections implements ConnectionDevice
{
    private static final SecureRandom RANDOM = new SecureRandom();

    private final DeviceContext device;

    private IbverbsConnections(final DeviceContext device)
    {
        this.device = device;
    }

    /**
     * Opens the service, at any port.
     *
     * @param device whose service it is.
     * @param host   address of this machine.
     * @return the service, not started.
     */
    static ConnectionService open(final DeviceContext device, final InetAddress host)
    {
        try
        {
            return new ConnectionService(
                new IbverbsConnections(device), "ibverbs", new InetSocketAddress(host, 0), null);
        }
        catch (final IOException ex)
        {
            throw new RdmaException("the connection service cannot listen at " + host.getHostAddress() +
                ", the address of the device's GID: " + ex.getMessage() + "; choose another GID or name an address: " +
                "ibverbs:" + device.rnic() + ",gid=INDEX or host=IPV4", ex);
        }
    }

    static InetAddress host(final String ipv4)
    {
        try
        {
            return InetAddress.getByName(ipv4);
        }
        catch (final UnknownHostException ex)
        {
            throw new RdmaException("no such address: host=" + ipv4, ex);
        }
    }

    @Override
    public String name()
    {
        return device.name();
    }

    @Override
    public DeviceAddress address()
    {
        return device.address();
    }

    @Override
    public int mtu(final DeviceAddress peer)
    {
        return device.query().mtu();
    }

    @Override
    public RandomGenerator random()
    {
        return RANDOM;
    }

    @Override
    public ConnectableQueuePair own(final QueuePair queuePair)
    {
        if (queuePair instanceof final IbverbsQueuePair own && own.device() == device)
        {
            return own;
        }
        throw new RdmaException(
            "the queue pair is not of this device: device=" + device.name() + ", queuePair=" + queuePair);
    }

    @Override
    public void childOpened()
    {
        device.childOpened();
    }

    @Override
    public void childClosed()
    {
        device.childClosed();
    }

    @Override
    public long silencePatienceNs()
    {
        return Long.MAX_VALUE;
    }
}
