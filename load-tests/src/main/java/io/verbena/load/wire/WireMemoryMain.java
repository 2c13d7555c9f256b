package io.verbena.load.wire;

import io.verbena.raas.Admission;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;

import java.io.IOException;

/**
 * Memory for tables at the far end of the wire, on a device of its own: as a memory node it admits connections, and
 * waits for packets. Arguments: its address, bytes. Prints where it is; ends with its input.
 */
final class WireMemoryMain
{
    static final int PORT = 7;
    private static final long WAIT_NS = 100_000_000;

    private WireMemoryMain()
    {
    }

    public static void main(final String[] args)
    {
        Thread.ofPlatform().daemon().start(WireMemoryMain::endWithInput);
        try (Fabric fabric = Fabrics.open("roce:" + args[0]);
            Device device = fabric.openDevice("memory");
            CompletionChannel channel = device.createCompletionChannel();
            RaasContext raas = RaasContext.open(device, new RaasConfiguration().completionChannel(channel));
            MemoryRegion region = raas.protectionDomain().allocateRegistered(
                Long.parseLong(args[1]), AccessFlags.ALL_REMOTE))
        {
            raas.serve(PORT, (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], region),
                (caller, method, request, offset, length, reply) -> 0);
            final RemoteRegion remote = RemoteRegion.of(region);
            System.out.println(device.address().gidHigh() + " " + device.address().gidLow() + " " +
                device.address().serviceLocator() + " " + remote.address() + " " + remote.lengthBytes() + " " +
                remote.remoteKey());
            while (true)
            {
                if (raas.poll() == 0)
                {
                    raas.await(channel, WAIT_NS);
                }
            }
        }
    }

    private static void endWithInput()
    {
        try
        {
            while (System.in.read() >= 0)
            {
                continue;
            }
        }
        catch (final IOException ex)
        {
            // The same as the end.
        }
        Runtime.getRuntime().halt(0);
    }
}
