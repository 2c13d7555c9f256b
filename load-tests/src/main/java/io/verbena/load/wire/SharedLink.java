package io.verbena.load.wire;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.util.Arrays;

/**
 * 16 devices of one process write to one device on the other side, through a queue in front of a slow link: whether the
 * link is used, and shared; then how much of it is used when one packet in a hundred is lost besides. One thread.
 */
final class SharedLink implements AutoCloseable
{
    private static final String GOODPUT = "shared_link_of_16_writers";
    private static final String LEAST = "shared_link_least_writer";
    private static final String LOSSY = "shared_link_at_1_percent_loss";
    private static final String FAILED = "shared_link_failed_writes";
    private static final int SENDERS = 16;
    private static final int LINK_MBIT_PER_S = 200;
    /** Some 450 packets of 1,024 bytes: 21 milliseconds of the link. */
    private static final int QUEUE_BYTES = 512 << 10;
    private static final int ROUNDS_OF_WARM_UP = 3;
    private static final int ROUNDS_MEASURED = 7;
    private static final double LEAST_GOODPUT = 0.8;
    private static final double LEAST_SHARE = 0.5;
    private static final double LEAST_AT_LOSS = 0.5;
    private static final int LOST_PER_THOUSAND = 10;
    private static final String UNIT = "Mbit/s";
    private static final double BITS_PER_MBIT = 1e6;
    private static final double NS_PER_S = 1e9;
    private static final long NS_PER_MS = 1_000_000;

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final ResponderProcess receiver;
    private final SharedLinkSender[] senders = new SharedLinkSender[SENDERS];

    private SharedLink(
        final WireLink link, final WireOptions options, final String processors, final int lostPerThousand)
        throws IOException
    {
        receiver = new ResponderProcess(link, "engine", SENDERS, lostPerThousand, options, processors);
        for (int i = 0; i < SENDERS; i++)
        {
            senders[i] =
                new SharedLinkSender(WireLink.openNear(), options.windowPackets(), lostPerThousand, i + 1);
            receiver.ask(senders[i].connect(
                i, receiver.address(), receiver.greeting(), options.pathMtuBytes()));
        }
    }

    /** Prints the figures, or why there are none. */
    static void measure(final WireLink link, final WireOptions options, final String processors) throws IOException
    {
        if (!options.wants(GOODPUT, LEAST, LOSSY, FAILED))
        {
            return;
        }
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
        final long roundNs = options.roundMs() * NS_PER_MS;
        final double mbitPerS;
        long failedCount;
        try (SharedLink shared = new SharedLink(link, options, processors, 0))
        {
            final double[] each = shared.run(roundNs);
            mbitPerS = Arrays.stream(each).sum();
            failedCount = shared.failedCount();
            print(WireFigure.atLeast(GOODPUT, UNIT, mbitPerS, LINK_MBIT_PER_S, LEAST_GOODPUT));
            print(WireFigure.atLeast(
                LEAST, UNIT, Arrays.stream(each).min().orElseThrow(), mbitPerS / SENDERS, LEAST_SHARE));
        }
        try (SharedLink lossy = new SharedLink(link, options, processors, LOST_PER_THOUSAND))
        {
            print(WireFigure.atLeast(
                LOSSY, UNIT, Arrays.stream(lossy.run(roundNs)).sum(), mbitPerS, LEAST_AT_LOSS));
            failedCount += lossy.failedCount();
        }
        print(WireFigure.value(FAILED, "count", failedCount, 0));
    }

    /** Mbit/s of each sender. */
    private double[] run(final long roundNs)
    {
        work(ROUNDS_OF_WARM_UP * roundNs);
        final long[] before = Arrays.stream(senders).mapToLong(SharedLinkSender::writtenBytes).toArray();
        final long startNs = clock.nanoTime();
        work(ROUNDS_MEASURED * roundNs);
        final double seconds = (clock.nanoTime() - startNs) / NS_PER_S;
        final double[] mbitPerS = new double[SENDERS];
        for (int i = 0; i < SENDERS; i++)
        {
            mbitPerS[i] = (senders[i].writtenBytes() - before[i]) * Byte.SIZE / BITS_PER_MBIT / seconds;
        }
        return mbitPerS;
    }

    private long failedCount()
    {
        return Arrays.stream(senders).mapToLong(SharedLinkSender::failedCount).sum();
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

    @Override
    public void close()
    {
        receiver.close();
        Arrays.stream(senders).forEach(SharedLinkSender::close);
    }
}
