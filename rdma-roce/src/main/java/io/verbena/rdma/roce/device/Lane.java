package io.verbena.rdma.roce.device;

import io.verbena.rdma.roce.engine.EngineCounters;
import io.verbena.rdma.roce.engine.EngineOptions;
import io.verbena.rdma.roce.engine.RoceEngine;
import io.verbena.rdma.roce.udp.UdpCounters;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;

import java.util.function.IntSupplier;

/**
 * A UDP port of a device, the engine behind it, and what drives that. The first one of a device has the port of the
 * device's address, and threads that poll or wait drive it; the others have progress threads of their own, which answer
 * at once beside it. A queue pair stays with one, whose port its connection names, so that its packets are handled in
 * order.
 */
final class Lane
{
    final UdpPort port;
    final DeviceDriver driver;
    final RoceEngine engine;
    /** What peers of its queue pairs send packets to. */
    final DeviceAddress address;

    /**
     * @param deviceName    of its device.
     * @param port          closed with it.
     * @param spinNs        for which its progress thread polls before it sleeps.
     * @param processId     of this process for peers of this host.
     * @param datagramBytes longest datagram.
     * @param index         among the lanes of its device.
     * @param count         of them.
     * @param isSealed      whether the device has a secret.
     * @param random        for numbers and keys.
     */
    Lane(
        final String deviceName,
        final UdpPort port,
        final long spinNs,
        final int processId,
        final int datagramBytes,
        final int index,
        final int count,
        final boolean isSealed,
        final IntSupplier random)
    {
        this.port = port;
        final DeviceAddress bound = port.address();
        address = RoceAddress.of(bound.gidHigh(), bound.gidLow(), (int)bound.serviceLocator(), processId);
        driver = new DeviceDriver(index == 0 ? deviceName : deviceName + '-' + index, port, spinNs, index == 0);
        engine = new RoceEngine(
            new EngineOptions(address, EngineOptions.WINDOW_PACKETS, EngineOptions.ACK_INTERVAL, datagramBytes,
                EngineOptions.DC_CONTEXTS, index, count, isSealed),
            port, driver.clock(), random, driver);
    }

    void start()
    {
        driver.start(engine);
    }

    /** @return what its engine and its port have counted, perhaps a moment ago. Any thread. */
    Device.NetworkCounters counters()
    {
        final EngineCounters packets = engine.counters();
        final UdpCounters udp = port.counters();
        return new Device.NetworkCounters(packets.sent, packets.received, packets.resent, packets.timeouts,
            packets.malformed + packets.corrupt + packets.misdirected + packets.wronglySealed + packets.notOpened +
            packets.replayed + udp.malformed,
            udp.noBuffer + udp.tooLong + udp.unsendable, packets.notifications);
    }

    /** Nobody drives any more, and the port is closed. */
    void close()
    {
        driver.close();
        driver.enter();
        try
        {
            port.flush();
            port.close();
        }
        finally
        {
            driver.exit();
        }
    }
}
