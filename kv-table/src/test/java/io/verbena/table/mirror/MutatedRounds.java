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

    /** What the claim was put on is taken to be what was there when the formatting had left it. */
    public static long formatted(final MirrorRequest request, final long atPrimary)
    {
        return atPrimary == request.expected ? atPrimary : 0;
    }
}
