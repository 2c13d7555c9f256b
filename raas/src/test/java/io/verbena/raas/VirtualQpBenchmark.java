package io.verbena.raas;

import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * What a READ costs over a virtual queue pair and over a bare one, on soft, one in flight, alternating rounds; prints
 * the median round of each. Run by hand: {@code java ... io.verbena.raas.VirtualQpBenchmark}.
 */
final class VirtualQpBenchmark
{
    private static final int ROUNDS = 41;
    private static final int READS_PER_ROUND = 200_000;
    private static final int[] LENGTHS = {8, 64, 1024};

    private final WorkCompletions completions = new WorkCompletions(64);
    private long done;

    private VirtualQpBenchmark()
    {
    }

    public static void main(final String[] args) throws Exception
    {
        final Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "vqp-benchmark");
        new VirtualQpBenchmark().run(directory);
        Files.deleteIfExists(directory);
    }

    private void onComplete(final VirtualQp vqp, final int cookie, final int status)
    {
        done++;
    }

    private void run(final Path directory)
    {
        try (SoftPair pair = new SoftPair(directory.resolve("raas"));
            SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(directory.resolve("bare"))))
        {
            final VirtualQp vqp = pair.connect(this::onComplete);
            try (Device first = fabric.openDevice("first"); Device second = fabric.openDevice("second"))
            {
                compare(pair, vqp, first, second);
            }
        }
    }

    private void compare(final SoftPair pair, final VirtualQp vqp, final Device first, final Device second)
    {
        final ProtectionDomain here = first.allocateProtectionDomain();
        final ProtectionDomain there = second.allocateProtectionDomain();
        final CompletionQueue queue = first.createCompletionQueue(256);
        final CompletionQueue peerQueue = second.createCompletionQueue(256);
        final QueuePairCapabilities capabilities = new QueuePairCapabilities(128, 8, 0, 16);
        final QueuePair bare = here.createQueuePair(queue, queue, capabilities);
        final QueuePair peer = there.createQueuePair(peerQueue, peerQueue, capabilities);
        final MemoryRegion target = there.allocateRegistered(1 << 16, AccessFlags.ALL_REMOTE);
        final MemoryRegion local = here.allocateRegistered(1 << 16, AccessFlags.LOCAL_WRITE);
        connect(first, second, bare, peer);
        for (final int length : LENGTHS)
        {
            final double[] virtualNs = new double[ROUNDS];
            final double[] bareNs = new double[ROUNDS];
            for (int round = 0; round < ROUNDS; round++)
            {
                virtualNs[round] = virtualRound(pair, vqp, length);
                bareNs[round] = bareRound(bare, queue, local, target, length);
            }
            java.util.Arrays.sort(virtualNs);
            java.util.Arrays.sort(bareNs);
            final double overheadNs = virtualNs[ROUNDS / 2] - bareNs[ROUNDS / 2];
            System.out.printf(Locale.ROOT, "READ of %4d bytes: bare %.1f ns, virtual %.1f ns, difference %.1f ns%n",
                length, bareNs[ROUNDS / 2], virtualNs[ROUNDS / 2], overheadNs);
        }
        bare.close();
        peer.close();
        local.close();
        target.close();
        queue.close();
        peerQueue.close();
        here.close();
        there.close();
    }

    private static void connect(final Device first, final Device second, final QueuePair bare, final QueuePair peer)
    {
        try (ConnectionListener listener = second.listen(9))
        {
            final ConnectionAttempt attempt =
                first.connect(bare, second.address(), 9, 0, new byte[0], SoftPair.TIMEOUT_NS);
            final ConnectionRequest request = listener.poll();
            request.prepare(peer);
            request.accept(peer, AccessFlags.ALL_REMOTE, new byte[0]);
            if (attempt.poll() != ConnectionAttempt.State.ESTABLISHED)
            {
                throw new IllegalStateException("not connected: " + attempt.poll());
            }
        }
    }

    private double virtualRound(final SoftPair pair, final VirtualQp vqp, final int length)
    {
        final RemoteRegion remote = pair.remote();
        final long start = System.nanoTime();
        for (int i = 0; i < READS_PER_ROUND; i++)
        {
            final long target = done + 1;
            vqp.begin();
            vqp.read(pair.local, 0, length, remote, 64);
            vqp.complete(i);
            while (done < target)
            {
                pair.client.poll();
            }
        }
        return (System.nanoTime() - start) / (double)READS_PER_ROUND;
    }

    private double bareRound(
        final QueuePair bare,
        final CompletionQueue queue,
        final MemoryRegion local,
        final MemoryRegion target,
        final int length)
    {
        final long start = System.nanoTime();
        for (int i = 0; i < READS_PER_ROUND; i++)
        {
            bare.begin();
            bare.read(i, SendFlags.SIGNALED, local.address(), length, local.localKey(), target.address() + 64,
                target.remoteKey());
            bare.complete();
            while (queue.poll(completions) == 0)
            {
                Thread.onSpinWait();
            }
        }
        return (System.nanoTime() - start) / (double)READS_PER_ROUND;
    }
}
