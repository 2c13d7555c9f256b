package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/**
 * One dependent operation after another on the soft fabric, 16-byte keys and 100-byte values, one thread. Run by hand:
 * arguments are records and operations. Prints nanoseconds for each operation, and bytes allocated.
 */
final class SoftTableBenchmark
{
    private static final int KEY_BYTES = 16;
    private static final int VALUE_BYTES = 100;

    private SoftTableBenchmark()
    {
    }

    public static void main(final String[] args) throws java.io.IOException
    {
        final int records = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
        final int operations = args.length > 1 ? Integer.parseInt(args[1]) : 1_000_000;
        final Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "verbena-bench");
        try (Arena arena = Arena.ofConfined();
            SoftTableFixture fixture = new SoftTableFixture(directory, 1 << 30, 1 << 20, 16))
        {
            final OpenTable table = fixture.createTable("bench", 1, records);
            final MemorySegment key = arena.allocate(KEY_BYTES, 8);
            final MemorySegment value = arena.allocate(VALUE_BYTES, 8);
            for (int i = 0; i < records; i++)
            {
                key.set(ValueLayout.JAVA_LONG, 0, i);
                fixture.run(OperationKind.PUT, table, key, value, 0);
            }
            for (int round = 0; round < 3; round++)
            {
                for (int i = 0; i < records; i++)
                {
                    key.set(ValueLayout.JAVA_LONG, 0, i);
                    fixture.run(OperationKind.GET, table, key, null, 0);
                }
                measure("cached GET", fixture, table, key, null, OperationKind.GET, records, operations, false);
                measure("cached PUT", fixture, table, key, value, OperationKind.PUT, records, operations, false);
                measure("cold GET", fixture, table, key, null, OperationKind.GET, records, operations, true);
            }
        }
        Files.deleteIfExists(directory);
    }

    private static void measure(
        final String name,
        final SoftTableFixture fixture,
        final OpenTable table,
        final MemorySegment key,
        final MemorySegment value,
        final int kind,
        final int records,
        final int operations,
        final boolean cold)
    {
        final Random random = new Random(1);
        final com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean)java.lang.management.ManagementFactory.getThreadMXBean();
        final long allocatedBefore = threads.getCurrentThreadAllocatedBytes();
        final long roundTripsBefore = fixture.engine.counters().roundTrips[kind];
        final long cpuBefore = threads.getCurrentThreadCpuTime();
        final long start = System.nanoTime();
        for (int i = 0; i < operations; i++)
        {
            if (cold || kind == OperationKind.PUT && (i & 0x3FFFF) == 0x3FFFF)
            {
                final long passed = fixture.engine.passedEpoch();
                fixture.engine.onEpoch(passed + (cold ? 3 : 2), passed);
                if (cold)
                {
                    fixture.engine.epochs().forgetLocations();
                }
            }
            key.set(ValueLayout.JAVA_LONG, 0, random.nextInt(records));
            fixture.run(kind, table, key, value, 0);
        }
        final long elapsed = System.nanoTime() - start;
        final long cpu = threads.getCurrentThreadCpuTime() - cpuBefore;
        System.out.printf("%-12s %6.1f ns (%.1f ns of CPU time), %.3f round trips, %.2f bytes allocated%n", name,
            (double)elapsed / operations, (double)cpu / operations,
            (double)(fixture.engine.counters().roundTrips[kind] - roundTripsBefore) / operations,
            (double)(threads.getCurrentThreadAllocatedBytes() - allocatedBefore) / operations);
    }
}
