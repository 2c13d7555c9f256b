package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.PacketSequence;

/**
 * How much a requester may have in flight, and how fast it sends. It begins with few packets, doubles each round trip
 * until something is lost, then grows slowly; a loss takes a part away once for each window, a congestion notification
 * a smaller one, as DCQCN weighs them. Responses of READs count as packets in flight, so the requester paces the
 * responders that it reads from. Answers space what follows, so that packets leave in runs; they leave evenly over
 * the round trip only where answers do not: the first window after a loss, when nothing is in flight any more, and
 * windows of a few packets. A window of less than one packet is a pause between packets (as in Swift, section 3.5,
 * Kumar et al., SIGCOMM 2020).
 *
 * <p>A late answer is no loss: on a busy host who answers may be kept from its processor for milliseconds. It is asked
 * for with single packets, whose answers say what was lost, if anything was (as tail loss probes, RFC 8985, section 7).
 *
 * <p>Measures one packet a round trip, never one that was sent twice, unless there is nothing else to go by. Times are
 * in nanoseconds. Used by the engine's thread.
 */
final class CongestionWindow
{
    /** Packets in flight at first. */
    static final int INITIAL_PACKETS = 16;

    private static final double MIN_PACKETS = 0.25;
    /** What a loss leaves of the window. */
    private static final double LOSS_FACTOR = 0.75;
    /** Packets by which the window grows each round trip after the first loss. */
    private static final double GROWTH_PACKETS = 0.25;
    /** Weight of a round trip in the share of round trips with notifications. */
    private static final double MARK_WEIGHT = 1.0 / 16;
    /** Packets that may leave at once though they are paced. */
    private static final int BURST_PACKETS = 2;
    /** A smaller window is paced: too few answers come to space what follows. */
    private static final int PACED_PACKETS = 8;
    private static final long MIN_PROBE_NS = 100_000;
    /** As long as no round trip was measured. */
    private static final long FIRST_PROBE_NS = 4_000_000;
    private static final int MAX_PROBE_BACKOFF = 5;
    private static final long UNKNOWN = 0;

    private final int maxPackets;
    private double window;
    private double threshold;
    private double markShare;
    private int cutEnd;
    private boolean isCut;
    private boolean isMarked;
    private boolean isLimited;
    private int limitedEnd;
    private boolean isTiming;
    private int timedEnd;
    private long timedNs;
    private long smoothedNs;
    private long deviationNs;
    private long minNs;
    private long nextSendNs;
    private long recoveredNs;
    /** Whether something was sent again since the window was cut by a notification; whether that was lost, too. */
    private boolean hasGoneBack;
    private boolean isLostAgain;
    private int probeBackoff;
    private boolean isLastProbed;

    /** @param maxPackets the window never grows beyond, 1 or more. */
    CongestionWindow(final int maxPackets)
    {
        this.maxPackets = maxPackets;
        start();
    }

    /** Knows nothing of the way. */
    void start()
    {
        window = Math.min(maxPackets, INITIAL_PACKETS);
        threshold = maxPackets;
        markShare = 1;
        isCut = false;
        isMarked = false;
        isLimited = false;
        isTiming = false;
        smoothedNs = UNKNOWN;
        deviationNs = 0;
        minNs = 0;
        nextSendNs = 0;
        recoveredNs = Long.MIN_VALUE / 2;
        probeBackoff = 0;
        isLastProbed = false;
        hasGoneBack = false;
    }

    /** Packets that may be in flight now, 1 or more. */
    int packets()
    {
        return Math.max(1, (int)window);
    }

    /**
     * The window kept something from being sent: it may grow until what was sent is answered.
     *
     * @param sentEnd PSN after all that was sent.
     */
    void onLimited(final int sentEnd)
    {
        isLimited = true;
        limitedEnd = sentEnd;
    }

    /** When the next packet may leave; 0 for at once. */
    long sendNs()
    {
        return nextSendNs;
    }

    /**
     * A packet has been sent, or a READ requested.
     *
     * @param end   PSN after its response or first response.
     * @param isNew whether that was not sent before.
     * @param nowNs time.
     */
    void onSent(final int end, final boolean isNew, final long nowNs)
    {
        if ((isNew || smoothedNs == UNKNOWN) && !isTiming)
        {
            isTiming = true;
            timedEnd = end;
            timedNs = nowNs;
        }
    }

    /** Whether {@link #onSent} or {@link #pace} has something to do: the time is asked for only then. */
    boolean needsTime()
    {
        return !isTiming || isPaced();
    }

    /** Answers do not space what follows. */
    private boolean isPaced()
    {
        return (isCut || window < PACED_PACKETS) && threshold < maxPackets && smoothedNs != UNKNOWN;
    }

    /**
     * Puts what follows off, once there was congestion.
     *
     * @param count packets sent or requested.
     * @param nowNs time.
     */
    void pace(final int count, final long nowNs)
    {
        if (isPaced())
        {
            final double spacingNs = smoothedNs / window;
            final int burst = window < 1 ? 0 : BURST_PACKETS;
            nextSendNs = (long)(Math.max(nextSendNs, nowNs - burst * spacingNs) + count * spacingNs);
        }
    }

    /** Something was sent once more: what is timed says nothing. */
    void onResent()
    {
        isTiming = false;
    }

    /**
     * The peer has answered.
     *
     * @param from  first PSN that had not been answered.
     * @param to    first PSN that has not.
     * @param nowNs time.
     */
    void onProgress(final int from, final int to, final long nowNs)
    {
        isLastProbed = false;
        if (isTiming && PacketSequence.distance(to, timedEnd) >= 0)
        {
            isTiming = false;
            probeBackoff = 0;
            measure(Math.max(1, nowNs - timedNs));
            endRound();
        }
        if (isCut && PacketSequence.distance(to, cutEnd) >= 0)
        {
            isCut = false;
        }
        if (isLimited && !isCut)
        {
            final int count = PacketSequence.distance(to, from);
            window += window < threshold ? count : GROWTH_PACKETS * count / Math.max(1, window);
            window = Math.min(window, maxPackets);
            threshold = window == maxPackets ? maxPackets : threshold;
            isLimited = PacketSequence.distance(to, limitedEnd) < 0;
        }
    }

    private void measure(final long sampleNs)
    {
        minNs = minNs == UNKNOWN ? sampleNs : Math.min(minNs, sampleNs);
        if (smoothedNs == UNKNOWN)
        {
            smoothedNs = sampleNs;
            deviationNs = sampleNs / 2;
        }
        else
        {
            deviationNs += (Math.abs(sampleNs - smoothedNs) - deviationNs) / 4;
            smoothedNs += (sampleNs - smoothedNs) / 8;
        }
    }

    private void endRound()
    {
        if (!isMarked)
        {
            markShare -= markShare * MARK_WEIGHT;
        }
        isMarked = false;
    }

    /**
     * Something was lost.
     *
     * @param unacked first PSN that has not been answered.
     * @param sentEnd PSN after all that was sent: losses before it take nothing more away.
     */
    void onLoss(final int unacked, final int sentEnd)
    {
        if (smoothedNs == UNKNOWN)
        {
            restart();
        }
        else if (!isCut || isLostAgain || PacketSequence.distance(unacked, cutEnd) >= 0)
        {
            cut(LOSS_FACTOR, unacked, sentEnd);
        }
        probeBackoff = 0;
    }

    /** The way was congested; {@code sentEnd} as in {@link #onLoss}. */
    void onNotification(final int unacked, final int sentEnd)
    {
        if (!isMarked)
        {
            isMarked = true;
            markShare += (1 - markShare) * MARK_WEIGHT;
            hasGoneBack = false;
            cut(1 - markShare / 2, unacked, sentEnd);
        }
    }

    /**
     * Until the window that was in flight is answered nothing more is taken away, and nothing added. That is not all up
     * to {@code sentEnd}: after going back most of that has to be sent once more, and a window of one packet would
     * stay so for as many round trips.
     */
    private void cut(final double factor, final int unacked, final int sentEnd)
    {
        final int inFlight = Math.min(packets(), PacketSequence.distance(sentEnd, unacked));
        threshold = Math.max(MIN_PACKETS, share() * factor);
        window = Math.max(MIN_PACKETS, window * factor);
        isCut = true;
        cutEnd = PacketSequence.add(unacked, inFlight);
    }

    /** A window that is opening again is small because of the time-out before, not because of its share. */
    private double share()
    {
        return window < threshold && threshold < maxPackets ? threshold : window;
    }

    /**
     * Whether what was lost may be sent once more: not before an answer to the last time can have come.
     *
     * @param isRecovering whether that was done and nothing has been answered since.
     * @param nowNs        time.
     * @return whether it may; then this time counts as the last one.
     */
    boolean mayRecover(final boolean isRecovering, final long nowNs)
    {
        final long passedNs = nowNs - recoveredNs;
        final boolean mayRecover =
            isRecovering ? smoothedNs != UNKNOWN && passedNs >= smoothedNs : passedNs >= minNs;
        // What was sent again a round trip ago is lost again: the same PSNs, and one more sign of congestion.
        isLostAgain = hasGoneBack && passedNs >= smoothedNs;
        hasGoneBack |= mayRecover;
        recoveredNs = mayRecover ? nowNs : recoveredNs;
        return mayRecover;
    }

    /**
     * Until when to wait for an answer before one packet asks for it; that counts as no retry. The wait doubles each
     * time.
     *
     * @param nowNs time.
     * @return time.
     */
    long probeNs(final long nowNs)
    {
        final long waitNs =
            smoothedNs == UNKNOWN ? FIRST_PROBE_NS : Math.max(MIN_PROBE_NS, smoothedNs + 4 * deviationNs);
        return nowNs + (waitNs << probeBackoff);
    }

    /**
     * An answer is late, which says nothing of the way: who answers may be kept from its processor. What is timed says
     * nothing any more, and the wait stays doubled until something else was timed: it may be too short for good. Where
     * it has been doubled as often as may be, every packet may be asked for, and that one is timed all the same.
     *
     * @return whether to ask with the last packet that was sent, else with the first.
     */
    boolean onProbe()
    {
        isTiming &= probeBackoff == MAX_PROBE_BACKOFF;
        probeBackoff = Math.min(MAX_PROBE_BACKOFF, probeBackoff + 1);
        isLastProbed = !isLastProbed;
        return isLastProbed;
    }

    /** All that was sent is lost: a window of one packet opens quickly if the way is well. */
    void onTimeout()
    {
        restart();
        probeBackoff = Math.min(MAX_PROBE_BACKOFF, probeBackoff + 1);
    }

    private void restart()
    {
        if (window > 1)
        {
            threshold = Math.max(MIN_PACKETS, share() * LOSS_FACTOR);
            window = 1;
        }
        isCut = false;
        nextSendNs = 0;
    }

    @Override
    public String toString()
    {
        return "CongestionWindow{window=" + window + ", threshold=" + threshold + ", roundTripNs=" + smoothedNs + '}';
    }
}
