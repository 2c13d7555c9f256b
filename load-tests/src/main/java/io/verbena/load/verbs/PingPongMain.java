package io.verbena.load.verbs;

import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.nio.file.Path;

/** The process that answers a ping-pong; ends when it has, or when its standard input does. */
final class PingPongMain
{
    /** Of the ping-pong; the next one is that of the wake-ups. */
    static final int SERVICE_PORT = 1;
    private static final long CONNECT_TIMEOUT_NS = 60_000_000_000L;

    private PingPongMain()
    {
    }

    /**
     * @param args as {@code PingPongProcess} gives them: fabric directory, file of lines, the device address in three
     *             numbers, rounds, round trips of a round, wake-ups to warm up, wake-ups.
     */
    public static void main(final String[] args)
    {
        Thread.ofPlatform().daemon().name("ping-pong-parent").start(PingPongMain::endWithParent);
        final DeviceAddress address =
            new DeviceAddress(Long.parseLong(args[2]), Long.parseLong(args[3]), Long.parseLong(args[4]));
        final int rounds = Integer.parseInt(args[5]);
        final int count = Integer.parseInt(args[6]);
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(Path.of(args[0])));
            Device device = fabric.openDevice("pong");
            PingPong side = new PingPong(device, Path.of(args[1]), () -> true);
            WakeUp wakeUp = new WakeUp(device, Path.of(args[1]), () -> true))
        {
            connect(device, address, SERVICE_PORT, side.queuePair(), side::postReceives);
            connect(device, address, SERVICE_PORT + 1, wakeUp.queuePair(), wakeUp::postReceives);
            for (int round = 0; round < rounds; round++)
            {
                side.bareAnswer(count);
                side.answer(count);
            }
            wakeUp.sleep(Integer.parseInt(args[7]), Integer.parseInt(args[8]));
        }
    }

    private static void connect(
        final Device device,
        final DeviceAddress address,
        final int servicePort,
        final QueuePair queuePair,
        final Runnable postReceives)
    {
        final long deadlineNs = device.clock().nanoTime() + CONNECT_TIMEOUT_NS;
        ConnectionAttempt.State state;
        do
        {
            final ConnectionAttempt attempt =
                device.connect(queuePair, address, servicePort, new byte[0], CONNECT_TIMEOUT_NS);
            state = attempt.poll();
            if (state == ConnectionAttempt.State.PENDING || state == ConnectionAttempt.State.ESTABLISHED)
            {
                // Also when the peer was quicker than this thread: its messages wait for receives, but not for ever.
                postReceives.run();
            }
            while (state == ConnectionAttempt.State.PENDING)
            {
                Thread.onSpinWait();
                state = attempt.poll();
            }
        }
        // The parent may not listen yet.
        while (state == ConnectionAttempt.State.UNREACHABLE && device.clock().nanoTime() - deadlineNs < 0);
        if (state != ConnectionAttempt.State.ESTABLISHED)
        {
            throw new RdmaException("cannot connect the ping-pong: " + state);
        }
    }

    private static void endWithParent()
    {
        try
        {
            while (System.in.read() >= 0)
            {
                Thread.onSpinWait();
            }
        }
        catch (final IOException ex)
        {
            // Ends as well.
        }
        System.exit(0);
    }
}
