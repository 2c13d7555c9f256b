package io.verbena.meta.raft;

import org.agrona.CloseHelper;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What members of a group send each other passes here: each knows the others by addresses of its own, so that it is
 * known who sends to whom. A way that is cut delivers nothing, and what was sent meanwhile once it is whole again, as
 * TCP does over a link that loses all. Thread-safe. Closed by the test.
 */
final class MemberLinks implements AutoCloseable
{
    private static final int BUFFER_BYTES = 1 << 16;
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(1);

    /** A way from one member to another. */
    private record Way(int from, int to)
    {
    }

    private final List<String> addresses;
    private final Set<Way> cut = ConcurrentHashMap.newKeySet();
    private final List<AutoCloseable> opened = new CopyOnWriteArrayList<>();
    private volatile boolean isClosed;

    /** @param addresses where members listen. */
    MemberLinks(final List<String> addresses)
    {
        this.addresses = List.copyOf(addresses);
    }

    /** All addresses as one member, counted from 1, knows them; its own is as it is. */
    List<String> seenBy(final int member)
    {
        final List<String> seen = new ArrayList<>();
        for (int other = 1; other <= addresses.size(); other++)
        {
            seen.add(other == member ? addresses.get(other - 1) : listen(member, other));
        }
        return seen;
    }

    void cut(final int from, final int to)
    {
        cut.add(new Way(from, to));
    }

    void restoreAll()
    {
        cut.clear();
    }

    private String listen(final int from, final int to)
    {
        try
        {
            final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            opened.add(server);
            Thread.ofVirtual().start(() -> accept(server, from, to));
            return "127.0.0.1:" + server.getLocalPort();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    private void accept(final ServerSocket server, final int from, final int to)
    {
        while (!isClosed)
        {
            Socket near = null;
            try
            {
                near = server.accept();
                opened.add(near);
                final String[] address = addresses.get(to - 1).split(":");
                final Socket far = new Socket(address[0], Integer.parseInt(address[1]));
                opened.add(far);
                final Socket opener = near;
                Thread.ofVirtual().start(() -> pass(opener, far, new Way(from, to)));
                Thread.ofVirtual().start(() -> pass(far, opener, new Way(to, from)));
            }
            catch (final IOException ex)
            {
                CloseHelper.quietClose(near); // nobody listens there yet, or all is over
            }
        }
    }

    private void pass(final Socket source, final Socket target, final Way way)
    {
        final byte[] buffer = new byte[BUFFER_BYTES];
        try (source; target; InputStream in = source.getInputStream(); OutputStream out = target.getOutputStream())
        {
            for (int length = in.read(buffer); length > 0; length = in.read(buffer))
            {
                while (cut.contains(way) && !isClosed)
                {
                    LockSupport.parkNanos(POLL_NS);
                }
                out.write(buffer, 0, length);
            }
        }
        catch (final IOException ex)
        {
            // One of them has closed: so does the other one.
        }
    }

    @Override
    public void close()
    {
        isClosed = true;
        CloseHelper.quietCloseAll(opened);
    }
}
