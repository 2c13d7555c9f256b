package io.verbena.protocol.bootstrap;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class LastingPortTest
{
    private static final InetAddress HOST = InetAddress.getLoopbackAddress();

    @Test
    void shouldBeBelowThePortsThatTheSystemGivesAway() throws IOException
    {
        final String range = Files.readAllLines(Path.of("/proc/sys/net/ipv4/ip_local_port_range")).getFirst();
        final int firstSystemPort = Integer.parseInt(range.strip().split("\\s+")[0]);
        final Set<Integer> ports = new HashSet<>();
        for (int i = 0; i < 50; i++)
        {
            try (ServerSocket socket = new ServerSocket())
            {
                LastingPort.bind(socket, HOST, 1);
                ports.add(socket.getLocalPort());
            }
        }
        assertThat(ports).hasSizeGreaterThan(40)
            .allSatisfy((port) -> assertThat(port).isBetween(10_000, firstSystemPort - 1));
    }

    @Test
    void shouldPassOverPortsThatSomebodyHas() throws IOException
    {
        final int most = 8; // of the ports 10,000 to 10,007
        final Set<Integer> ports = new HashSet<>();
        try (Sockets sockets = new Sockets())
        {
            for (int i = 0; i <= most; i++)
            {
                final ServerSocket socket = sockets.next();
                LastingPort.bind(socket, HOST, 1, 10_000 + most);
                ports.add(socket.getLocalPort());
            }
        }
        assertThat(ports).as("all are taken, and then any").hasSize(most + 1)
            .anySatisfy((port) -> assertThat(port).isGreaterThanOrEqualTo(10_000 + most));
    }

    @Test
    void shouldTakeAnyPortWhereTheSystemGivesAwayAll() throws IOException
    {
        try (ServerSocket socket = new ServerSocket())
        {
            LastingPort.bind(socket, HOST, 1, 1_024);
            assertThat(socket.getLocalPort()).isPositive();
        }
    }

    @Test
    void shouldSayThatAnAddressIsOfAnotherHost() throws IOException
    {
        try (ServerSocket socket = new ServerSocket())
        {
            final InetAddress documentation = InetAddress.getByName("192.0.2.1"); // RFC 5737
            assertThatThrownBy(() -> LastingPort.bind(socket, documentation, 1)).isInstanceOf(BindException.class);
        }
    }

    private static final class Sockets implements AutoCloseable
    {
        private final Set<ServerSocket> open = new HashSet<>();

        private ServerSocket next() throws IOException
        {
            final ServerSocket socket = new ServerSocket();
            open.add(socket);
            return socket;
        }

        @Override
        public void close() throws IOException
        {
            for (final ServerSocket socket : open)
            {
                socket.close();
            }
        }
    }
}
