package io.verbena.cli.hosts;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What the tests run in emulated hosts. */
public final class HostsProbe
{
    private static final int PORT = 7_070;
    private static final int DATAGRAM_BYTES = 200;
    private static final int PACE_DATAGRAMS = 10;
    private static final int WAIT_MS = 500;
    private static final int TRANSFER_BYTES = 1 << 20;

    private HostsProbe()
    {
    }

    public static void main(final String[] args) throws IOException
    {
        switch (args[0])
        {
            case "serve" -> serve();
            case "datagrams" -> System.out.println(echoes(args[1], Integer.parseInt(args[2])));
            default -> System.out.println(isTransferred(args[1]) ? "whole" : "damaged");
        }
        System.exit(0);
    }

    /** Echoes datagrams and connections, until it is killed. */
    private static void serve() throws IOException
    {
        final ServerSocket server = new ServerSocket(PORT);
        Thread.ofPlatform().daemon().start(() -> echoConnections(server));
        try (DatagramSocket socket = new DatagramSocket(PORT))
        {
            socket.setReceiveBufferSize(8 << 20);
            System.out.println("serves");
            final DatagramPacket packet = new DatagramPacket(new byte[DATAGRAM_BYTES], DATAGRAM_BYTES);
            while (true)
            {
                socket.receive(packet);
                socket.send(packet);
            }
        }
    }

    private static void echoConnections(final ServerSocket server)
    {
        while (true)
        {
            try (Socket socket = server.accept())
            {
                socket.getInputStream().transferTo(socket.getOutputStream());
            }
            catch (final IOException ex)
            {
                System.err.println(ex);
            }
        }
    }

    /** @return how many of so many datagrams come back; sent once the way is known to both kernels. */
    private static int echoes(final String host, final int count) throws IOException
    {
        try (DatagramSocket socket = new DatagramSocket())
        {
            socket.setReceiveBufferSize(8 << 20);
            socket.connect(InetAddress.getByName(host), PORT);
            awaitWay(socket);
            final BitSet seen = new BitSet();
            final Thread receiver = Thread.ofPlatform().start(() -> receive(socket, seen));
            final byte[] bytes = new byte[DATAGRAM_BYTES];
            for (int i = 0; i < count; i++)
            {
                bytes[0] = 1;
                bytes[1] = (byte)(i >>> 16);
                bytes[2] = (byte)(i >>> 8);
                bytes[3] = (byte)i;
                socket.send(new DatagramPacket(bytes, DATAGRAM_BYTES));
                if (0 == i % PACE_DATAGRAMS)
                {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                }
            }
            receiver.join();
            return seen.cardinality();
        }
        catch (final InterruptedException ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    private static void awaitWay(final DatagramSocket socket) throws IOException
    {
        socket.setSoTimeout(100);
        for (int i = 0; i < 20; i++)
        {
            try
            {
                socket.send(new DatagramPacket(new byte[DATAGRAM_BYTES], DATAGRAM_BYTES));
                socket.receive(new DatagramPacket(new byte[DATAGRAM_BYTES], DATAGRAM_BYTES));
                return;
            }
            catch (final SocketTimeoutException ex)
            {
                continue; // lost, or the link is cut
            }
        }
    }

    private static void receive(final DatagramSocket socket, final BitSet seen)
    {
        try
        {
            socket.setSoTimeout(WAIT_MS);
            final byte[] bytes = new byte[DATAGRAM_BYTES];
            while (true)
            {
                socket.receive(new DatagramPacket(bytes, DATAGRAM_BYTES));
                if (0 != bytes[0])
                {
                    seen.set((bytes[1] & 0xFF) << 16 | (bytes[2] & 0xFF) << 8 | bytes[3] & 0xFF);
                }
            }
        }
        catch (final SocketTimeoutException ex)
        {
            return;
        }
        catch (final IOException ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    private static boolean isTransferred(final String host) throws IOException
    {
        final byte[] bytes = new byte[TRANSFER_BYTES];
        new Random(1).nextBytes(bytes);
        try (Socket socket = new Socket(host, PORT))
        {
            socket.setSoTimeout(30_000);
            final OutputStream out = socket.getOutputStream();
            final Thread writer = Thread.ofPlatform().start(() -> write(out, bytes));
            final byte[] echo = new byte[TRANSFER_BYTES];
            new DataInputStream(socket.getInputStream()).readFully(echo);
            writer.join();
            return Arrays.equals(bytes, echo);
        }
        catch (final InterruptedException ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    private static void write(final OutputStream out, final byte[] bytes)
    {
        try
        {
            out.write(bytes);
        }
        catch (final IOException ex)
        {
            throw new IllegalStateException(ex);
        }
    }
}
