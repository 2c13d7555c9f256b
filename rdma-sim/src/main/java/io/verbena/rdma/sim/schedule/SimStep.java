package io.verbena.rdma.sim.schedule;

/** Something that will happen at a virtual time; steps of one time are ordered by the seed. */
public final class SimStep implements Comparable<SimStep>
{
    /** What kind of thing happens; part of the trace. */
    public enum Kind
    {
        LAUNCH, ARRIVE, SERVE, RESPOND, GIVE_UP, CONNECT, ANSWER, AGENT, ACTION, DISCONNECT, RNIC
    }

    public final long timeNs;
    public final Kind kind;
    public final int device;
    public final int detail;
    public final Runnable action;
    /** Null: of no concern to anyone but the node at which it happens. */
    public final SimChoice choice;
    private final long tieBreak;
    private final long sequence;

    public SimStep(
        final long timeNs,
        final long tieBreak,
        final long sequence,
        final Kind kind,
        final int device,
        final int detail,
        final SimChoice choice,
        final Runnable action)
    {
        this.timeNs = timeNs;
        this.tieBreak = tieBreak;
        this.sequence = sequence;
        this.kind = kind;
        this.device = device;
        this.detail = detail;
        this.choice = choice;
        this.action = action;
    }

    /** Larger than that of all that were planned before. */
    public long sequence()
    {
        return sequence;
    }

    @Override
    public int compareTo(final SimStep other)
    {
        int order = Long.compare(timeNs, other.timeNs);
        order = order != 0 ? order : Long.compare(tieBreak, other.tieBreak);
        return order != 0 ? order : Long.compare(sequence, other.sequence);
    }
}
