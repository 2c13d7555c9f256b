package io.verbena.rdma.conformance.perf;

import java.util.Locale;

/** What is measured. */
public enum PerfOperation
{
    READ,
    WRITE,
    WRITE_WITH_IMM,
    SEND,
    COMPARE_SWAP,
    FETCH_ADD;

    /** @return whether it consumes receives of the peer. */
    boolean isTwoSided()
    {
        return this == SEND || this == WRITE_WITH_IMM;
    }

    /** @return whether it moves 8 bytes whatever size is asked for. */
    public boolean isAtomic()
    {
        return this == COMPARE_SWAP || this == FETCH_ADD;
    }

    /** @return the name on the command line, such as {@code compare-swap}. */
    public String word()
    {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
