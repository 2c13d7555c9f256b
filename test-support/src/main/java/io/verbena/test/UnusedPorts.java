package io.verbena.test;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports of loopback that nobody has, for servers that a test begins later, or that nobody shall answer at. Stateless.
 */
public final class UnusedPorts
{
    /** Below those that the system gives to whoever names none: what nobody has, nobody gets by chance. */
    private static final int FIRST_PORT = 20_000;
    private static final int PORTS = 12_000;

    private UnusedPorts()
    {
    }

    /** @return a port that nobody has on any address of this host, TCP or UDP; mostly another one each time. */
    public static int next()
    {
        while (true)
        {
            final int port = FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS);
            if (isUnused(port))
            {
                return port;
            }
        }
    }

    private static boolean isUnused(final int port)
    {
        final InetSocketAddress any = new InetSocketAddress(port);
        try (ServerSocket tcp = new ServerSocket(); DatagramSocket udp = new DatagramSocket(any))
        {
            tcp.bind(any);
            return udp.isBound();
        }
        catch (final IOException ex)
        {
            // Somebody has it.
            return false;
        }
    }
}
