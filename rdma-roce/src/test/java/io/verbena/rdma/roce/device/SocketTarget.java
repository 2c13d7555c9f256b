package io.verbena.rdma.roce.device;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A region of a {@link SocketPeer}, and a queue pair that writes to it. What becomes of that is printed. */
final class SocketTarget
{
    static final int LENGTH_BYTES = 4096;
    /** Retries of a connection take some 3.1 s; the rest is for a busy machine. */
    private static final long MIN_SILENCE_MS = 2_900;
    /** What was interrupted for so long on a busy machine says nothing of what is survived. */
    private static final long BUSY_MS = 2_000;
    private static final long POLL_NS = 1_000_000;

    private final String fault;
    private final Device from;
    private final ProtectionDomain domain;
    private final MemoryRegion source;
    private DeviceAddress address;
    private long regionAddress;
    private int regionKey;
    private RocePair.Requester requester;
    private long postedNs;

    SocketTarget(final String fault, final Device from)
    {
        this.fault = fault;
        this.from = from;
        domain = from.allocateProtectionDomain();
        source = domain.allocateRegistered(LENGTH_BYTES, AccessFlags.LOCAL_WRITE);
        source.segment().fill((byte)7);
    }

    /** Takes the next device that a peer says to have opened, and connects to it. */
    void connectTo(final SocketPeer peer)
    {
        final String line = peer.line();
        final String[] words = line.split(" ");
        if (!"open".equals(words[0]))
        {
            throw new AssertionError(fault + ": " + line);
        }
        address = new DeviceAddress(Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
        regionAddress = Long.parseLong(words[4]);
        regionKey = Integer.parseInt(words[5]);
        connect("connection");
    }

    /** Connects another queue pair, which writes from now on. */
    void connect(final String when)
    {
        final RocePair.Requester connecting = new RocePair.Requester(from, domain);
        final ConnectionAttempt attempt = connecting.connect(address, SocketPeerMain.SERVICE_PORT);
        while (attempt.poll() == ConnectionAttempt.State.PENDING)
        {
            LockSupport.parkNanos(POLL_NS);
        }
        final boolean isEstablished = attempt.poll() == ConnectionAttempt.State.ESTABLISHED;
        requester = isEstablished ? connecting : requester;
        say(when + ' ' + (isEstablished ? "established" : attempt.problem()));
    }

    void post()
    {
        postedNs = System.nanoTime();
        if (!requester.post(source, LENGTH_BYTES, regionAddress, regionKey))
        {
            throw new AssertionError(fault + ": not posted");
        }
    }

    /** Prints the status of the write that was posted last, and whether all retries can have been made by then. */
    void await(final String when)
    {
        final int status = requester.awaitStatus(POLL_NS);
        final long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - postedNs);
        say(when + ' ' + WorkCompletionStatus.text(status) +
            (status != 0 && tookMs < MIN_SILENCE_MS ? " after " + tookMs + " ms" : ""));
    }

    /** Writes while something is interrupted, until that was for less than the retries take. */
    void writeInterrupted(final Runnable begin, final long lengthMs, final Runnable end)
    {
        int status;
        long tookMs;
        do
        {
            begin.run();
            post();
            final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lengthMs);
            while (System.nanoTime() - endNs < 0)
            {
                LockSupport.parkNanos(POLL_NS);
            }
            end.run();
            tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - postedNs);
            status = requester.awaitStatus(POLL_NS);
            if (status != 0 && tookMs >= BUSY_MS)
            {
                connect("once more");
            }
        }
        while (status != 0 && tookMs >= BUSY_MS);
        say("shortly " + WorkCompletionStatus.text(status));
    }

    void write(final String when)
    {
        post();
        await(when);
    }

    void say(final String what)
    {
        System.out.println(fault + ": " + what);
    }
}
