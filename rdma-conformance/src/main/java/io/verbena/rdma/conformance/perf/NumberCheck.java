package io.verbena.rdma.conformance.perf;

import java.util.Arrays;
import java.util.BitSet;

/** Whether numbers that were handed out are 0, 1, 2, ... without a gap, each once, rising for each client. */
final class NumberCheck
{
    private final int count;
    private final BitSet seen;
    private final long[] last;
    private long repeatedCount;
    private long backwardCount;
    private long strayCount;

    /** @param count of numbers expected. */
    NumberCheck(final int count, final int clients)
    {
        this.count = count;
        seen = new BitSet(count);
        last = new long[clients];
        Arrays.fill(last, -1);
    }

    void add(final int client, final long number)
    {
        if (number < 0 || number >= count)
        {
            strayCount++;
            return;
        }
        repeatedCount += seen.get((int)number) ? 1 : 0;
        seen.set((int)number);
        backwardCount += number <= last[client] ? 1 : 0;
        last[client] = number;
    }

    /** @return what is wrong, or empty. */
    String problem()
    {
        final long missingCount = count - seen.cardinality();
        return missingCount + repeatedCount + backwardCount + strayCount == 0 ? "" :
            missingCount + " missing, " + repeatedCount + " repeated, " + backwardCount + " backwards, " + strayCount +
            " never to be handed out";
    }
}
