package io.verbena.table;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.check.OrphanScan;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableSplit;
import java.util.BitSet;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a scan of closed chunks changes, and where it does not. */
class OrphanScanTest
{
    private static final int NODE = EngineFixture.NODE;
    private static final int CHUNK_BYTES = 64 * 1024;
    private static final int CHUNKS = EngineFixture.MEMORY_BYTES / CHUNK_BYTES;
    private static final int CLOSED = CHUNKS - 1;
    private static final int COOKIE = 99;
    private static final int FIRST_SLOT = SubtableDescriptor.GROUPS_OFFSET + BucketDescriptor.SLOTS_OFFSET;
    private static final long OF_THE_DEAD = SlotWord.withKind(
        SlotWord.committed(17, 0, 3, 0, (long)CLOSED * CHUNK_BYTES), SlotWord.KIND_TENTATIVE);

    private final EngineFixture fixture = EngineFixture.single();
    private final OpenTable table = fixture.createTable(0, 1);
    private final int bytes = (int)SubtableDescriptor.lengthBytes(1);
    private final int first = 512 * 1024;
    private final int second = first + bytes;
    private final int merged = second + bytes;
    private TableDescriptor descriptor;
    private RegionAccess access;
    private StepFabric.StepPort port;

    @BeforeEach
    void setUp()
    {
        final TableSplit split = fixture.engine.growth().begin(table, 0, first, second, Long.MAX_VALUE / 2);
        while (!split.isFinished())
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        final Subtable old = Subtable.of(table.descriptor()).getFirst();
        descriptor = TableGrowth.ofSplit(table.descriptor(), table, old).descriptor();
        access = new RegionAccess(new LocalDomain(), COOKIE);
        port = fixture.fabric.connect(NODE, (cookie, status) -> access.onComplete(status));
    }

    @AfterEach
    void tearDown()
    {
        access.close();
        fixture.close();
    }

    private OrphanScan scan(final BooleanSupplier mayKill)
    {
        final BitSet closed = new BitSet();
        closed.set(CLOSED);
        final ChunkView view = new ChunkView(
            new Superblock(NODE, 1, EngineFixture.MEMORY_BYTES, 0, CHUNK_BYTES, CHUNKS, 0));
        final OrphanScan scan = new OrphanScan(
            access, port, NODE, view, closed, List.of(descriptor), mayKill, fixture.engine::emptiedWord);
        while (!scan.isDone())
        {
            scan.poll();
            assertThat(access.isBusy() || !scan.isKilling()).isTrue();
            fixture.fabric.step();
        }
        return scan;
    }

    private long word(final int at)
    {
        return fixture.memory().getLong(at, LITTLE_ENDIAN);
    }

    private void put(final int at, final long word)
    {
        fixture.memory().putLong(at, word, LITTLE_ENDIAN);
    }

    @Test
    void shouldKillWhatTheDeadHaveNotDecided()
    {
        put(second + FIRST_SLOT, OF_THE_DEAD);
        final OrphanScan scan = scan(() -> true);
        assertThat(scan.isComplete()).isTrue();
        assertThat(scan.killed()).isOne();
        assertThat(word(second + FIRST_SLOT)).isEqualTo(SlotWord.emptied(1, 1));
    }

    /** A subtable was replaced while its groups waited to be read; its memory is somebody's value by now. */
    @Test
    void shouldChangeNothingWhereMemoryMayBeSomebodyElses()
    {
        put(second + FIRST_SLOT, OF_THE_DEAD);
        final OrphanScan scan = scan(() -> false);
        assertThat(scan.isComplete()).isFalse();
        assertThat(word(second + FIRST_SLOT)).isEqualTo(OF_THE_DEAD);
    }

    private void merge(final boolean isDecided)
    {
        SubtableDescriptor.write(
            fixture.memory(), merged, descriptor.tableId(), 0, 0, 1, descriptor.hashSeed(), first, second, 0);
        put(merged + FIRST_SLOT, OF_THE_DEAD);
        put(first + SubtableDescriptor.SPLIT_OFFSET, MergeLink.of(merged, second));
        if (isDecided)
        {
            put(second + SubtableDescriptor.SPLIT_OFFSET, MergeLink.of(merged, first));
        }
    }

    @Test
    void shouldReadWhatAMergeMakes()
    {
        merge(true);
        assertThat(scan(() -> true).killed()).isOne();
        assertThat(word(merged + FIRST_SLOT)).isEqualTo(SlotWord.emptied(1, 1));
    }

    /** A proposal may be taken back, and its memory be somebody else's, without a word to this node. */
    @Test
    void shouldLeaveAloneWhatAMergeOnlyProposes()
    {
        merge(false);
        assertThat(scan(() -> true).isComplete()).isTrue();
        assertThat(word(merged + FIRST_SLOT)).isEqualTo(OF_THE_DEAD);
    }
}
