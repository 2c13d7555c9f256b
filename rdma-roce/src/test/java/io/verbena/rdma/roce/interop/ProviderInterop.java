package io.verbena.rdma.roce.interop;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;

/**
 * One end of a connection that the connection services of the providers {@code roce} and {@code ibverbs} make with each
 * other. Each end is a process, that of {@code roce} in another network namespace.
 */
final class ProviderInterop
{
    private static final int SERVICE = 4711;
    private static final int BYTES = 1 << 16;
    private static final long PAUSE_NS = 100_000;
    private static final long WRITTEN_LAST = 4711;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final byte[] NOTHING = {};
    private static final long PATIENCE_NS = 30_000_000_000L;

    private ProviderInterop()
    {
    }

    /** A device and what a queue pair needs. */
    private record End(Fabric fabric, Device device, ProtectionDomain domain, CompletionQueue completions,
        MemoryRegion region, QueuePair queuePair)
    {
        static End open(final String fabricName)
        {
            final Fabric fabric = Fabrics.open(fabricName);
            final Device device = fabric.openDevice("interop");
            final ProtectionDomain domain = device.allocateProtectionDomain();
            final CompletionQueue completions = device.createCompletionQueue(64);
            return new End(fabric, device, domain, completions,
                domain.allocateRegistered(BYTES, AccessFlags.ALL_REMOTE),
                domain.createQueuePair(completions, completions, InteropSide.CAPABILITIES));
        }

        void close()
        {
            queuePair.close();
            region.close();
            completions.close();
            domain.close();
            device.close();
            fabric.close();
        }
    }

    /** @param arguments name of the fabric, {@code listen} or {@code connect}, and a file that tells where. */
    public static void main(final String... arguments) throws IOException
    {
        final End end = End.open(arguments[0]);
        final Path file = Path.of(arguments[2]);
        if ("listen".equals(arguments[1]))
        {
            listen(end, file);
        }
        else
        {
            await("file " + file, () -> Files.exists(file));
            connect(end, Files.readString(file).split(" "));
            System.out.println(arguments[0] + " connects by the connection service, writes, adds and reads: holds");
        }
        end.close();
    }

    private static void listen(final End end, final Path file) throws IOException
    {
        try (ConnectionListener listener = end.device.listen(SERVICE))
        {
            final DeviceAddress own = end.device.address();
            final Path unfinished = Path.of(file + ".new");
            Files.writeString(unfinished, own.gidHigh() + " " + own.gidLow() + " " + own.serviceLocator() + " " +
                end.region.address() + " " + end.region.remoteKey());
            Files.move(unfinished, file);
            final ConnectionRequest[] request = new ConnectionRequest[1];
            await("connection request", () -> null != (request[0] = listener.poll()));
            request[0].accept(end.queuePair, AccessFlags.ALL_REMOTE, NOTHING);
            await("last WRITE", () -> WRITTEN_LAST == word(end, BYTES - Long.BYTES));
            InteropPair.equal("sum", 50, word(end, 0));
        }
    }

    private static long word(final End end, final long offset)
    {
        return (long)WORD.getVolatile(end.region.segment(), offset);
    }

    private static void connect(final End end, final String[] peer)
    {
        final ConnectionAttempt attempt = end.device.connect(end.queuePair, new DeviceAddress(
            Long.parseLong(peer[0]), Long.parseLong(peer[1]), Long.parseLong(peer[2])), SERVICE, NOTHING, PATIENCE_NS);
        await("connection", () -> attempt.poll() != ConnectionAttempt.State.PENDING);
        if (attempt.poll() != ConnectionAttempt.State.ESTABLISHED)
        {
            throw new AssertionError(attempt.poll() + " " + attempt.problem());
        }
        final long remote = Long.parseLong(peer[3]);
        final int key = Integer.parseInt(peer[4]);
        final QueuePair queuePair = end.queuePair;
        final long local = end.region.address();
        final int localKey = end.region.localKey();
        end.region.segment().set(ValueLayout.JAVA_LONG, 0, 42);
        end.region.segment().set(ValueLayout.JAVA_LONG, BYTES - Long.BYTES, WRITTEN_LAST);
        queuePair.begin();
        queuePair.write(1, SIGNALED, local, BYTES / 2, localKey, remote, key);
        queuePair.fetchAdd(2, SIGNALED, local + BYTES / 2, localKey, remote, key, 8);
        queuePair.read(3, SIGNALED, local, BYTES / 2, localKey, remote, key);
        InteropPair.equal("post", PostStatus.OK, queuePair.complete());
        succeed(end, 3);
        InteropPair.equal("original", 42, word(end, BYTES / 2));
        InteropPair.equal("word", 50, word(end, 0));
        queuePair.begin();
        queuePair.write(
            4, SIGNALED, local + BYTES - Long.BYTES, Long.BYTES, localKey, remote + BYTES - Long.BYTES, key);
        InteropPair.equal("post", PostStatus.OK, queuePair.complete());
        succeed(end, 1);
    }

    private static void succeed(final End end, final int count)
    {
        final WorkCompletions batch = new WorkCompletions(1);
        for (int i = 0; i < count; i++)
        {
            await("completion", () -> end.completions.poll(batch) == 1);
            if (WorkCompletionStatus.SUCCESS != batch.status(0))
            {
                throw new AssertionError("request " + batch.wrId(0) + ": " +
                    WorkCompletionStatus.text(batch.status(0)));
            }
        }
    }

    private static void await(final String what, final BooleanSupplier condition)
    {
        final long endNs = System.nanoTime() + PATIENCE_NS;
        while (!condition.getAsBoolean())
        {
            LockSupport.parkNanos(PAUSE_NS);
            if (System.nanoTime() - endNs > 0)
            {
                throw new AssertionError("no " + what + " in " + PATIENCE_NS / 1_000_000 + " ms");
            }
        }
    }
}
