package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ConnectionMessage;
import io.verbena.rdma.connection.PathCheck;
import io.verbena.rdma.roce.engine.EngineDriver;
import io.verbena.rdma.roce.seal.PacketCipher;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.udp.UdpPortOptions;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.spec.SecretKeySpec;

import static org.assertj.core.api.Assertions.assertThat;

/** Probes against a port that answers some of them. */
class PathProbesTest
{
    private static final int OWN_NUMBER = 77;
    private static final int PEER_NUMBER = 88;
    private static final int PSN = 0x10;
    private static final int MTU_1024 = 3;

    private final InvariantCrc crc = new InvariantCrc();
    private final AtomicInteger answered = new AtomicInteger();
    private UdpPort own;
    private UdpPort peer;
    private PathProbes probes;
    private DeviceAddress peerAddress;
    private int longestAnswered;
    private int seen;

    @BeforeEach
    void open()
    {
        own = UdpPort.open(new UdpPortOptions(InetAddress.ofLiteral("::1"), 0));
        peer = UdpPort.open(new UdpPortOptions(InetAddress.ofLiteral("::1"), 0));
        probes = new PathProbes(own, EngineDriver.NONE, (number) -> null);
        final DeviceAddress address = peer.address();
        peerAddress = RoceAddress.of(address.gidHigh(), address.gidLow(), (int)address.serviceLocator(), 0);
    }

    @AfterEach
    void close()
    {
        own.close();
        peer.close();
    }

    private PathCheck begin()
    {
        return probes.begin(OWN_NUMBER, new ConnectionMessage(
            ConnectionMessage.ACCEPT, 1, PEER_NUMBER, 0, MTU_1024, 1, peerAddress, new byte[0]), PSN, MTU_1024,
            answered::incrementAndGet);
    }

    /** What a responder does with a request from before its first. */
    private void acknowledge(final RocePacket request)
    {
        assertThat(BthDescriptor.opcode(request.buffer(), 0)).isEqualTo(RoceOpcode.RC | RoceOpcode.SEND_ONLY);
        assertThat(BthDescriptor.destination(request.buffer(), 0)).isEqualTo(PEER_NUMBER);
        assertThat(BthDescriptor.sequence(request.buffer(), 0)).isEqualTo(PSN - 1);
        assertThat(BthDescriptor.isAckRequested(request.buffer(), 0)).isTrue();
        assertThat(crc.isIntact(request)).isTrue();
        seen++;
        if (request.lengthBytes() <= longestAnswered)
        {
            answer(OWN_NUMBER, 0);
        }
    }

    private void answer(final int number, final int damage)
    {
        final RocePacket packet = peer.claim();
        BthDescriptor.encode(
            packet.buffer(), 0, RoceOpcode.RC | RoceOpcode.ACKNOWLEDGE, false, 0, number, false, PSN - 1);
        packet.buffer().putInt(BthDescriptor.LENGTH_BYTES, 0);
        packet.lengthBytes(BthDescriptor.LENGTH_BYTES + Integer.BYTES + InvariantCrc.LENGTH_BYTES);
        final DeviceAddress from = peer.address();
        final DeviceAddress to = own.address();
        packet.path(from.gidHigh(), from.gidLow(), (int)from.serviceLocator(),
            to.gidHigh(), to.gidLow(), (int)to.serviceLocator());
        crc.seal(packet);
        packet.buffer().putByte(BthDescriptor.LENGTH_BYTES, (byte)damage);
        peer.send(packet);
        peer.flush();
    }

    private void exchange()
    {
        peer.await(TimeUnit.MILLISECONDS.toNanos(200), -1);
        peer.receive(this::acknowledge);
        own.await(TimeUnit.MILLISECONDS.toNanos(20), -1);
        own.receive((packet) -> probes.onPacket(packet, false));
    }

    @Test
    void shouldTellOnceWhenPacketsOfFullLengthPass()
    {
        longestAnswered = RocePacket.MAX_LENGTH_BYTES;
        try (PathCheck check = begin())
        {
            exchange();
            assertThat(answered).hasValue(1);
            check.ask();
            exchange();
            assertThat(seen).as("no probe after the answer").isEqualTo(1);
            answer(OWN_NUMBER, 0);
            exchange();
            assertThat(answered).hasValue(1);
        }
        assertThat(probes.mtu(peerAddress, 5)).isEqualTo(5);
    }

    @Test
    void shouldTakeNoOtherPacketForAnAnswer()
    {
        try (PathCheck check = begin())
        {
            answer(OWN_NUMBER + 1, 0);
            answer(OWN_NUMBER, 1);
            exchange();
            assertThat(answered).hasValue(0);
            assertThat(check.problem()).isEqualTo("no answer from 0:0:0:0:0:0:0:1 port " +
                (peer.address().serviceLocator() & 0xFFFF) + "/udp: is it open?");
        }
    }

    @Test
    void shouldSayThatPacketsAreTooLongAndUseShorterOnesNextTime()
    {
        longestAnswered = 100;
        try (PathCheck check = begin())
        {
            final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (probes.mtu(peerAddress, MTU_1024) == MTU_1024 && System.nanoTime() - endNs < 0)
            {
                check.ask();
                exchange();
            }
            assertThat(probes.mtu(peerAddress, MTU_1024)).isEqualTo(MTU_1024 - 1);
            assertThat(answered).hasValue(0);
            assertThat(check.problem()).startsWith("packets of 1024 bytes do not reach 0:0:0:0:0:0:0:1 port ")
                .contains("connecting again tries 512 bytes");
        }
    }

    /** Who can send packets on the path must not make a connection count whose packets nobody opens. */
    @Test
    void shouldTakeNoAnswerInClearWherePacketsAreSealed()
    {
        final SecretKeySpec secret = new SecretKeySpec(new byte[32], "Generic");
        final PacketCipher cipher = new PacketCipher(secret, secret, PacketCipher.scratch());
        probes = new PathProbes(own, EngineDriver.NONE, (number) -> cipher);
        try (PathCheck _ = begin())
        {
            answer(OWN_NUMBER, 0);
            own.await(TimeUnit.MILLISECONDS.toNanos(200), -1);
            own.receive((packet) -> probes.onPacket(packet, false));
            assertThat(answered).hasValue(0);
            answer(OWN_NUMBER, 0);
            own.await(TimeUnit.MILLISECONDS.toNanos(200), -1);
            own.receive((packet) -> probes.onPacket(packet, true));
            assertThat(answered).as("one that was opened").hasValue(1);
        }
    }
}
