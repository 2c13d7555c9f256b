package io.verbena.compute;

import io.verbena.table.TableEngine;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;
import java.util.List;

/** All {@link IndexReturn}s of a session. Owned by the node's thread. */
final class IndexReturns
{
    private final List<IndexReturn> returns = new ArrayList<>();

    void add(final IndexReturn index)
    {
        returns.add(index);
    }

    boolean isEmpty()
    {
        return returns.isEmpty();
    }

    boolean wantsEpochs(final TableEngine engine)
    {
        return returns.stream().anyMatch((index) -> index.wantsEpochs(engine));
    }

    int poll(final TableEngine engine, final Int2ObjectHashMap<MemoryLink> links, final long timeoutNs)
    {
        int workCount = 0;
        for (int i = returns.size() - 1; i >= 0; i--)
        {
            final IndexReturn index = returns.get(i);
            workCount += index.poll(engine, links, timeoutNs);
            if (index.isDone())
            {
                returns.remove(i);
            }
        }
        return workCount;
    }
}
