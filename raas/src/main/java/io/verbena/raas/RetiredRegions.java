package io.verbena.raas;

import io.verbena.rdma.verbs.MemoryRegion;

import java.util.ArrayList;
import java.util.List;

/** Regions to be closed when the requests of closed virtual queue pairs are done with them. */
final class RetiredRegions implements AutoCloseable
{
    private record Retired(VirtualQp user, MemoryRegion region)
    {
    }

    private final List<Retired> retired = new ArrayList<>();

    void add(final VirtualQp user, final MemoryRegion region)
    {
        retired.add(new Retired(user, region));
        poll();
    }

    boolean isEmpty()
    {
        return retired.isEmpty();
    }

    void poll()
    {
        for (int i = retired.size() - 1; i >= 0; i--)
        {
            if (retired.get(i).user.outstandingBatches() == 0)
            {
                retired.remove(i).region.close();
            }
        }
    }

    /** All queue pairs are closed. */
    @Override
    public void close()
    {
        retired.forEach(each -> each.region.close());
        retired.clear();
    }
}
