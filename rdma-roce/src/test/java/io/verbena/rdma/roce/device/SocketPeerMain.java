package io.verbena.rdma.roce.device;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that accepts every connection to the devices whose fabrics are its arguments. Prints a line for each:
 * {@code open ADDRESS KEY} of a region that peers may write, or {@code refused WHY}. Its input then has commands:
 * {@code close N} closes the queue pairs of a device, {@code written N} prints how many bytes of the region are not 0.
 */
final class SocketPeerMain
{
    static final int SERVICE_PORT = 7;
    private static final long PAUSE_NS = 1_000_000;

    private final Device device;
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final CompletionQueue completions;
    private final List<QueuePair> accepted = new ArrayList<>();

    private SocketPeerMain(final String fabric)
    {
        device = Fabrics.open(fabric).openDevice("peer");
        domain = device.allocateProtectionDomain();
        region = domain.allocateRegistered(SocketTarget.LENGTH_BYTES, AccessFlags.ALL_REMOTE);
        completions = device.createCompletionQueue(64);
    }

    public static void main(final String[] fabrics) throws IOException
    {
        final List<SocketPeerMain> peers = new ArrayList<>();
        for (final String fabric : fabrics)
        {
            try
            {
                final SocketPeerMain peer = new SocketPeerMain(fabric);
                Thread.ofPlatform().daemon().start(peer::accept);
                final DeviceAddress address = peer.device.address();
                System.out.println("open " + address.gidHigh() + ' ' + address.gidLow() + ' ' +
                    address.serviceLocator() + ' ' + peer.region.address() + ' ' + peer.region.remoteKey());
                peers.add(peer);
            }
            catch (final RdmaException ex)
            {
                System.out.println("refused " + ex.getMessage());
            }
        }
        final BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine())
        {
            final SocketPeerMain peer = peers.get(Integer.parseInt(line.substring(line.indexOf(' ') + 1)));
            System.out.println(line.startsWith("close") ? peer.closeAll() : peer.written());
        }
        Runtime.getRuntime().halt(0);
    }

    private void accept()
    {
        final ConnectionListener listener = device.listen(SERVICE_PORT);
        while (true)
        {
            LockSupport.parkNanos(PAUSE_NS);
            for (ConnectionRequest request = listener.poll(); request != null; request = listener.poll())
            {
                final QueuePair queuePair =
                    domain.createQueuePair(completions, completions, new QueuePairCapabilities(4, 4, 0, 1));
                synchronized (accepted)
                {
                    accepted.add(queuePair);
                }
                request.accept(queuePair, AccessFlags.ALL_REMOTE, new byte[0]);
            }
        }
    }

    private String closeAll()
    {
        synchronized (accepted)
        {
            accepted.forEach(QueuePair::close);
            return "closed " + accepted.size();
        }
    }

    private String written()
    {
        long count = 0;
        for (final byte each : region.segment().toArray(ValueLayout.JAVA_BYTE))
        {
            count += each == 0 ? 0 : 1;
        }
        return "written " + count;
    }
}
