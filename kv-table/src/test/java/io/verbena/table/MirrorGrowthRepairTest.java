package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.check.CopyChecker;
import io.verbena.table.check.OfflineGrowthRepair;
import io.verbena.table.check.RepairableStore;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.SubtableWork;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.agrona.DirectBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables with several copies that stop after each single request of a split or a merge, and are repaired. */
class MirrorGrowthRepairTest
{
    private static final int NODE = 3;
    private static final int TABLE_AT = 4096;
    private static final int CHUNK_AT = 1 << 16;
    private static final int MEMORY_BYTES = 1 << 17;
    private static final int KEYS = 9;
    private static final int BYTES = (int)SubtableDescriptor.lengthBytes(1);
    private static final int FIRST = 8192;
    private static final int SECOND = FIRST + BYTES;
    private static final int MERGED = SECOND + BYTES;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private static final int STRIDE = ExplorationTotals.DEEP ? 1 : 3;

    /** Memory nodes and one engine, which stops. */
    private static final class Store implements AutoCloseable
    {
        private final StepFabric fabric;
        private final List<StepFabric.StepPort> ports = new ArrayList<>();
        private final TableEngine engine;
        private final MirrorPort mirror;
        private final OpenTable table;

        private Store(final int copies, final int seed)
        {
            fabric = new StepFabric(seed);
            for (int id = 1; id <= copies; id++)
            {
                new PreparedSubtables(fabric.addMemory(id, MEMORY_BYTES), 42).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
                ports.add(fabric.connect(id, (cookie, status) -> mirror().onMemberComplete(cookie, status)));
            }
            engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> 1,
                new TableEngineConfiguration().operationSlots(1).writerNumber(1).operationListener(op -> { })
                    .chunkSource(node -> { }));
            mirror = new MirrorPort(
                new LocalDomain(), 1, ports.toArray(new OneSidedPort[0]), engine::onBatchComplete);
            engine.attach(NODE, mirror);
            engine.chunkLeased(NODE, CHUNK_AT, 1 << 14);
            final TablePlan plan = TablePlan.ofShape("mirror", 7, 42, 0, 1, new int[]{NODE});
            plan.place(NODE, TABLE_AT);
            table = engine.openTable(plan.descriptor());
            for (int key = 0; key < KEYS; key++)
            {
                put(("key-" + key).getBytes(StandardCharsets.UTF_8));
            }
        }

        private MirrorPort mirror()
        {
            return mirror;
        }

        private void put(final byte[] key)
        {
            engine.begin(new TableRequest().of(OperationKind.PUT, table, NEVER_NS, 1)
                .key(MemorySegment.ofArray(key), 0, key.length).value(MemorySegment.ofArray(new byte[16]), 0, 16));
            while (engine.active() > 0)
            {
                step();
            }
        }

        private void step()
        {
            fabric.step();
            mirror.poll();
            engine.poll();
        }

        /** @return whether it ended before so many steps. */
        private boolean run(final SubtableWork work, final int steps)
        {
            for (int i = 0; i < steps && !work.isFinished(); i++)
            {
                step();
            }
            return work.isFinished();
        }

        private SubtableWork split()
        {
            return engine.growth().begin(table, 0, FIRST, SECOND, NEVER_NS);
        }

        /** Nobody uses its memory any more. */
        private void stop()
        {
            ports.forEach(port -> port.fail(false));
            mirror.close();
            engine.detach(NODE);
        }

        @Override
        public void close()
        {
            engine.close();
            fabric.close();
        }
    }

    /** A store whose processes have ended, as a tool sees it. */
    private record Stopped(StepFabric fabric, int copies, TableDescriptor table)
        implements RepairableStore, FabricCopies
    {
        @Override
        public void swap(final int memoryNodeId, final long offset, final long expected, final long desired)
        {
            throw new UnsupportedOperationException("there are several copies");
        }

        @Override
        public void swapCopy(
            final int memoryNodeId, final int copy, final long offset, final long expected, final long desired)
        {
            fabric.memory(copy + 1).compareAndSetLong((int)offset, expected, desired);
        }

        @Override
        public void writeCopy(
            final int memoryNodeId, final int copy, final long offset, final DirectBuffer source, final int lengthBytes)
        {
            fabric.memory(copy + 1).putBytes((int)offset, source, 0, lengthBytes);
        }

        @Override
        public int finishSplits(final List<String> problems)
        {
            throw new UnsupportedOperationException("done by finish()");
        }

        @Override
        public List<TableDescriptor> tables()
        {
            return List.of(table);
        }

        /** Finishes what was under way, and checks each copy. @return whether anything was. */
        private TableDescriptor repair(final int steps)
        {
            final OfflineGrowthRepair.Finished done = new OfflineGrowthRepair(
                this, Map.of(NODE, (long)MEMORY_BYTES), new LocalDomain(), LocalDomain.attributes(false)).finish(table);
            assertThat(done.failure()).as("steps %d", steps).isNull();
            final TableDescriptor repaired = done.growth().descriptor();
            for (int copy = 0; copy < copies; copy++)
            {
                final int of = copy;
                final TableCheck check = new TableChecker(repaired, (node, offset, target, lengthBytes) ->
                    readCopy(node, of, offset, target, lengthBytes)).check();
                assertThat(check.isSound()).as("steps %d: copy %d: %s", steps, copy, check).isTrue();
                assertThat(check.committed).as("steps %d: copy %d", steps, copy).isEqualTo(KEYS);
                assertThat(check.splitsUnderWay + check.restructuring).isZero();
            }
            assertThat(new CopyChecker(new Stopped(fabric, copies, repaired)).check(repaired).differences())
                .as("steps %d", steps).isEmpty();
            return repaired;
        }
    }

    @ParameterizedTest
    @CsvSource({"2, false", "3, false", "2, true", "3, true"})
    void shouldFinishWhatStoppedAfterAnyRequest(final int copies, final boolean isMerge)
    {
        boolean isOver = false;
        int changed = 0;
        for (int steps = 0; !isOver; steps += STRIDE)
        {
            try (Store store = new Store(copies, steps + 1))
            {
                if (isMerge)
                {
                    store.run(store.split(), Integer.MAX_VALUE);
                }
                isOver = store.run(isMerge ?
                    store.engine.growth().beginMerge(store.table, 0, MERGED, NEVER_NS) : store.split(), steps);
                final TableDescriptor before = store.table.descriptor();
                store.stop();
                final TableDescriptor repaired = new Stopped(store.fabric, copies, before).repair(steps);
                changed += repaired.subtableCount() == (isMerge ? 1 : 2) ? 1 : 0;
            }
        }
        assertThat(changed).isGreaterThan(1);
    }
}
