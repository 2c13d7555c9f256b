package io.verbena.load.bench;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SizeClasses;
import java.util.Random;

/** The records that all benchmarks of one engine use, and those of what it is compared with. Stateless. */
final class BenchmarkRecords
{
    static final int KEY_BYTES = 16;
    static final int VALUE_BYTES = 100;
    static final int BLOCK_BYTES = SizeClasses.lengthBytes(
        SizeClasses.classFor(BlockDescriptor.recordLength(KEY_BYTES, VALUE_BYTES)));
    private static final long SEED = 20261121;

    private BenchmarkRecords()
    {
    }

    /** The order of keys. */
    static int[] shuffled(final int count)
    {
        final Random random = new Random(SEED);
        final int[] numbers = new int[count];
        for (int i = 1; i < count; i++)
        {
            final int other = random.nextInt(i + 1);
            numbers[i] = numbers[other];
            numbers[other] = i;
        }
        return numbers;
    }
}
