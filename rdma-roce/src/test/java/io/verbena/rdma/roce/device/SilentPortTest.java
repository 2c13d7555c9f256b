package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ConnectionService;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairState;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** A peer that TCP reaches and UDP does not. */
class SilentPortTest
{
    private static final InetAddress HOST = InetAddress.ofLiteral("::1");

    @TempDir
    private Path directory;

    @Test
    void shouldNameUdpPortThatIsSilent() throws IOException
    {
        final AcceptingDevice peer = new AcceptingDevice();
        try (ConnectionService service = new ConnectionService(peer, "test", new InetSocketAddress(HOST, 0), null);
            DatagramSocket silent = new DatagramSocket(new InetSocketAddress(HOST, service.tcpPort())))
        {
            // Bound, and nobody reads it: as behind a firewall that drops.
            assertThat(silent.isBound()).isTrue();
            peer.begin(service, service.tcpPort());
            assertThat(connect(peer.address())).isEqualTo(
                "no answer from 0:0:0:0:0:0:0:1 port " + service.tcpPort() + "/udp: is it open?");
        }
    }

    @Test
    void shouldSayWhatTheHostReportedOfUdpPortThatNobodyHas() throws IOException
    {
        final AcceptingDevice peer = new AcceptingDevice();
        try (ConnectionService service = new ConnectionService(peer, "test", new InetSocketAddress(HOST, 0), null))
        {
            peer.begin(service, service.tcpPort());
            assertThat(connect(peer.address())).contains("no answer from [").contains("]:" + service.tcpPort());
        }
    }

    private String connect(final DeviceAddress target)
    {
        try (Fabric fabric = Fabrics.open("roce:::1,memory=" + directory);
            Device device = fabric.openDevice("requester");
            ProtectionDomain domain = device.allocateProtectionDomain();
            RocePair.Requester requester = new RocePair.Requester(device, domain))
        {
            final ConnectionAttempt attempt = requester.connect(target, AcceptingDevice.SERVICE_PORT);
            while (attempt.poll() == ConnectionAttempt.State.PENDING)
            {
                Thread.onSpinWait();
            }
            // At its deadline it would be TIMED_OUT; that this is found out within 5 s is ServiceAttemptTest's.
            assertThat(attempt.poll()).isEqualTo(ConnectionAttempt.State.UNREACHABLE);
            assertThat(requester.queuePair.state()).isEqualTo(QueuePairState.RESET);
            return attempt.problem();
        }
    }
}
