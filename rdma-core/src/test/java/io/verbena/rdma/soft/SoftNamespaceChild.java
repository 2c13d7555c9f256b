package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Endpoint;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A process that tries to connect to a device of the test's process, tells what came of it, and listens itself until
 * standard input ends. Possibly in a network namespace of its own.
 */
public final class SoftNamespaceChild
{
    static final int PORT = 7;

    private SoftNamespaceChild()
    {
    }

    /** @param args fabric directory, interface id of the device. */
    public static void main(final String[] args) throws IOException
    {
        final DeviceAddress target =
            new DeviceAddress(0xFE80_0000_0000_0000L, Long.parseUnsignedLong(args[1], 16));
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(Path.of(args[0])));
            Device device = fabric.openDevice("child");
            Endpoint here = new Endpoint(device);
            ConnectionListener listener = device.listen(PORT))
        {
            System.out.println(connect(here, target) + " " + Long.toHexString(device.address().gidLow()));
            System.out.flush();
            while (System.in.read() >= 0)
            {
                Thread.onSpinWait();
            }
            if (listener.poll() != null)
            {
                System.out.println("asked to connect");
            }
        }
    }

    /** What comes of connecting an endpoint to a device. */
    static ConnectionAttempt.State connect(final Endpoint endpoint, final DeviceAddress target)
    {
        final ConnectionAttempt attempt = endpoint.device.connect(
            endpoint.queuePair, target, PORT, AccessFlags.ALL_REMOTE, new byte[0], TimeUnit.SECONDS.toNanos(20));
        ConnectionAttempt.State state = attempt.poll();
        while (state == ConnectionAttempt.State.PENDING)
        {
            Thread.onSpinWait();
            state = attempt.poll();
        }
        return state;
    }
}
