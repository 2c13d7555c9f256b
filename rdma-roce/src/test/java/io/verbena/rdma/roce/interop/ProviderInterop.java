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
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;

/**
 * One end of a connection that the connection services of the providers {@code roce} and {@code ibverbs} make with each
 * other. Each end is a process, that of {@code roce} in another network namespace.
 */
final class ProviderInterop
{
    private static final int SERVICE = 4711;
    private static final int BYTES = 1 << 16;
    /** 4.3 s. */
    private static final int SECONDS_TIMEOUT = 20;
    private static final long PAUSE_NS = 100_000;
    private static final long WRITTEN_LAST = 4711;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final byte[] NOTHING = {};
    private static final long PATIENCE_NS = 60_000_000_000L;

    private ProviderInterop()
    {
    }

    /** A device and what a queue pair needs. */
    private record End(Device device, ProtectionDomain domain, CompletionQueue completions,
        MemoryRegion region, QueuePair queuePair)
    {
        static End open(final Fabric fabric)
        {
            final Device device = fabric.openDevice("interop");
            final ProtectionDomain domain = device.allocateProtectionDomain();
            final CompletionQueue completions = device.createCompletionQueue(64);
            return new End(device, domain, completions,
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
        }
    }

    /** @param arguments name of the fabric, {@code listen} or {@code connect}, and a file that tells where. */
    public static void main(final String... arguments) throws IOException
    {
        final Fabric fabric = Fabrics.open(arguments[0]);
        final End end = End.open(fabric);
        final Path file = Path.of(arguments[2]);
        if ("listen".equals(arguments[1]))
        {
            if (arguments[0].startsWith("roce"))
            {
                rehearse(fabric);
            }
            listen(end, (where) -> write(file, where));
        }
        else
        {
            await("file " + file, () -> Files.exists(file));
            connect(end, Files.readString(file).split(" "));
            System.out.println(arguments[0] + " connects by the connection service, writes, adds and reads: holds");
        }
        end.close();
        fabric.close();
    }

    /**
     * The same between two devices of this process, connected by hand with time-outs of seconds. The first packets take
     * a JVM in the emulator longer than the 0.9 s after which Soft-RoCE gives up: they were answered 3.8 s after they
     * had come, each as it should be.
     */
    private static void rehearse(final Fabric fabric)
    {
        final End server = End.open(fabric);
        final End client = End.open(fabric);
        connectByHand(server, client);
        connectByHand(client, server);
        exchange(client, server.region.address(), server.region.remoteKey());
        client.close();
        server.close();
    }

    private static void connectByHand(final End end, final End peer)
    {
        end.queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
            .accessFlags(AccessFlags.ALL_REMOTE));
        end.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR).destination(peer.device.address())
            .pathMtuBytes(1024).destinationNumber(peer.queuePair.number()).rqPsn(1).maxDestinationReadAtomic(1)
            .minRnrTimer(1));
        end.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(1).timeout(SECONDS_TIMEOUT)
            .retryCount(7).rnrRetry(7).maxReadAtomic(1));
    }

    private static void write(final Path file, final String where)
    {
        try
        {
            final Path unfinished = Path.of(file + ".new");
            Files.writeString(unfinished, where);
            Files.move(unfinished, file);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    private static void listen(final End end, final Consumer<String> onListening)
    {
        try (ConnectionListener listener = end.device.listen(SERVICE))
        {
            final DeviceAddress own = end.device.address();
            onListening.accept(own.gidHigh() + " " + own.gidLow() + " " + own.serviceLocator() + " " +
                end.region.address() + " " + end.region.remoteKey());
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
        exchange(end, Long.parseLong(peer[3]), Integer.parseInt(peer[4]));
    }

    private static void exchange(final End end, final long remote, final int key)
    {
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
