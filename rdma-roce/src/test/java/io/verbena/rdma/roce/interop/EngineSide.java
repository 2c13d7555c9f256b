package io.verbena.rdma.roce.interop;

import io.verbena.rdma.roce.engine.EngineDriver;
import io.verbena.rdma.roce.engine.EngineOptions;
import io.verbena.rdma.roce.engine.RoceCompletionQueue;
import io.verbena.rdma.roce.engine.RoceEngine;
import io.verbena.rdma.roce.engine.RoceProtectionDomain;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.udp.UdpPortOptions;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;

import java.net.InetAddress;
import java.security.SecureRandom;

/** Our engine at a UDP socket in a network namespace, with a wire that can be disturbed. */
final class EngineSide extends InteropSide
{
    private static final int COMPLETIONS = 1024;

    final WireFaults wire;
    final RoceEngine engine;
    private final UdpPort port;
    private final RoceProtectionDomain domain;
    private final RoceCompletionQueue completions;
    private final MemoryRegion region;

    EngineSide(final String namespace, final InetAddress address)
    {
        port = NetworkNamespace.in(
            namespace, () -> UdpPort.open(new UdpPortOptions(address, RocePath.ROCE_PORT)));
        final SecureRandom random = new SecureRandom();
        final RoceEngine[] made = new RoceEngine[1];
        wire = new WireFaults(port, (packet) -> made[0].onPacket(packet));
        engine = new RoceEngine(new EngineOptions(port.address()), wire, System::nanoTime, random::nextInt,
            EngineDriver.NONE);
        made[0] = engine;
        domain = engine.createProtectionDomain();
        completions = engine.createCompletionQueue(COMPLETIONS, null);
        region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE | AccessFlags.MW_BIND);
    }

    @Override
    String name()
    {
        return "verbena";
    }

    @Override
    DeviceAddress address()
    {
        return port.address();
    }

    @Override
    ProtectionDomain domain()
    {
        return domain;
    }

    @Override
    CompletionQueue completions()
    {
        return completions;
    }

    @Override
    MemoryRegion region()
    {
        return region;
    }

    @Override
    boolean drive()
    {
        final boolean hasReceived = port.receive(wire::arrived) > 0;
        final boolean hasWorked = engine.doWork() > 0;
        wire.release();
        port.flush();
        return hasReceived || hasWorked;
    }

    /** Sleeps until something arrives, or for a moment. */
    void rest()
    {
        port.await(Math.clamp(engine.nextDeadlineNs() - System.nanoTime(), 0, 200_000), -1);
    }

    @Override
    public void close()
    {
        region.close();
        completions.close();
        domain.close();
        port.close();
    }
}
