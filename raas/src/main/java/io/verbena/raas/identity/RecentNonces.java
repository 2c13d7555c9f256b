package io.verbena.raas.identity;

import org.agrona.collections.LongHashSet;

/**
 * The numbers used last by requests to connect of identities that many processes share: each takes a random number, so
 * that nothing orders them. One number is good once as long as it is among the last {@value #CAPACITY}. One thread.
 */
public final class RecentNonces
{
    /** Numbers that are remembered. */
    public static final int CAPACITY = 16_384;

    private final LongHashSet known = new LongHashSet();
    private final long[] inOrder = new long[CAPACITY];
    private int next;

    /**
     * Uses a number up, after its proof was found right.
     *
     * @param nonce of the request.
     * @return false when it was used before, or is no number that a request may have.
     */
    public boolean use(final long nonce)
    {
        if (nonce < 1 || !known.add(nonce))
        {
            return false;
        }
        known.remove(inOrder[next]);
        inOrder[next] = nonce;
        next = (next + 1) % CAPACITY;
        return true;
    }
}
