package io.verbena.rdma.sim.schedule;

/** The hash that turns seeds, lanes and words into bits. */
public final class SplitMix
{
    private SplitMix()
    {
    }

    /**
     * The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014; constants of Stafford's variant 13).
     *
     * @param value any.
     * @return a value in which each bit depends on all of those given.
     */
    public static long mix(final long value)
    {
        long z = value;
        z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
        return z ^ z >>> 31;
    }
}
