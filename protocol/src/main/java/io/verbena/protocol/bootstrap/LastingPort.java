package io.verbena.protocol.bootstrap;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A free port for a server whose address others remember, and which is not always there: a cluster that is stopped, a
 * meta server that does not lead. It is below the ports that Linux gives to those who ask for any
 * ({@code ip_local_port_range} in ip(7)), so that nobody gets it by chance meanwhile. Stateless; any thread.
 */
public final class LastingPort
{
    private static final Path SYSTEM_PORTS = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
    /** Of Linux, where the file cannot be read. */
    private static final int SYSTEM_PORT = 32_768;
    private static final int PORTS = 12_000;
    private static final int LOWEST_PORT = 10_000;
    private static final int ATTEMPTS = 100;
    private static final int ANY = 0;

    private LastingPort()
    {
    }

    /**
     * Binds a socket to such a port, or, where there is none, to any that is free.
     *
     * @param socket  not bound; the caller's, who closes it also when this fails.
     * @param host    address of this host.
     * @param backlog connections that may wait to be accepted.
     * @throws IOException when the address is not of this host, or no port is free.
     */
    public static void bind(final ServerSocket socket, final InetAddress host, final int backlog) throws IOException
    {
        bind(socket, host, backlog, firstSystemPort());
    }

    static void bind(final ServerSocket socket, final InetAddress host, final int backlog, final int firstSystemPort)
        throws IOException
    {
        final int first = Math.max(LOWEST_PORT, firstSystemPort - PORTS);
        for (int i = 0; i < ATTEMPTS && first < firstSystemPort; i++)
        {
            final int port = ThreadLocalRandom.current().nextInt(first, firstSystemPort);
            try
            {
                socket.bind(new InetSocketAddress(host, port), backlog);
                return;
            }
            catch (final BindException ignore)
            {
                // Somebody has it, or the address is not of this host, which is said below.
            }
        }
        socket.bind(new InetSocketAddress(host, ANY), backlog);
    }

    private static int firstSystemPort()
    {
        try
        {
            // Not readString, which reads in steps: from its second byte on, the system says that such a file is over.
            return Integer.parseInt(Files.readAllLines(SYSTEM_PORTS).getFirst().strip().split("\\s+")[0]);
        }
        catch (final IOException | RuntimeException ignore)
        {
            return SYSTEM_PORT;
        }
    }
}
