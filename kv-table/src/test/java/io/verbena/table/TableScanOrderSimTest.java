package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.table.scan.Cursor;
import io.verbena.table.scan.TableScan;
import io.verbena.test.Mutation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Walks in ranges of one to three records, at nodes that know different splits and merges, over tiny subtables that
 * others split and merge again and again between the ranges and during them, so that records change places within
 * their groups all the time. Some keys have equal fingerprints.
 */
class TableScanOrderSimTest
{
    private static final int GROUPS = 2;
    private static final int MOST_DEPTH = 3;
    private static final int STABLE = 14;
    private static final int CHURNED = 16;
    private static final int TIED = 6;
    private static final long MEMORY_AT = 512 * 1024;
    private static final int MAX_STEPS = 100_000;
    private static final int MOST_SEEDS = 150;
    private static final int SEED_OF_HASH = 42;
    private static final int SHORT_ORDER_BITS = SlotWord.FINGERPRINT_BITS + 2;
    private static final List<String> TIED_KEYS = TiedKeys.find("", TIED, SEED_OF_HASH);

    /** What happens between ranges and during them. */
    private record Changes(boolean areSplits, boolean areMerges, boolean areRecords)
    {
    }

    private static final Changes ALL = new Changes(true, true, true);
    private static final Changes NONE = new Changes(false, false, false);

    private final List<String> met = new ArrayList<>();
    private final List<Long> positions = new ArrayList<>();
    private Random random;
    private int deepest;
    private EngineFixture changer;
    private EngineFixture[] walkers;
    private OpenTable changersTable;
    private OpenTable[] tables;
    private TableDescriptor published;
    private TableSplit split;
    private TableMerge merge;
    private long nextMemory;
    private int splits;
    private int merges;

    private static Set<String> stableKeys()
    {
        final Set<String> keys = new TreeSet<>(TIED_KEYS);
        for (int i = 0; i < STABLE - TIED; i++)
        {
            keys.add("stable-" + i);
        }
        return keys;
    }

    private void setUp(final long seed)
    {
        random = new Random(seed);
        deepest = 1 + (int)(seed % MOST_DEPTH);
        met.clear();
        split = null;
        merge = null;
        nextMemory = MEMORY_AT;
        splits = 0;
        merges = 0;
        final StepFabric fabric = new StepFabric(seed);
        fabric.addMemory(EngineFixture.NODE, EngineFixture.MEMORY_BYTES);
        fabric.addMemory(EngineFixture.OTHER_NODE, EngineFixture.MEMORY_BYTES);
        changer = new EngineFixture(fabric, settings -> settings.writerNumber(1));
        walkers = new EngineFixture[2];
        tables = new OpenTable[2];
        changersTable = changer.createTable(0, GROUPS);
        published = changersTable.descriptor();
        for (int i = 0; i < walkers.length; i++)
        {
            final int writerNumber = 2 + i;
            walkers[i] = new EngineFixture(fabric, settings -> settings.writerNumber(writerNumber));
            tables[i] = walkers[i].engine.openTable(published);
        }
        // Records of siblings have the same slots then, so that merges have to move them.
        while (changersTable.subtableCount() < 1 << deepest)
        {
            restructure(true);
        }
        // Those that come and go have the first slots of their buckets, so that others are moved to lower ones.
        for (int i = 0; i < CHURNED; i++)
        {
            changer.put(changersTable, "churned-" + i, "v");
        }
        stableKeys().forEach(key -> changer.put(changersTable, key, "v"));
    }

    @AfterEach
    void close()
    {
        if (changer != null)
        {
            for (final EngineFixture walker : walkers)
            {
                walker.close();
            }
            changer.close();
            changer = null;
        }
    }

    private void step()
    {
        changer.nowNs += 100;
        changer.engine.poll();
        changer.fabric.step();
    }

    private boolean isRestructuring()
    {
        return split != null && !split.isFinished() || merge != null && !merge.isFinished();
    }

    private void begin(final boolean isSplit)
    {
        final long bytes = SubtableDescriptor.lengthBytes(GROUPS) + 63 & -64L;
        final int suffix = random.nextInt(1 << changersTable.directory.depth());
        final int depth = changersTable.directory.depth(suffix);
        if (isSplit && depth < deepest)
        {
            split = changer.engine.growth().begin(
                changersTable, suffix, nextMemory, nextMemory + bytes, Long.MAX_VALUE / 2);
            nextMemory += 2 * bytes;
            splits++;
        }
        else if (!isSplit && depth > 0)
        {
            merge = changer.engine.growth().beginMerge(changersTable, suffix, nextMemory, Long.MAX_VALUE / 2);
            nextMemory += bytes;
            merges++;
        }
        assertThat(nextMemory).isLessThan(EngineFixture.BLOCKS_AT);
    }

    private void restructure(final boolean isSplit)
    {
        finishRestructuring();
        begin(isSplit);
        finishRestructuring();
    }

    private void finishRestructuring()
    {
        for (int i = 0; isRestructuring(); i++)
        {
            step();
            assertThat(i).isLessThan(MAX_STEPS);
        }
    }

    private void beginIfIdle(final Changes changes)
    {
        if (!isRestructuring() && (changes.areSplits() || changes.areMerges()) && random.nextInt(100) == 0)
        {
            begin(changes.areSplits() && (!changes.areMerges() || random.nextBoolean()));
        }
    }

    private void changeBetweenStretches(final Changes changes)
    {
        for (int i = random.nextInt(6); changes.areRecords() && i > 0; i--)
        {
            final String key = "churned-" + random.nextInt(CHURNED);
            if (random.nextBoolean())
            {
                changer.run(OperationKind.PUT_IF_ABSENT, changersTable, key, "v", 0);
            }
            else
            {
                changer.run(OperationKind.DELETE, changersTable, key, null, 0);
            }
        }
        for (int i = random.nextInt(3); i > 0; i--)
        {
            if (changes.areMerges() && random.nextBoolean())
            {
                restructure(false);
            }
            if (changes.areSplits() && random.nextBoolean())
            {
                restructure(true);
            }
        }
        if (random.nextInt(8) == 0)
        {
            publish();
        }
    }

    /** One of the walkers hears of what was made. */
    private void publish()
    {
        finishRestructuring();
        for (int entry = 0; entry < 1 << changersTable.directory.depth(); entry++)
        {
            published = TableGrowth.to(published, changersTable, changersTable.subtable(entry)).descriptor();
        }
        tables[0].refresh(published);
    }

    private boolean take(final DirectBuffer block, final int offset, final long behind, final int most)
    {
        if (met.size() >= most)
        {
            return false;
        }
        final byte[] key = new byte[BlockDescriptor.keyLength(block, offset)];
        block.getBytes(offset + BlockDescriptor.KEY_OFFSET, key);
        met.add(new String(key, StandardCharsets.UTF_8));
        positions.add(behind);
        return true;
    }

    private long range(final int walker, final long from, final Changes changes)
    {
        final EngineFixture at = walkers[walker];
        final TableScan scan = at.engine.scan();
        final int before = met.size();
        final int most = before + 1 + random.nextInt(3);
        positions.clear();
        scan.begin(tables[walker], from, at.nowNs + 1_000_000_000L,
            (block, offset, behind) -> take(block, offset, behind, most));
        for (int i = 0; scan.isBusy(); i++)
        {
            at.nowNs += 100;
            at.engine.poll();
            step();
            beginIfIdle(changes);
            assertThat(i).isLessThan(MAX_STEPS);
        }
        assertThat(OperationResult.name(scan.result())).isEqualTo("found");
        if (positions.isEmpty() || random.nextBoolean())
        {
            return scan.position();
        }
        // As if only some of the range had been used: on behind one of its records.
        final int used = 1 + random.nextInt(positions.size());
        met.subList(before + used, met.size()).clear();
        return positions.get(used - 1);
    }

    /** @return keys that are there throughout, and whose number of times met is not as wanted. */
    private Set<String> walk(final Changes changes, final IntPredicate isAsWanted)
    {
        met.clear();
        long from = 0;
        for (int i = 0; from != TableScan.END; i++)
        {
            from = range(random.nextInt(3) == 0 ? 0 : 1, from, changes);
            changeBetweenStretches(changes);
            assertThat(i).as("the walk gets on").isLessThan(1_000);
        }
        finishRestructuring();
        final Set<String> wrong = stableKeys();
        wrong.removeIf(key -> isAsWanted.test((int)met.stream().filter(key::equals).count()));
        return wrong;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, 200})
    void shouldMeetEachKeyThatIsThereThroughout(final int firstSeed)
    {
        for (int seed = firstSeed; seed < firstSeed + 15; seed++)
        {
            setUp(seed);
            assertThat(walk(ALL, times -> times >= 1)).as("seed %d", seed).isEmpty();
            assertThat(splits).isPositive();
            assertThat(merges).isPositive();
            assertThat(walkers[0].check(changersTable).problems()).as("seed %d", seed).isEmpty();
            assertThat(walk(NONE, times -> times == 1)).as("seed %d", seed).isEmpty();
            close();
        }
    }

    @Test
    void shouldMeetEachKeyOnceWhateverIsMerged()
    {
        for (int seed = 0; seed < 20; seed++)
        {
            setUp(seed);
            assertThat(walk(new Changes(false, true, true), times -> times == 1)).as("seed %d", seed).isEmpty();
            assertThat(merges).isPositive();
            close();
        }
    }

    /** As with a table so large that positions tell little more than fingerprints: slots say the rest. */
    @Test
    void shouldMeetRecordsThatPositionsDoNotTellApartWhereNothingIsMoved()
    {
        try (Mutation.Opened _ = Mutation.returning(Cursor.class, "orderBits", SHORT_ORDER_BITS).open())
        {
            for (int seed = 0; seed < 12; seed++)
            {
                setUp(seed);
                assertThat(walk(NONE, times -> times == 1)).as("seed %d", seed).isEmpty();
                assertThat(TIED_KEYS).as("others are met").containsAll(walk(ALL, times -> times >= 1));
                close();
            }
        }
    }

    @Test
    void shouldLeaveKeysOutWhenTheOrderIsThatOfTheSlots()
    {
        int seed = 0;
        Set<String> wrong = Set.of();
        try (Mutation.Opened _ = TableMutation.HASH_ORDER.open())
        {
            while (wrong.isEmpty() && ++seed < MOST_SEEDS)
            {
                setUp(seed);
                wrong = walk(ALL, times -> times >= 1);
                close();
            }
        }
        assertThat(wrong).as("keys left out").isNotEmpty();
    }
}
