package io.verbena.cli.hosts.wire;

import java.util.concurrent.atomic.AtomicLong;

/** What befell the frames so far. Written by the forwarder's thread, read by any. */
public final class FrameCounts
{
    final AtomicLong sent = new AtomicLong();
    final AtomicLong lost = new AtomicLong();
    final AtomicLong duplicated = new AtomicLong();
    final AtomicLong corrupted = new AtomicLong();
    final AtomicLong held = new AtomicLong();
    final AtomicLong cut = new AtomicLong();
    final AtomicLong queueFull = new AtomicLong();
    final AtomicLong overruns = new AtomicLong();

    /** @return frames that arrived, repetitions counted. */
    public long sent()
    {
        return sent.get();
    }

    /** @return frames that were lost as the seed decided. */
    public long lost()
    {
        return lost.get();
    }

    /** @return frames that arrived twice. */
    public long duplicated()
    {
        return duplicated.get();
    }

    /** @return frames of which a bit was inverted. */
    public long corrupted()
    {
        return corrupted.get();
    }

    /** @return frames that were held back. */
    public long held()
    {
        return held.get();
    }

    /** @return frames from or to a host whose link is cut. */
    public long cut()
    {
        return cut.get();
    }

    /** @return frames dropped for want of room: more came than the rate or the forwarder allows. */
    public long queueFull()
    {
        return queueFull.get();
    }

    /** @return frames that the kernel dropped before the forwarder saw them; in no other count. */
    public long overruns()
    {
        return overruns.get();
    }

    @Override
    public String toString()
    {
        return sent + " frames arrived, " + lost + " lost, " + duplicated + " repeated, " + held + " held back, " +
            corrupted + " damaged, " + cut + " on cut links, " + (queueFull.get() + overruns.get()) +
            " for want of room";
    }
}
