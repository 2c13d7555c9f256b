package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.HugePages;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;

import java.io.IOException;
import java.nio.file.Path;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

/** A process of its own, with a mount of its own: says what pages memory has there. */
final class HugePagesChild
{
    static final long REGION_BYTES = 16L << 20;

    private HugePagesChild()
    {
    }

    /** @param args directory. */
    public static void main(final String[] args) throws IOException
    {
        final SoftFabricOptions options = new SoftFabricOptions().directory(Path.of(args[0])).hugePages(true);
        try (SoftFabric fabric = SoftFabric.open(options);
            Device device = fabric.openDevice("huge");
            ProtectionDomain domain = device.allocateProtectionDomain();
            MemoryRegion region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE))
        {
            long sum = 0;
            for (long offset = 0; offset < REGION_BYTES; offset += 4096)
            {
                sum += region.segment().get(JAVA_BYTE, offset);
            }
            System.out.println(
                "pages=" + device.memoryPages() + " sum=" + sum + " huge=" + HugePages.isHuge(region.segment()));
        }
    }
}
