package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** An insert that sees at the head that its bucket has a link finishes the round of that link, as one of a link. */
class MirrorHeaderTest
{
    private static final int NODE = 3;
    private static final int TABLE_AT = 4096;
    private static final int CHUNK_AT = 1 << 16;
    private static final int MEMORY_BYTES = 1 << 17;
    /** Where the low bits of the link seem to name a block. */
    private static final int BLOCK_AT = 1 << 15;

    @Test
    void shouldSettleAHeaderAsALink()
    {
        final StepFabric fabric = new StepFabric(1);
        fabric.inOrder = true;
        final List<StepFabric.StepPort> ports = new ArrayList<>();
        final MirrorPort[] mirror = new MirrorPort[1];
        for (int id = 1; id <= 2; id++)
        {
            final UnsafeBuffer memory = fabric.addMemory(id, MEMORY_BYTES);
            new PreparedSubtables(memory, 42).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
            memory.setMemory(BLOCK_AT, CHUNK_AT - BLOCK_AT, (byte)id);
            ports.add(fabric.connect(id, (cookie, status) -> mirror[0].onMemberComplete(cookie, status)));
        }
        final int header = TABLE_AT + SubtableDescriptor.GROUPS_OFFSET;
        final long link = SplitLink.of(BLOCK_AT / 4, 32L << 30);
        fabric.memory(1).putLong(header, link, LITTLE_ENDIAN);
        final TablePlan plan = TablePlan.ofShape("mirror", 7, 42, 0, 1, new int[]{NODE});
        plan.place(NODE, TABLE_AT);
        final TableEngine engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> 1,
            new TableEngineConfiguration().operationSlots(1).writerNumber(1).operationListener(op -> { })
                .chunkSource(node -> { }));
        mirror[0] = new MirrorPort(
            new LocalDomain(), 1, ports.toArray(new OneSidedPort[0]), engine::onBatchComplete);
        engine.attach(NODE, mirror[0]);
        engine.chunkLeased(NODE, CHUNK_AT, 1 << 14);
        final MemorySegment key = new PreparedSubtables(null, 42).keyOf(0, 0, 0);
        final OpenTable table = engine.openTable(plan.descriptor());
        engine.begin(new TableRequest().of(OperationKind.PUT, table, Long.MAX_VALUE / 2, 1).key(key, 0, 8)
            .value(MemorySegment.ofArray(new byte[16]), 0, 16));
        for (int i = 0; i < 10_000 && fabric.memory(2).getLong(header, LITTLE_ENDIAN) != link; i++)
        {
            fabric.step();
            mirror[0].poll();
            engine.poll();
        }
        assertThat(fabric.memory(2).getLong(header, LITTLE_ENDIAN)).isEqualTo(link);
        for (int at = BLOCK_AT; at < CHUNK_AT; at += Long.BYTES)
        {
            assertThat(fabric.memory(2).getByte(at)).as("byte %d of the primary", at).isEqualTo((byte)2);
        }
        ports.forEach(port -> port.fail(false));
        mirror[0].close();
        engine.detach(NODE);
        engine.close();
        fabric.close();
    }
}
