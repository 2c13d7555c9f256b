package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.scan.TableScan;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

/** Scans of memory that is no index of the table. */
class TableScanForeignTest
{
    private final EngineFixture fixture = EngineFixture.single();
    private final OpenTable table = fixture.createTable(0, 1);

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    /** As a look does: a word that may look like a link, and leads out of the memory, is none. */
    @Test
    void shouldNotFollowWhatLeadsNowhere()
    {
        plant(0, SplitLink.of(100L << 20, 101L << 20));
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.TABLE_CHANGED);
        assertThat(scan()).isEqualTo(OperationResult.TABLE_CHANGED);
        assertThat(table.subtableCount()).isOne();
    }

    /** All buckets of a subtable lead to the same two. */
    @Test
    void shouldNotFollowLinksThatDiffer()
    {
        final long length = SubtableDescriptor.lengthBytes(table.groupCount);
        plant(0, SplitLink.of(length * 4, length * 5));
        plant(BucketDescriptor.BUCKET_BYTES, SplitLink.of(length * 4, length * 6));
        assertThat(scan()).isEqualTo(OperationResult.TABLE_CHANGED);
        assertThat(table.subtableCount()).isOne();
    }

    private void plant(final int bucketOffset, final long header)
    {
        fixture.memory().putLong((int)table.directory.groupsOffset(0) + bucketOffset + BucketDescriptor.HEADER_OFFSET,
            header, LITTLE_ENDIAN);
    }

    private int scan()
    {
        final TableScan scan = fixture.engine.scan();
        scan.begin(table, 0, Long.MAX_VALUE / 2, null);
        for (int i = 0; scan.isBusy() && i < 100_000; i++)
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        return scan.result();
    }
}
