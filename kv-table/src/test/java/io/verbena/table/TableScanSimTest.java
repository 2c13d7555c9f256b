package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.table.scan.TableScan;
import io.verbena.test.Mutation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

/**
 * Scans while another node overwrites, deletes and inserts, in seeded interleavings of single requests, with torn READs
 * and memory that is used again as soon as the epochs allow: keys that are there throughout are met, once, with a value
 * that they had; others never with a value that they never had.
 */
class TableScanSimTest
{
    private static final int SEEDS = 150;
    private static final int STABLE = 12;
    private static final int CHURNED = 6;
    private static final int STEPS = 100_000;

    /** One run: two engines on one memory, one of them scans. */
    private static final class Run implements AutoCloseable
    {
        private final EngineFixture writer;
        private final EngineFixture scanner;
        private final OpenTable written;
        private final OpenTable scanned;
        private final Map<String, Set<String>> values = new HashMap<>();
        private final List<String> met = new ArrayList<>();
        private final StepFabric fabric;
        private long epoch = 1;
        private int next;

        Run(final long seed)
        {
            fabric = new StepFabric(seed);
            fabric.addMemory(EngineFixture.NODE, EngineFixture.MEMORY_BYTES);
            fabric.addMemory(EngineFixture.OTHER_NODE, EngineFixture.MEMORY_BYTES);
            writer = new EngineFixture(fabric, (settings) -> settings.writerNumber(1));
            // Little memory: what was retired is used again soon.
            writer.chunkBytes = 2048;
            writer.chunksLeft = 4;
            scanner = new EngineFixture(fabric, (settings) -> settings.writerNumber(2));
            written = writer.createTable(1, 3);
            scanned = scanner.engine.openTable(written.descriptor());
            for (int i = 0; i < STABLE; i++)
            {
                write("stable-" + i);
                finishWrite();
            }
        }

        private void write(final String key)
        {
            final String value = "v" + ++next;
            values.computeIfAbsent(key, (ignored) -> new HashSet<>()).add(value);
            writer.begin(OperationKind.PUT, written, key, value, 0, writer.nowNs + 1_000_000_000L);
        }

        private void change()
        {
            final int choice = fabric.random.nextInt(10);
            final String churned = "churned-" + fabric.random.nextInt(CHURNED);
            if (choice < 7)
            {
                write("stable-" + fabric.random.nextInt(STABLE));
            }
            else if (choice == 7)
            {
                write(churned);
            }
            else
            {
                writer.begin(OperationKind.DELETE, written, churned, null, 0, writer.nowNs + 1_000_000_000L);
            }
        }

        private void finishWrite()
        {
            while (writer.outcome == null)
            {
                step();
            }
        }

        private void step()
        {
            writer.nowNs += 100;
            scanner.nowNs += 100;
            fabric.step();
            writer.engine.poll();
            scanner.engine.poll();
            if (fabric.random.nextInt(4) == 0)
            {
                final long passed = Math.min(writer.engine.passedEpoch(), scanner.engine.passedEpoch());
                writer.engine.onEpoch(epoch, passed);
                scanner.engine.onEpoch(epoch, passed);
                epoch++;
            }
        }

        private boolean take(final DirectBuffer block, final int offset, final int room)
        {
            if (met.size() >= room)
            {
                return false;
            }
            final int keyLength = BlockDescriptor.keyLength(block, offset);
            final byte[] bytes = new byte[keyLength + BlockDescriptor.valueLength(block, offset)];
            block.getBytes(offset + BlockDescriptor.KEY_OFFSET, bytes);
            final String key = new String(bytes, 0, keyLength, StandardCharsets.UTF_8);
            met.add(key);
            assertThat(values.get(key)).contains(
                new String(bytes, keyLength, bytes.length - keyLength, StandardCharsets.UTF_8));
            return true;
        }

        /** Walks the table; returns the stable keys that were not met exactly once. */
        List<String> walk()
        {
            final TableScan scan = scanner.engine.scan();
            met.clear();
            for (long from = 0; from != TableScan.END; from = scan.position())
            {
                final int room = met.size() + 1 + fabric.random.nextInt(8);
                scan.begin(
                    scanned, from, scanner.nowNs + 1_000_000_000L,
                    (block, offset, behind) -> take(block, offset, room));
                for (int i = 0; scan.isBusy(); i++)
                {
                    if (writer.outcome != null && fabric.random.nextInt(3) == 0)
                    {
                        change();
                    }
                    step();
                    assertThat(i).as("the scan gets on").isLessThan(STEPS);
                }
                assertThat(OperationResult.name(scan.result())).isEqualTo("found");
            }
            final List<String> wrong = new ArrayList<>();
            for (int i = 0; i < STABLE; i++)
            {
                final String key = "stable-" + i;
                if (met.stream().filter(key::equals).count() != 1)
                {
                    wrong.add(key);
                }
            }
            return wrong;
        }

        @Override
        public void close()
        {
            finishWrite();
            writer.close();
            scanner.close();
            fabric.close();
        }
    }

    /** @return the first walk that met wrong keys, or null. */
    private static String wrongWalk()
    {
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            try (Run run = new Run(seed))
            {
                for (int walk = 0; walk < 3; walk++)
                {
                    final List<String> keys = run.walk();
                    if (!keys.isEmpty())
                    {
                        return "seed " + seed + ", walk " + walk + ": " + keys;
                    }
                }
            }
        }
        return null;
    }

    @Test
    void shouldMeetEachKeyThatIsThereThroughoutOnce()
    {
        assertThat(wrongWalk()).isNull();
    }

    @Test
    void shouldMissKeysWhenItNeitherHoldsItsEpochNorLooksAgain()
    {
        try (Mutation.Opened _ = TableMutation.SCAN_IN_EPOCH.open();
            Mutation.Opened _ = TableMutation.SCAN_LOOKS_AGAIN.open())
        {
            assertThat(wrongWalk()).isNotNull();
        }
    }

    @Test
    void shouldMissNoKeyWhenItHoldsItsEpochAndDoesNotLookAgain()
    {
        try (Mutation.Opened _ = TableMutation.SCAN_LOOKS_AGAIN.open())
        {
            assertThat(wrongWalk()).as("what it rests on is the epoch").isNull();
        }
    }

    @Test
    void shouldDoTheSameAgain()
    {
        assertThat(digest(1)).isEqualTo(digest(1)).isNotEqualTo(digest(2));
    }

    private static long digest(final long seed)
    {
        try (Run run = new Run(seed))
        {
            run.walk();
            return run.fabric.digest();
        }
    }
}
