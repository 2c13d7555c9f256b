package io.verbena.raas.region;

import io.verbena.rdma.verbs.MemoryRegion;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** Regions to be closed when the requests of closed virtual queue pairs are done with them. */
public final class RetiredRegions implements AutoCloseable
{
    private record Retired(IntSupplier outstanding, MemoryRegion region)
    {
    }

    private final List<Retired> retired = new ArrayList<>();

    /**
     * @param outstanding how many batches that may use the region are under way.
     * @param region      closed when that is 0.
     */
    public void add(final IntSupplier outstanding, final MemoryRegion region)
    {
        retired.add(new Retired(outstanding, region));
        poll();
    }

    public boolean isEmpty()
    {
        return retired.isEmpty();
    }

    public void poll()
    {
        for (int i = retired.size() - 1; i >= 0; i--)
        {
            if (retired.get(i).outstanding.getAsInt() == 0)
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
