package io.verbena.rdma.sim.schedule;

import java.util.zip.CRC32C;

/** Running hash of everything that happened, and the last steps in words for whoever reads a failure. */
public final class SimTrace
{
    private static final int RECENT = 64;

    private final CRC32C checksum = new CRC32C();
    private final SimStep[] recent = new SimStep[RECENT];
    /** Null: nobody compares. */
    private final SimRepetition.Steps compared;
    private long stepCount;
    private long hash = 0x9E37_79B9_7F4A_7C15L;

    public SimTrace(final long seed)
    {
        compared = SimRepetition.steps(seed);
    }

    public void add(final SimStep step)
    {
        recent[(int)(stepCount++ % RECENT)] = step;
        mix(step.timeNs);
        mix((long)step.kind.ordinal() << 48 ^ (long)step.device << 32 ^ step.detail);
        if (compared != null)
        {
            compared.add(hash, this::recentSteps);
        }
    }

    public void mix(final long value)
    {
        final long product = (hash ^ value) * 0xBF58_476D_1CE4_E5B9L;
        hash = product ^ product >>> 29;
    }

    public void mix(final byte[] bytes, final int offset, final int length)
    {
        checksum.reset();
        checksum.update(bytes, offset, length);
        mix(checksum.getValue());
    }

    public long stepCount()
    {
        return stepCount;
    }

    public long hash()
    {
        return hash;
    }

    public String recentSteps()
    {
        final StringBuilder text = new StringBuilder();
        for (long i = Math.max(0, stepCount - RECENT); i < stepCount; i++)
        {
            final SimStep step = recent[(int)(i % RECENT)];
            text.append('\n').append(i).append(' ').append(step.timeNs).append("ns ").append(step.kind)
                .append(" device=").append(step.device).append(" detail=").append(step.detail);
        }
        return text.toString();
    }
}
