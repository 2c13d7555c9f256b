import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * Two nodes tell each other about a buffer and then work on the other's with one-sided verbs; the page beside this file
 * goes through it. One thread plays both nodes, which know of each other what the fabric tells and nothing else.
 */
public final class BufferExchange
{
    private static final int SERVICE_PORT = 20_886;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final byte[] NOTHING = {};

    private BufferExchange()
    {
    }

    /** @param args name of the fabric: soft (default), sim:SEED or ibverbs:DEVICE. */
    public static void main(final String[] args)
    {
        run(args.length == 0 ? "soft" : args[0], System.out);
    }

    static void run(final String fabricName, final PrintStream out)
    {
        try (Fabric fabric = Fabrics.open(fabricName);
            Node server = new Node(fabric, "server", "What the server has to say");
            Node client = new Node(fabric, "client", "A somewhat longer text of the client"))
        {
            connect(client, server);
            out.println("connected");

            // The client shows where the server may write; the server makes as much room as the client wants to send.
            client.offer(server.own.lengthBytes());
            final Announcement ofClient = server.receiveAnnouncement();
            server.offer(ofClient.wantedBytes());
            final Announcement ofServer = client.receiveAnnouncement();

            out.println("client: " + client.writeAndReadBack(ofServer));
            client.say();
            server.hear();

            // The exercise: the same at the server's side.
            out.println("server: " + server.writeAndReadBack(ofClient));
            server.say();
            // Not before this may the client close: the server's READ would end with RETRY_EXC_ERR.
            client.hear();

            out.println("client holds: " + client.landed());
            out.println("server holds: " + server.landed());
        }
    }

    private static void connect(final Node client, final Node server)
    {
        try (ConnectionListener listener = server.device.listen(SERVICE_PORT))
        {
            // INIT from now on, so that receives can be posted: before the peer can have anything to send.
            final ConnectionAttempt attempt = client.device.connect(
                client.queuePair, server.device.address(), SERVICE_PORT, NOTHING, TIMEOUT_NS);
            client.postReceive();
            while (attempt.poll() == ConnectionAttempt.State.PENDING)
            {
                final ConnectionRequest request = listener.poll();
                if (request != null)
                {
                    request.prepare(server.queuePair);
                    server.postReceive();
                    request.accept(server.queuePair, AccessFlags.ALL_REMOTE, NOTHING);
                }
                // Nothing raises an event yet: a millisecond passes, also where time is simulated.
                client.channel.await(TimeUnit.MILLISECONDS.toNanos(1));
            }
            check(attempt.poll() == ConnectionAttempt.State.ESTABLISHED, "not connected: " + attempt.poll());
        }
    }

    private static void check(final boolean condition, final String otherwise)
    {
        if (!condition)
        {
            throw new IllegalStateException(otherwise);
        }
    }

    /**
     * What a peer needs to reach a buffer, and how much room its owner wants in return.
     *
     * @param address     first byte, in the owner's terms.
     * @param lengthBytes of the buffer.
     * @param remoteKey   what lets a peer in. Not the local key, which on many devices is the same number, and on some
     *                    is not.
     * @param wantedBytes that the owner is going to write at the other side.
     */
    private record Announcement(long address, long lengthBytes, int remoteKey, long wantedBytes)
    {
        static final int BYTES = 28;
        private static final ValueLayout.OfLong LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

        void write(final MemorySegment message)
        {
            message.set(LONG, 0, address);
            message.set(LONG, 8, lengthBytes);
            message.set(LONG, 16, wantedBytes);
            message.set(INT, 24, remoteKey);
        }

        static Announcement read(final MemorySegment message)
        {
            return new Announcement(
                message.get(LONG, 0), message.get(LONG, 8), message.get(INT, 24), message.get(LONG, 16));
        }
    }

    /** One of the two: its resources in the order in which they need each other, and what it does with them. */
    private static final class Node implements AutoCloseable
    {
        private static final int QUEUE_DEPTH = 16;
        private static final int MAX_READS = 3;

        private final WorkCompletions completion = new WorkCompletions(1);
        private final Device device;
        private final ProtectionDomain domain;
        private final CompletionChannel channel;
        private final CompletionQueue sent;
        private final CompletionQueue received;
        private final QueuePair queuePair;
        private final MemoryRegion outgoing;
        private final MemoryRegion incoming;
        private final MemoryRegion own;
        private final MemoryRegion copy;
        private MemoryRegion landing;

        Node(final Fabric fabric, final String name, final String text)
        {
            final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            device = fabric.openDevice(name);
            domain = device.allocateProtectionDomain();
            channel = device.createCompletionChannel();
            sent = device.createCompletionQueue(QUEUE_DEPTH, channel);
            received = device.createCompletionQueue(QUEUE_DEPTH, channel);
            queuePair = domain.createQueuePair(
                sent, received, new QueuePairCapabilities(QUEUE_DEPTH, QUEUE_DEPTH, 0, MAX_READS));
            outgoing = domain.allocateRegistered(Announcement.BYTES, 0);
            incoming = domain.allocateRegistered(Announcement.BYTES, AccessFlags.LOCAL_WRITE);
            own = domain.allocateRegistered(bytes.length, 0);
            MemorySegment.copy(bytes, 0, own.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
            copy = domain.allocateRegistered(bytes.length, AccessFlags.LOCAL_WRITE);
        }

        /** Makes room that the peer may write and read, and tells it where. */
        void offer(final long lengthBytes)
        {
            landing = domain.allocateRegistered(
                lengthBytes, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE);
            new Announcement(landing.address(), landing.lengthBytes(), landing.remoteKey(), own.lengthBytes())
                .write(outgoing.segment());
            say();
        }

        Announcement receiveAnnouncement()
        {
            hear();
            return Announcement.read(incoming.segment());
        }

        /** SENDs the outgoing message, whatever it says. */
        void say()
        {
            queuePair.begin();
            queuePair.send(1, SendFlags.SIGNALED, outgoing.address(), Announcement.BYTES, outgoing.localKey());
            post();
            await(sent, "SEND");
        }

        /** Waits for a message of the peer, and is ready for the next one before the peer can send it. */
        void hear()
        {
            await(received, "receive");
            postReceive();
        }

        void postReceive()
        {
            check(queuePair.postReceive(2, incoming.address(), Announcement.BYTES, incoming.localKey()) ==
                PostStatus.OK, "receive not posted");
        }

        /** The memcmp of the original: what came back is what was sent. */
        String writeAndReadBack(final Announcement target)
        {
            final int length = (int)own.lengthBytes();
            check(target.lengthBytes() >= length, "the peer has only " + target.lengthBytes() + " bytes");
            queuePair.begin();
            queuePair.write(3, SendFlags.SIGNALED,
                own.address(), length, own.localKey(), target.address(), target.remoteKey());
            post();
            await(sent, "WRITE");

            queuePair.begin();
            queuePair.read(4, SendFlags.SIGNALED,
                copy.address(), length, copy.localKey(), target.address(), target.remoteKey());
            post();
            await(sent, "READ");
            check(copy.segment().mismatch(own.segment()) == -1, "what came back differs");
            return "wrote " + length + " bytes, and read the same back";
        }

        private void post()
        {
            check(queuePair.complete() == PostStatus.OK, "not posted: " + queuePair);
        }

        private void await(final CompletionQueue queue, final String what)
        {
            final long deadlineNs = device.clock().nanoTime() + TIMEOUT_NS;
            while (queue.poll(completion) == 0)
            {
                queue.requestNotification(false);
                // What came between the first look and the arming may raise no event: look again before sleeping.
                if (queue.poll(completion) > 0)
                {
                    break;
                }
                channel.await(deadlineNs - device.clock().nanoTime());
                check(deadlineNs - device.clock().nanoTime() > 0, what + " took too long");
            }
            check(completion.status(0) == WorkCompletionStatus.SUCCESS,
                what + " failed: " + WorkCompletionStatus.text(completion.status(0)));
        }

        String landed()
        {
            return new String(landing.segment().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        }

        /** Children before what they were made from. */
        @Override
        public void close()
        {
            queuePair.close();
            for (final MemoryRegion region : new MemoryRegion[]{landing, copy, own, incoming, outgoing})
            {
                if (region != null)
                {
                    region.close();
                }
            }
            received.close();
            sent.close();
            channel.close();
            domain.close();
            device.close();
        }
    }
}
