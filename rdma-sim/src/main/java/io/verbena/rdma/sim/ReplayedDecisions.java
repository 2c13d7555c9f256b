package io.verbena.rdma.sim;

/** Repeats a recording; a run that asks for anything else than the recorded one did is told where it went astray. */
final class ReplayedDecisions extends SimDecisions
{
    private final SimRecording recording;
    private int next;

    ReplayedDecisions(final SimRecording recording)
    {
        this.recording = recording;
    }

    @Override
    public long seed()
    {
        return recording.seed();
    }

    @Override
    long next(final SimDecision what, final long lane, final long bound)
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
                " lane=" + recording.lane(index) + " bound=" + recording.bound(index) + ", asked " + what + " lane=" +
                lane + " bound=" + bound, null);
        }
        return recording.value(index);
    }
}
