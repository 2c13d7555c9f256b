package io.verbena.table.check;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.mirror.LastMemberPort;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

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

    /** The ports to a memory node, or to all copies of a group's memory. */
    private record Connection(List<OfflinePort> ports, IntConsumer completions, MirrorPort mirror)
    {
        void poll()
        {
            ports.forEach((port) -> port.poll(completions));
            if (mirror != null)
            {
                mirror.poll();
            }
        }

        void close()
        {
            if (mirror != null)
            {
                mirror.close();
            }
        }
    }

    private Connection connect(
        final TableEngine engine, final TableDescriptor table, final int node, final long lengthBytes)
    {
        final int copies = store.copyCount(node);
        final List<OfflinePort> ports = IntStream.range(0, copies)
            .mapToObj((copy) -> new OfflinePort(store, node, copy, lengthBytes)).toList();
        if (copies == 1)
        {
            final OfflinePort port = ports.getFirst();
            engine.attach(node, store.isOfGroup(node) ? new LastMemberPort(port) : port);
            return new Connection(ports, OfflinePort.completionsOf(engine), null);
        }
        makeEqual(table, node, copies);
        final MirrorPort mirror =
            new MirrorPort(domain, 1, ports.toArray(new OneSidedPort[0]), engine::onBatchComplete);
        engine.attach(node, mirror);
        return new Connection(
            ports, (cookie) -> mirror.onMemberComplete(cookie, WorkCompletionStatus.SUCCESS), mirror);
    }

    /**
     * As between two views: a link that is decided and not committed, or that only one copy has, leads to memory that
     * nobody must give away, and is none that the primary shows.
     */
    private void makeEqual(final TableDescriptor table, final int node, final int copies)
    {
        final boolean[] survivors = new boolean[copies];
        Arrays.fill(survivors, true);
        final SlotReconciliation words = new SlotReconciliation(IntStream.range(0, copies)
            .<SlotReconciliation.Copy>mapToObj((copy) -> new OfflineCopy(store, node, copy)).toList(), survivors);
        final SubtableReconciliation all = new SubtableReconciliation(words, Subtable.of(table).stream()
            .filter((subtable) -> subtable.memoryNodeId() == node).toList(), table.groupCount());
        boolean isMore = true;
        while (isMore)
        {
            isMore = all.goOn();
        }
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
            final List<Connection> connections = new ArrayList<>();
            regionLengths.forEach((node, lengthBytes) -> connections.add(connect(engine, table, node, lengthBytes)));
            final GrowthRepair repair = new GrowthRepair(engine, engine.openTable(table), TIMEOUT_NS);
            while (!repair.isDone())
            {
                repair.poll(0);
                engine.poll(0);
                connections.forEach(Connection::poll);
            }
            connections.forEach(Connection::close);
            return new Finished(repair.finishedCount(), repair.growth(), repair.failure());
        }
    }
}
