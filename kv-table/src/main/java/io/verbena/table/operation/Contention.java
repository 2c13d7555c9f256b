package io.verbena.table.operation;

/**
 * Truncated exponential back-off with a random pause: the first loss costs none, each further one up to twice as much.
 * And a credit, the most writers under way at once: halved while more than a quarter of them have to try again,
 * doubled while less than a tenth have. Single owner thread.
 */
final class Contention
{
    private static final int MAX_DOUBLINGS = 20;
    /** Writers after whose end the credit is looked at. */
    private static final int WINDOW = 32;

    private final long minNs;
    private final long maxNs;
    private final int maxCredit;
    private long state;
    private int credit;
    private int writers;
    private int ended;
    private int retries;

    Contention(final long minNs, final long maxNs, final int maxCredit, final long seed)
    {
        this.minNs = minNs;
        this.maxNs = maxNs;
        this.maxCredit = maxCredit;
        credit = maxCredit;
        state = seed * 0x9E3779B97F4A7C15L | 1;
    }

    /**
     * @param losses   how often the operation lost, 1 or more.
     * @param doorstep losses that cost no pause.
     * @return pause in nanoseconds.
     */
    long pauseNs(final int losses, final int doorstep)
    {
        if (losses <= doorstep)
        {
            return 0;
        }
        final long bound = Math.min(maxNs, minNs << Math.min(MAX_DOUBLINGS, losses - doorstep - 1));
        return Long.remainderUnsigned(next(), bound) + 1;
    }

    /** @return most writers that may be under way now, 1 or more. */
    int credit()
    {
        return credit;
    }

    /** Admits a writer. @return false when as many are under way as may be. */
    boolean admit()
    {
        if (writers >= credit)
        {
            return false;
        }
        writers++;
        return true;
    }

    /**
     * A writer does not count while it waits for memory, for a split, or for an answer that is late; then it is
     * admitted anew.
     */
    void giveBack(final Operation op)
    {
        if (op.pause.isAdmitted)
        {
            writers--;
            op.pause.isAdmitted = false;
        }
    }

    /** As {@link #giveBack} while it waits for a connection, amid its work. */
    void leave(final Operation op)
    {
        op.pause.isAway |= op.pause.isAdmitted;
        giveBack(op);
    }

    /** A writer that left goes on: it counts again, even above the credit. */
    void comeBack(final Operation op)
    {
        if (op.pause.isAway)
        {
            writers++;
            op.pause.isAdmitted = true;
            op.pause.isAway = false;
        }
    }

    /** An admitted writer has ended, after so many retries. */
    void ended(final int writerRetries)
    {
        writers--;
        retries += writerRetries > 0 ? 1 : 0;
        if (++ended == WINDOW)
        {
            if (4 * retries > WINDOW)
            {
                credit = Math.max(1, credit / 2);
            }
            else if (10 * retries < WINDOW)
            {
                credit = Math.min(maxCredit, 2 * credit);
            }
            ended = 0;
            retries = 0;
        }
    }

    private long next()
    {
        // xorshift64*
        state ^= state >>> 12;
        state ^= state << 25;
        state ^= state >>> 27;
        return state * 0x2545F4914F6CDD1DL;
    }
}
