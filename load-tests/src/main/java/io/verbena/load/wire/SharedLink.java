package io.verbena.load.wire;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.util.Arrays;

/**
 * 16 devices of one process write to one device on the other side, through a queue in front of a slow link: whether the
 * link is used, and shared. One thread.
 */
final class SharedLink
{
    private static final int SENDERS = 16;
    private static final int LINK_MBIT_PER_S = 200;
    /** Some 450 packets of 1,024 bytes: 21 milliseconds of the link. */
    private static final int QUEUE_BYTES = 512 << 10;
    private static final int ROUNDS_OF_WARM_UP = 3;
    private static final int ROUNDS_MEASURED = 7;
    private static final double LEAST_GOODPUT = 0.8;
    private static final double LEAST_SHARE = 0.5;
    private static final double BITS_PER_MBIT = 1e6;
    private static final double NS_PER_S = 1e9;
    private static final long NS_PER_MS = 1_000_000;

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final SharedLinkSender[] senders = new SharedLinkSender[SENDERS];

    private SharedLink(final ResponderProcess receiver, final WireOptions options) throws IOException
    {
        for (int i = 0; i < SENDERS; i++)
        {
            senders[i] = new SharedLinkSender(WireLink.openNear(), options.windowPackets());
            receiver.ask(senders[i].connect(
                i, receiver.address(), receiver.greeting(), options.pathMtuBytes()));
        }
    }

    /** Prints the figures, or why there are none. */
    static void measure(final WireLink link, final WireOptions options, final String processors) throws IOException
    {
        try
        {
            link.limitRate(LINK_MBIT_PER_S, QUEUE_BYTES);
        }
        catch (final IOException ex)
        {
            System.out.println(WireFigure.NOTE + "the shared link is not measured, as no slow one can be made: " +
                ex.getMessage().replace('\n', ' '));
            return;
        }
        try (ResponderProcess receiver = new ResponderProcess(link, "engine", SENDERS, options, processors))
        {
            new SharedLink(receiver, options).run(options.roundMs() * NS_PER_MS);
        }
    }

    private void run(final long roundNs)
    {
        work(ROUNDS_OF_WARM_UP * roundNs);
        final long[] before = Arrays.stream(senders).mapToLong(SharedLinkSender::writtenBytes).toArray();
        final long startNs = clock.nanoTime();
        work(ROUNDS_MEASURED * roundNs);
        final double seconds = (clock.nanoTime() - startNs) / NS_PER_S;
        double sum = 0;
        double least = Double.MAX_VALUE;
        for (int i = 0; i < SENDERS; i++)
        {
            final double mbitPerS =
                (senders[i].writtenBytes() - before[i]) * Byte.SIZE / BITS_PER_MBIT / seconds;
            sum += mbitPerS;
            least = Math.min(least, mbitPerS);
        }
        print(WireFigure.atLeast(
            "shared_link_of_16_writers", "Mbit/s", sum, LINK_MBIT_PER_S, LEAST_GOODPUT));
        print(WireFigure.atLeast(
            "shared_link_least_writer", "Mbit/s", least, sum / SENDERS, LEAST_SHARE));
    }

    private void work(final long durationNs)
    {
        final long endNs = clock.nanoTime() + durationNs;
        while (clock.nanoTime() - endNs < 0)
        {
            for (final SharedLinkSender sender : senders)
            {
                sender.work();
            }
        }
    }

    private static void print(final WireFigure figure)
    {
        System.out.println(figure.line());
    }
}
