package io.verbena.table.mirror;

/** What methods do first under a mutation of rounds. */
public final class MutatedRounds
{
    private MutatedRounds()
    {
    }

    /** Whoever has won the head is answered, and the primary never gets the word. */
    public static boolean answerAtHead(final MirrorRound round, final MirrorRequest request, final long found)
    {
        final boolean hasWon = found == request.atHead;
        request.hasWon |= hasWon;
        if (hasWon)
        {
            round.finish(request, found);
        }
        return hasWon;
    }

    public static void answerAtOnce(final MirrorRound round, final MirrorRequest request, final long found)
    {
        round.finish(request, found);
    }

    public static void publish(final MirrorRound round, final MirrorRequest request)
    {
        request.step = MirrorRequest.PUBLISH;
    }
}
