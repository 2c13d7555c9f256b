package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process of its own that connects to a device of the test's process and then does as it is told: {@code serve}: its
 * memory is there until standard input ends; {@code free}: until it is told to free it; {@code echo} and
 * {@code sleep-echo}: answers each message, polling or asleep; {@code write}: told to, WRITEs to the address given, and
 * stops between check and access until told again; {@code write-window}: as before, to the address and key that come on
 * standard input; {@code send}: told to, SENDs, and stops with the receive claimed; {@code send-dynamically}: the same,
 * to the DC target and access key given.
 */
public final class SoftChild
{
    static final int PORT = 7;
    static final int REGION_BYTES = 1 << 16;
    private static final QueuePairCapabilities DEPTHS = new QueuePairCapabilities(16, 16, 64, 4);

    private final Device device;
    private final CompletionChannel channel;
    private final CompletionQueue completions;
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final QueuePair queuePair;
    private final WorkCompletions batch = new WorkCompletions(4);

    private SoftChild(final Device device, final boolean sleeps)
    {
        this.device = device;
        channel = device.createCompletionChannel();
        completions = sleeps ? device.createCompletionQueue(64, channel) : device.createCompletionQueue(64);
        domain = device.allocateProtectionDomain();
        region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        queuePair = domain.createQueuePair(completions, completions, DEPTHS);
    }

    /** The command that runs a class as this process's classes are run. */
    static List<String> java(final Class<?> main)
    {
        return List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED", "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
            "-XX:+UseSerialGC", "-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
            main.getName());
    }

    /** Starts one; parameters as those of {@link #main}. Ended by the caller. */
    static Process start(
        final Path directory, final String what, final Device device, final String kind, final String... more)
        throws IOException
    {
        final List<String> command = new ArrayList<>(java(SoftChild.class));
        command.addAll(List.of(directory.toString(), what, Long.toHexString(device.address().gidLow()), kind));
        command.addAll(List.of(more));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /**
     * @param args directory, what to do, interface id of the device, {@code node} or {@code guest}, and for
     *             {@code write} address and key, for {@code datagram} the number of the queue pair.
     */
    public static void main(final String[] args) throws IOException
    {
        final SoftFabric fabric = SoftFabric.open(
            new SoftFabricOptions().directory(Path.of(args[0])).mayBeKilled(args[3].equals("node")));
        final SoftChild child = new SoftChild(fabric.openDevice("child"), args[1].equals("sleep-echo"));
        final DeviceAddress target = new DeviceAddress(0xFE80_0000_0000_0000L, Long.parseUnsignedLong(args[2], 16));
        if (!args[1].equals("datagram") && !args[1].equals("send-dynamically"))
        {
            child.connect(target);
        }
        switch (args[1])
        {
            case "send-dynamically" ->
                child.sendDynamically(target, Integer.parseInt(args[4]), Long.parseLong(args[5]));
            case "datagram" -> child.sendDatagram(target, Integer.parseInt(args[4]));
            case "serve" ->
            {
                say("ready");
                readLine();
            }
            case "free" ->
            {
                say("ready");
                readLine();
                child.region.close();
                say("freed");
                readLine();
            }
            // Told to go: the parent closes its listener first, which waits for whoever is inside.
            case "write" ->
            {
                readLine();
                child.write(Long.parseLong(args[4]), Integer.parseInt(args[5]));
            }
            case "write-window" ->
            {
                say("ready");
                final String[] window = readLine().split(" ");
                child.write(Long.parseLong(window[0]), Integer.parseInt(window[1]));
            }
            case "send" ->
            {
                readLine();
                child.send();
            }
            default -> child.echo(args[1].equals("sleep-echo"));
        }
    }

    private void connect(final DeviceAddress target)
    {
        final byte[] data =
            ByteBuffer.allocate(12).putLong(region.address()).putInt(region.remoteKey()).array();
        final ConnectionAttempt attempt =
            device.connect(queuePair, target, PORT, AccessFlags.ALL_REMOTE, data, TimeUnit.SECONDS.toNanos(20));
        for (int i = 0; i < 8; i++)
        {
            queuePair.postReceive(i, region.address() + i * 4096L, 4096, region.localKey());
        }
        while (attempt.poll() == ConnectionAttempt.State.PENDING)
        {
            Thread.onSpinWait();
        }
        if (attempt.poll() != ConnectionAttempt.State.ESTABLISHED)
        {
            throw new IllegalStateException("not connected: " + attempt.poll());
        }
    }

    private void echo(final boolean sleeps)
    {
        say("ready");
        while (true)
        {
            int count = completions.poll(batch);
            if (count == 0 && sleeps)
            {
                completions.requestNotification(false);
                count = completions.poll(batch);
                if (count == 0)
                {
                    channel.await(TimeUnit.SECONDS.toNanos(10));
                }
            }
            if (count == 0 && !sleeps)
            {
                Thread.yield();
            }
            for (int i = 0; i < count; i++)
            {
                answer(i);
            }
        }
    }

    private void answer(final int index)
    {
        if (batch.opcode(index) < 128)
        {
            return;
        }
        final long slot = batch.wrId(index);
        queuePair.begin();
        queuePair.sendWithImmediate(
            99, SendFlags.SIGNALED, region.address() + slot * 4096, batch.byteLength(index), region.localKey(),
            batch.immediate(index));
        queuePair.complete();
        queuePair.postReceive(slot, region.address() + slot * 4096, 4096, region.localKey());
    }

    private void write(final long address, final int key)
    {
        executeStopping(queuePair, () ->
            queuePair.write(1, SendFlags.SIGNALED, region.address(), 8, region.localKey(), address, key));
    }

    private void send()
    {
        executeStopping(
            queuePair, () -> queuePair.send(1, SendFlags.SIGNALED, region.address(), 8, region.localKey()));
    }

    private void sendDynamically(final DeviceAddress parent, final int target, final long accessKey)
    {
        final QueuePair initiator = domain.createQueuePair(new QueuePairOptions().type(QueuePairType.DC_INITIATOR)
            .completions(completions, completions).capabilities(DEPTHS));
        SoftConnections.readyInitiator(initiator, 0, 7);
        final AddressHandle handle = domain.createAddressHandle(parent);
        executeStopping(initiator, () ->
        {
            initiator.send(1, SendFlags.SIGNALED, region.address(), 8, region.localKey());
            initiator.toDcTarget(handle, target, accessKey);
        });
    }

    private void sendDatagram(final DeviceAddress target, final int number)
    {
        final QueuePair from = SoftConnections.datagrams(domain, completions);
        executeStopping(from, () ->
        {
            from.send(1, SendFlags.SIGNALED, region.address(), 8, region.localKey());
            from.toQueuePair(domain.createAddressHandle(target), number, SoftConnections.QKEY);
        });
    }

    private void executeStopping(final QueuePair from, final Runnable request)
    {
        ((SoftQueuePair)from).beforeAccess(() ->
        {
            say("inside");
            readLine();
        });
        region.segment().fill((byte)-1);
        from.begin();
        request.run();
        from.complete();
        while (completions.poll(batch) == 0)
        {
            Thread.onSpinWait();
        }
        say("status " + batch.status(0));
        readLine();
    }

    private static void say(final String line)
    {
        System.out.println(line);
        System.out.flush();
    }

    private static String readLine()
    {
        final StringBuilder line = new StringBuilder();
        try
        {
            int next = System.in.read();
            while (next >= 0 && next != '\n')
            {
                line.append((char)next);
                next = System.in.read();
            }
            return line.toString();
        }
        catch (final IOException ex)
        {
            throw new IllegalStateException(ex);
        }
    }
}
