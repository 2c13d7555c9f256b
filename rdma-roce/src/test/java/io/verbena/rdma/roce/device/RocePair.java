package io.verbena.rdma.roce.device;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Two queue pairs that are connected to each other, each with a channel. */
final class RocePair implements AutoCloseable
{
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(16, 16, 64, 4);
    private static final AtomicInteger LAST_SERVICE_PORT = new AtomicInteger(1000);

    private final Requester requester;
    private final CompletionChannel channel;
    private final CompletionQueue completions;
    private final QueuePair responder;

    /** The requesting side alone. */
    static final class Requester implements AutoCloseable
    {
        private final Device device;
        private final CompletionChannel channel;
        private final CompletionQueue completions;
        final QueuePair queuePair;

        Requester(final Device device, final ProtectionDomain domain)
        {
            this.device = device;
            channel = device.createCompletionChannel();
            completions = device.createCompletionQueue(64, channel);
            queuePair = domain.createQueuePair(completions, completions, CAPABILITIES);
        }

        ConnectionAttempt connect(final DeviceAddress target, final int servicePort)
        {
            return device.connect(
                queuePair, target, servicePort, AccessFlags.ALL_REMOTE, new byte[0], PATIENCE_NS);
        }

        /** Takes a completion if there is one. */
        boolean hasCompleted()
        {
            return completions.poll(new WorkCompletions(1)) > 0;
        }

        /** Posts a WRITE; false when nothing can be posted any more. */
        boolean post(final MemoryRegion from, final int lengthBytes, final long toAddress, final int toKey)
        {
            queuePair.begin();
            queuePair.write(1, SendFlags.SIGNALED, from.address(), lengthBytes, from.localKey(), toAddress, toKey);
            return queuePair.complete() == 0;
        }

        /** Waits for a completion, with pauses of so long between two looks, 0 for none; its status. */
        int awaitStatus(final long pauseNs)
        {
            final WorkCompletions batch = new WorkCompletions(1);
            final long endNs = System.nanoTime() + PATIENCE_NS;
            while (completions.poll(batch) == 0)
            {
                if (System.nanoTime() - endNs > 0)
                {
                    throw new AssertionError("no completion");
                }
                Thread.onSpinWait();
                LockSupport.parkNanos(pauseNs);
            }
            return batch.status(0);
        }

        @Override
        public void close()
        {
            queuePair.close();
            completions.close();
            channel.close();
        }
    }

    RocePair(final Device a, final ProtectionDomain domainA, final Device b, final ProtectionDomain domainB)
    {
        this(a, domainA, b, domainB, LAST_SERVICE_PORT.incrementAndGet());
    }

    RocePair(
        final Device a,
        final ProtectionDomain domainA,
        final Device b,
        final ProtectionDomain domainB,
        final int servicePort)
    {
        requester = new Requester(a, domainA);
        channel = b.createCompletionChannel();
        completions = b.createCompletionQueue(64, channel);
        responder = domainB.createQueuePair(completions, completions, CAPABILITIES);
        try (ConnectionListener listener = b.listen(servicePort))
        {
            final ConnectionAttempt attempt = requester.connect(b.address(), servicePort);
            final long endNs = System.nanoTime() + PATIENCE_NS;
            ConnectionRequest request = listener.poll();
            while (request == null && System.nanoTime() - endNs < 0)
            {
                Thread.onSpinWait();
                request = listener.poll();
            }
            request.accept(responder, AccessFlags.ALL_REMOTE, new byte[0]);
            while (attempt.poll() == ConnectionAttempt.State.PENDING)
            {
                Thread.onSpinWait();
            }
            if (attempt.poll() != ConnectionAttempt.State.ESTABLISHED)
            {
                throw new AssertionError(attempt.poll() + ": " + attempt.problem());
            }
        }
    }

    /** Writes the first 8 bytes; the status, or -1 when nothing can be posted any more. */
    int write(final MemoryRegion from, final MemoryRegion to, final int flags)
    {
        return write(from, to, flags, Long.BYTES);
    }

    /** Writes the first bytes; the status, or -1 when nothing can be posted any more. */
    int write(final MemoryRegion from, final MemoryRegion to, final int flags, final int lengthBytes)
    {
        final QueuePair queuePair = requester.queuePair;
        queuePair.begin();
        queuePair.write(1, flags, from.address(), lengthBytes, from.localKey(), to.address(), to.remoteKey());
        return queuePair.complete() == 0 ? awaitStatus() : -1;
    }

    /** Writes 8 bytes to the same place of another region. */
    int writeWord(final MemoryRegion from, final MemoryRegion to, final long offset)
    {
        final QueuePair queuePair = requester.queuePair;
        queuePair.begin();
        queuePair.write(1, SendFlags.SIGNALED, from.address() + offset, Long.BYTES, from.localKey(),
            to.address() + offset, to.remoteKey());
        return queuePair.complete() == 0 ? awaitStatus() : -1;
    }

    /** Adds to the first 8 bytes; what was there comes to a word of {@code from}. */
    int fetchAdd(final MemoryRegion from, final long offset, final MemoryRegion to, final long operand)
    {
        final QueuePair queuePair = requester.queuePair;
        queuePair.begin();
        queuePair.fetchAdd(1, SendFlags.SIGNALED, from.address() + offset, from.localKey(), to.address(),
            to.remoteKey(), operand);
        return queuePair.complete() == 0 ? awaitStatus() : -1;
    }

    /** UDP port that the requests go to. */
    int destinationPort()
    {
        final QueuePairAttributes attributes = new QueuePairAttributes();
        requester.queuePair.query(attributes);
        return (int)attributes.destination().serviceLocator() & 0xFFFF;
    }

    /** Polls once, and then writes the first 8 bytes to as many words, each with a doorbell of its own. */
    void postAfterPoll(final MemoryRegion from, final MemoryRegion to, final int count)
    {
        requester.completions.poll(new WorkCompletions(1));
        final QueuePair queuePair = requester.queuePair;
        for (int i = 0; i < count; i++)
        {
            queuePair.begin();
            queuePair.write(i, SendFlags.SIGNALED, from.address(), Long.BYTES, from.localKey(),
                to.address() + (long)i * Long.BYTES, to.remoteKey());
            if (queuePair.complete() != 0)
            {
                throw new AssertionError("not posted");
            }
        }
    }

    /** Closes the queue pair that posts; that of the peer stays. */
    void closeRequester()
    {
        requester.queuePair.close();
    }

    /** Takes completions. */
    void takeAll(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            if (awaitStatus() != 0)
            {
                throw new AssertionError("failed");
            }
        }
    }

    private int awaitStatus()
    {
        return requester.awaitStatus(0);
    }

    /** Answers messages, asleep in between. */
    void echoByWaiting(final MemoryRegion region, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            postReceive(responder, region);
            awaitReceive(channel, completions);
            send(responder, region);
        }
    }

    /** Sends messages and sleeps until the answer. */
    void pingByWaiting(final MemoryRegion region, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            postReceive(requester.queuePair, region);
            send(requester.queuePair, region);
            awaitReceive(requester.channel, requester.completions);
        }
    }

    private static void postReceive(final QueuePair queuePair, final MemoryRegion region)
    {
        final int status = queuePair.postReceive(2, region.address(), 8, region.localKey());
        if (status != 0)
        {
            throw new AssertionError("receive not posted: " + status);
        }
    }

    private static void send(final QueuePair queuePair, final MemoryRegion region)
    {
        queuePair.begin();
        queuePair.send(3, SendFlags.SIGNALED, region.address(), 8, region.localKey());
        final int status = queuePair.complete();
        if (status != 0)
        {
            throw new AssertionError("send not posted: " + status);
        }
    }

    private static void awaitReceive(final CompletionChannel channel, final CompletionQueue queue)
    {
        final WorkCompletions batch = new WorkCompletions(16);
        final long endNs = System.nanoTime() + PATIENCE_NS;
        boolean hasReceived = false;
        while (!hasReceived)
        {
            queue.requestNotification(false);
            final int count = queue.poll(batch);
            for (int i = 0; i < count; i++)
            {
                if (batch.status(i) != 0)
                {
                    throw new AssertionError("status " + batch.status(i));
                }
                hasReceived |= batch.wrId(i) == 2;
            }
            if (count == 0)
            {
                channel.await(PATIENCE_NS);
            }
            if (System.nanoTime() - endNs > 0)
            {
                throw new AssertionError("no message");
            }
        }
    }

    void closeResponder()
    {
        responder.close();
    }

    void failRequester()
    {
        requester.queuePair.moveToError();
    }

    @Override
    public void close()
    {
        requester.close();
        responder.close();
        completions.close();
        channel.close();
    }
}
