package io.verbena.load.ycsb;

import site.ycsb.workloads.CoreWorkload;

import java.util.Properties;

/**
 * How large a table and its memory nodes must be for a workload.
 *
 * @param expectedRecords    most records in the table at once.
 * @param insertedRecords    of these, room for what is inserted after loading; 0 if the workload inserts nothing.
 * @param memoryBytesPerNode registered memory of each memory node.
 */
public record Sizing(long expectedRecords, long insertedRecords, long memoryBytesPerNode)
{
    private static final long BUCKET_BYTES_PER_RECORD = 16;
    private static final long BLOCK_OVERHEAD_BYTES = 128;
    private static final double SIZE_CLASS_ROUNDING = 1.3;
    // Blocks that were replaced rest before they are used again; each compute node keeps chunks of several sizes.
    private static final long CHURN_BYTES_PER_NODE = 96L << 20;
    private static final long GRAIN_BYTES = 16L << 20;
    private static final double MOST_OPERATIONS_PER_SECOND = 300_000;
    private static final long MOST_INSERTED = 2_000_000;

    /**
     * For a run over a loaded table.
     *
     * @param properties  of the workload.
     * @param records     loaded at first.
     * @param seconds     the run may last.
     * @param memoryNodes to spread over.
     * @return enough for what YCSB is likely to insert in this time, as far as that is a reasonable amount.
     */
    public static Sizing of(final Properties properties, final long records, final long seconds, final int memoryNodes)
    {
        final double inserts = number(properties, CoreWorkload.INSERT_PROPORTION_PROPERTY, "0.0");
        final long inserted = (long)Math.min(MOST_INSERTED, inserts * seconds * MOST_OPERATIONS_PER_SECOND);
        final long expected = (records + inserted) * 5 / 4 + 10_000;
        final double fields = number(properties, CoreWorkload.FIELD_COUNT_PROPERTY, "10");
        final double fieldBytes = number(properties, CoreWorkload.FIELD_LENGTH_PROPERTY, "100") + 16;
        final double recordBytes = (fields * fieldBytes + BLOCK_OVERHEAD_BYTES) * SIZE_CLASS_ROUNDING;
        final double total = (records + inserted) * recordBytes + expected * BUCKET_BYTES_PER_RECORD;
        final long perNode = (long)(total / memoryNodes) + CHURN_BYTES_PER_NODE;
        return new Sizing(expected, inserted, (perNode + GRAIN_BYTES - 1) / GRAIN_BYTES * GRAIN_BYTES);
    }

    private static double number(final Properties properties, final String name, final String otherwise)
    {
        return Double.parseDouble(properties.getProperty(name, otherwise));
    }
}
