package io.verbena.table.check;

import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Ends the splits that were under way in a store whose processes have ended. One thread; what it opens is closed when a
 * call returns.
 */
public final class OfflineGrowthRepair
{
    private static final long TIMEOUT_NS = Long.MAX_VALUE / 4;

    private final RepairableStore store;
    private final Map<Integer, Long> regionLengths;
    private final ProtectionDomain domain;
    private final DeviceAttributes attributes;

    /**
     * @param store         that nobody changes, and that was found to be sound.
     * @param regionLengths of its memory nodes, in bytes, by id.
     * @param domain        for scratch memory.
     * @param attributes    of its device.
     */
    public OfflineGrowthRepair(
        final RepairableStore store, final Map<Integer, Long> regionLengths, final ProtectionDomain domain,
        final DeviceAttributes attributes)
    {
        this.store = store;
        this.regionLengths = Map.copyOf(regionLengths);
        this.domain = domain;
        this.attributes = attributes;
    }

    /**
     * What was done to a table.
     *
     * @param finishedCount splits that were not complete, and are now.
     * @param growth        what its descriptor should say.
     * @param failure       what is in the way of the others, or null.
     */
    public record Finished(int finishedCount, TableGrowth growth, String failure)
    {
    }

    /**
     * Ends the splits of a table.
     *
     * @param table as it is published.
     * @return what was done.
     */
    public Finished finish(final TableDescriptor table)
    {
        final TableEngineConfiguration configuration = new TableEngineConfiguration()
            .operationSlots(1).locationCacheEntries(0).operationListener((operation) -> { })
            .chunkSource((node) -> { });
        try (TableEngine engine = TableEngine.open(domain, attributes, () -> 0, configuration))
        {
            final List<OfflinePort> ports = new ArrayList<>();
            regionLengths.forEach((node, lengthBytes) ->
            {
                ports.add(new OfflinePort(store, node, lengthBytes));
                engine.attach(node, ports.getLast());
            });
            final GrowthRepair repair = new GrowthRepair(engine, engine.openTable(table), TIMEOUT_NS);
            while (!repair.isDone())
            {
                repair.poll(0);
                engine.poll(0);
                ports.forEach((port) -> port.poll(OfflinePort.completionsOf(engine)));
            }
            return new Finished(repair.finishedCount(), repair.growth(), repair.failure());
        }
    }
}
