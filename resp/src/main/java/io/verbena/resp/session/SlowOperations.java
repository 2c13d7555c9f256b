package io.verbena.resp.session;

import java.util.List;

/** The slow operations that the node keeps, for commands that ask about them. Any thread. */
public interface SlowOperations
{
    /** Of a node that keeps none. */
    SlowOperations NONE = new SlowOperations()
    {
        @Override
        public long thresholdNs()
        {
            return NEVER;
        }

        @Override
        public int capacity()
        {
            return 0;
        }

        @Override
        public List<SlowOperation> latestFirst()
        {
            return List.of();
        }

        @Override
        public void forget()
        {
            // There is nothing to forget.
        }
    };

    /** A threshold that no operation reaches. */
    long NEVER = Long.MAX_VALUE;

    /**
     * One of them.
     *
     * @param number     0, 1, ... in the order in which they were kept; never again the same.
     * @param endedMs    when it was answered, in ms since 1970.
     * @param responseNs from its arrival to its answer.
     * @param words      what is known of it, a word or more each.
     */
    record SlowOperation(long number, long endedMs, long responseNs, List<String> words)
    {
    }

    /** @return what is slow, in ns from arrival to answer; {@link #NEVER} if nothing is. */
    long thresholdNs();

    /** @return most operations that are kept. */
    int capacity();

    /** @return those that are kept, the latest first. */
    List<SlowOperation> latestFirst();

    /** Those that are kept are not returned any more. */
    void forget();
}
