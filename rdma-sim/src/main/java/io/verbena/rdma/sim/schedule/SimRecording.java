package io.verbena.rdma.sim.schedule;

import org.agrona.collections.LongArrayList;

/** Decides as other decisions do and writes down what was decided, so that the run can be repeated without them. */
public final class SimRecording implements SimDecisions
{
    private static final int FIELDS = 4;

    private final SimDecisions decisions;
    private final LongArrayList entries;

    /** @param decisions that are asked. */
    public SimRecording(final SimDecisions decisions)
    {
        this(decisions, new LongArrayList());
    }

    private SimRecording(final SimDecisions decisions, final LongArrayList entries)
    {
        this.decisions = decisions;
        this.entries = entries;
    }

    /** @return decisions that repeat what was recorded, in order, and fail when the run asks for something else. */
    public SimDecisions replay()
    {
        return new ReplayedDecisions(this);
    }

    /** @return how many decisions were recorded. */
    public int size()
    {
        return entries.size() / FIELDS;
    }

    /** @return a line of text for each decision: kind, lane, bound, value. */
    public String toText()
    {
        final StringBuilder text = new StringBuilder();
        for (int i = 0; i < size(); i++)
        {
            text.append(what(i)).append(' ').append(lane(i)).append(' ').append(bound(i)).append(' ')
                .append(value(i)).append('\n');
        }
        return text.toString();
    }

    /**
     * Reads what {@link #toText()} wrote.
     *
     * @param seed of the recorded run, for messages.
     * @param text lines.
     * @return a recording, to be replayed.
     */
    public static SimRecording parse(final long seed, final String text)
    {
        final LongArrayList entries = new LongArrayList();
        text.lines().forEach(line ->
        {
            final String[] words = line.split(" ");
            if (words.length != FIELDS)
            {
                throw new IllegalArgumentException("not a decision: '" + line + "'");
            }
            entries.addLong(SimDecision.valueOf(words[0]).ordinal());
            entries.addLong(Long.parseLong(words[1]));
            entries.addLong(Long.parseLong(words[2]));
            entries.addLong(Long.parseLong(words[3]));
        });
        return new SimRecording(new SeededDecisions(seed), entries);
    }

    @Override
    public long seed()
    {
        return decisions.seed();
    }

    @Override
    public long next(final SimDecision what, final long lane, final long bound)
    {
        final long value = decisions.next(what, lane, bound);
        entries.addLong(what.ordinal());
        entries.addLong(lane);
        entries.addLong(bound);
        entries.addLong(value);
        return value;
    }

    private SimDecision what(final int index)
    {
        return SimDecision.values()[(int)entries.getLong(index * FIELDS)];
    }

    private long lane(final int index)
    {
        return entries.getLong(index * FIELDS + 1);
    }

    private long bound(final int index)
    {
        return entries.getLong(index * FIELDS + 2);
    }

    private long value(final int index)
    {
        return entries.getLong(index * FIELDS + 3);
    }

    /** Repeats a recording; a run that asks for anything else fails, and names the first decision that differs. */
    private static final class ReplayedDecisions implements SimDecisions
    {
        private final SimRecording recording;
        private int next;

        private ReplayedDecisions(final SimRecording recording)
        {
            this.recording = recording;
        }

        @Override
        public long seed()
        {
            return recording.seed();
        }

        @Override
        public long next(final SimDecision what, final long lane, final long bound)
        {
            final int index = next++;
            if (index >= recording.size())
            {
                throw new SimFailureException("the recording ends after " + recording.size() + " decisions", null);
            }
            if (recording.what(index) != what || recording.lane(index) != lane || recording.bound(index) != bound)
            {
                throw new SimFailureException(
                    "the run differs from its recording at decision " + index + ": recorded " + recording.what(index) +
                    " lane=" + recording.lane(index) + " bound=" + recording.bound(index) + ", asked " + what +
                    " lane=" + lane + " bound=" + bound, null);
            }
            return recording.value(index);
        }
    }
}
