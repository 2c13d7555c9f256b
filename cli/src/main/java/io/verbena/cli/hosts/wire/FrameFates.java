package io.verbena.cli.hosts.wire;

/**
 * Decides what befalls each frame of one direction of one link. The number of a frame, the link and the seed decide
 * alone: which faults are asked for, and how likely they are, changes nothing in the draws of the others. One thread.
 */
final class FrameFates
{
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;
    private static final double UNIT = 0x1.0p-53;

    private final LinkFaults faults;
    private long state;
    private boolean isLost;
    private boolean isDuplicate;
    private long corruptDraw;
    private boolean isCorrupt;
    private long heldNs;

    /**
     * @param faults and the seed.
     * @param from   number of the host that sends.
     * @param to     number of the host that receives.
     */
    FrameFates(final LinkFaults faults, final int from, final int to)
    {
        this.faults = faults;
        state = mix(faults.seed() ^ mix(((long)from << Integer.SIZE) + to + GOLDEN_GAMMA));
    }

    /** Decides over the next frame. */
    void next()
    {
        isLost = unit() < faults.loss();
        isDuplicate = unit() < faults.duplicate();
        isCorrupt = unit() < faults.corrupt();
        corruptDraw = draw() >>> 1;
        final boolean isHeld = unit() < faults.reorder();
        final double share = unit();
        heldNs = isHeld ? 1 + (long)(share * LinkFaults.HELD_NS) : 0;
    }

    boolean isLost()
    {
        return isLost;
    }

    boolean isDuplicate()
    {
        return isDuplicate;
    }

    boolean isCorrupt()
    {
        return isCorrupt;
    }

    /**
     * @param bits that may be inverted, 1 or more.
     * @return the one that is.
     */
    long corruptBit(final long bits)
    {
        return corruptDraw % bits;
    }

    /** @return how long the frame is held back, so that others overtake it. */
    long heldNs()
    {
        return heldNs;
    }

    private double unit()
    {
        return (draw() >>> 11) * UNIT;
    }

    private long draw()
    {
        state += GOLDEN_GAMMA;
        return mix(state);
    }

    /** The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
    private static long mix(final long value)
    {
        long mixed = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }
}
