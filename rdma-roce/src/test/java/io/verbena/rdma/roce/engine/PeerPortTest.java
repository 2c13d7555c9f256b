package io.verbena.rdma.roce.engine;

import io.verbena.rdma.connection.ServiceLocator;
import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import org.junit.jupiter.api.Test;

import java.util.Random;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/** To which UDP port packets go, by the address of the other device. */
class PeerPortTest
{
    private static final int PORT = 50_123;
    private static final int QKEY = 0x1111_1111;
    private static final DeviceAddress PLAIN = new DeviceAddress(0xFD00_0000_0000_0001L, 9, PORT);
    private static final DeviceAddress MARKED =
        new DeviceAddress(0xFD00_0000_0000_0001L, 9, ServiceLocator.ofMarked(PORT, 77));

    /** Keeps the port that the last packet was sent to. */
    private static final class Ports implements PacketSink
    {
        private final RocePacket packet = new RocePacket();
        private int last;

        @Override
        public RocePacket claim()
        {
            return packet;
        }

        @Override
        public void send(final RocePacket sent)
        {
            last = sent.destinationPort();
        }
    }

    private final Ports ports = new Ports();

    /** Sends once on a connected queue pair and once by an address handle, both to the same port. */
    private int portTo(final DeviceAddress own, final DeviceAddress peer)
    {
        final RoceEngine engine =
            new RoceEngine(new EngineOptions(own), ports, () -> 1, new Random(1)::nextInt, EngineDriver.NONE);
        final RoceProtectionDomain domain = engine.createProtectionDomain();
        final RoceCompletionQueue completions = engine.createCompletionQueue(8, null);
        final QueuePair connected = domain.createQueuePair(completions, completions, EngineNode.CAPABILITIES);
        final ConnectOptions options = ConnectOptions.DEFAULT;
        connected.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(0));
        connected.modify(new QueuePairAttributes().state(QueuePairState.RTR).destination(peer).pathMtuBytes(256)
            .destinationNumber(7).rqPsn(1).maxDestinationReadAtomic(1).minRnrTimer(1));
        connected.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(1).timeout(options.timeout())
            .retryCount(1).rnrRetry(1).maxReadAtomic(1));
        connected.begin();
        connected.write(1, SIGNALED, 0, 0, 0, 0, 0);
        assertThat(connected.complete()).isZero();
        engine.doWork();
        final int port = ports.last;
        ports.last = 0;
        final QueuePair datagrams = domain.createQueuePair(
            new QueuePairOptions().type(QueuePairType.UD).completions(completions, completions)
                .capabilities(EngineNode.CAPABILITIES));
        datagrams.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(QKEY));
        datagrams.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        datagrams.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(1));
        final AddressHandle handle = domain.createAddressHandle(peer);
        datagrams.begin();
        datagrams.send(1, SIGNALED, 0, 0, 0);
        datagrams.toQueuePair(handle, 9, QKEY);
        assertThat(datagrams.complete()).isZero();
        engine.doWork();
        assertThat(ports.last).isEqualTo(port);
        return port;
    }

    @Test
    void shouldTakeLocatorForPortAmongBareEngines()
    {
        assertThat(portTo(new DeviceAddress(1, 2), PLAIN)).isEqualTo(PORT);
        assertThat(portTo(new DeviceAddress(1, 2, 7), new DeviceAddress(1, 3))).isEqualTo(RocePath.ROCE_PORT);
    }

    /** The locator of an RNIC or of Soft-RoCE names its TCP port. */
    @Test
    void shouldSendToPortOfRnicsUnlessAddressNamesUdpPort()
    {
        final DeviceAddress own = new DeviceAddress(1, 2, ServiceLocator.ofMarked(4_000, 0));
        assertThat(portTo(own, PLAIN)).isEqualTo(RocePath.ROCE_PORT);
        assertThat(portTo(own, MARKED)).isEqualTo(PORT);
        assertThat(portTo(own, new DeviceAddress(1, 3, ServiceLocator.of(PORT - 1, null, PORT))))
            .isEqualTo(RocePath.ROCE_PORT);
        assertThat(portTo(own, new DeviceAddress(1, 3))).isEqualTo(RocePath.ROCE_PORT);
    }
}
