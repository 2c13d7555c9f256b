package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** A process of its own that has memory of a fabric and does not close it, or opens and closes it all the time. */
public final class FabricHolder
{
    static final long NAMED_BYTES = 1 << 20;
    private static final int ROUNDS = 1_000;

    private FabricHolder()
    {
    }

    /**
     * @param args directory; {@code hold} to stay until killed, {@code exit}, {@code again} to come and go, or {@code
     *             named} to fill memory of that name, say under which device, and stay.
     */
    public static void main(final String[] args) throws InterruptedException
    {
        if (args[1].equals("again"))
        {
            for (int i = 0; i < ROUNDS; i++)
            {
                SoftFabric.open(new SoftFabricOptions().directory(Path.of(args[0]))).close();
            }
            return;
        }
        final SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(Path.of(args[0])));
        final Device device = fabric.openDevice("holder");
        if (args[1].equals("named"))
        {
            device.allocateProtectionDomain().allocateNamed("named", NAMED_BYTES, AccessFlags.ALL_REMOTE).segment()
                .fill((byte)7);
            System.out.println(Long.toHexString(device.address().gidLow()));
            new CountDownLatch(1).await();
        }
        device.allocateProtectionDomain().allocateRegistered(1 << 16, AccessFlags.ALL_REMOTE);
        System.out.println("ready");
        if (args[1].equals("hold"))
        {
            new CountDownLatch(1).await();
        }
    }
}
