package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.mirror.RemoteReconciliation;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

/** Survivors made equal over the network are, byte for byte, what {@link SubtableReconciliation} makes of them. */
class RemoteReconciliationTest
{
    private static final int GROUP = 9;
    private static final int TABLE_ID = 7;
    private static final int MEMORY_BYTES = 1 << 20;
    private static final int MEMBERS = 3;
    /** The second one on another page than its blocks; the third is found by a link of the first. */
    private static final int[] SUBTABLES_AT = {4_096, 300_032, 600_064, 600_064 + 8_192};
    private static final int BLOCKS_AT = 620_032;
    private static final int FIRST_DEPTH = 1;
    private static final int CHUNK_BYTES = (MEMORY_BYTES - 4_096) / 3;
    private static final long[] CHUNKS_AT = {4_096, 4_096 + 2 * CHUNK_BYTES, 4_096 + CHUNK_BYTES};

    private final List<StepFabric> fabrics = new ArrayList<>();
    private int nextBlockAt = BLOCKS_AT;

    @AfterEach
    void close()
    {
        fabrics.forEach(StepFabric::close);
    }

    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, 60);
    }

    private static TableDescriptor table()
    {
        return new TableDescriptor("t", TABLE_ID, FIRST_DEPTH, 1, 42, new long[]{
            DirectoryEntry.stable(FIRST_DEPTH, GROUP, SUBTABLES_AT[0]),
            DirectoryEntry.stable(FIRST_DEPTH, GROUP, SUBTABLES_AT[1])});
    }

    /** Each slot as some round may have left it, when the primary may have less than the others. */
    private void fill(final List<UnsafeBuffer> memories, final Random random)
    {
        for (final UnsafeBuffer memory : memories)
        {
            final PreparedSubtables subtables = new PreparedSubtables(memory, 42);
            subtables.format(SUBTABLES_AT[0], 0, FIRST_DEPTH, SlotWord.EMPTY);
            subtables.format(SUBTABLES_AT[1], 1, FIRST_DEPTH, SlotWord.EMPTY);
            subtables.format(SUBTABLES_AT[2], 0, FIRST_DEPTH + 1, SlotWord.EMPTY);
            subtables.format(SUBTABLES_AT[3], 2, FIRST_DEPTH + 1, SlotWord.EMPTY);
            memory.putLong(SUBTABLES_AT[0] + SubtableDescriptor.SPLIT_OFFSET,
                SplitLink.of(SUBTABLES_AT[2], SUBTABLES_AT[3]), LITTLE_ENDIAN);
        }
        for (final int at : SUBTABLES_AT)
        {
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
            {
                fillSlot(memories, at + SubtableDescriptor.GROUPS_OFFSET +
                    slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
                    BucketDescriptor.SLOTS_OFFSET +
                    slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES, random);
            }
        }
    }

    private void fillSlot(final List<UnsafeBuffer> memories, final int offset, final Random random)
    {
        final int sizeClass = random.nextInt(8) == 0 ? SizeClasses.COUNT - 1 : random.nextInt(4);
        if (random.nextInt(3) == 0 || nextBlockAt + SizeClasses.lengthBytes(sizeClass) > MEMORY_BYTES)
        {
            return;
        }
        final long word = SlotWord.committed(random.nextInt(200), 0, 1, sizeClass, nextBlockAt);
        // The head first: the word is on so many members, and its block on these at least.
        final int members = 1 + random.nextInt(MEMBERS);
        final boolean isTentative = members == 1 && random.nextBoolean();
        for (int member = 0; member < MEMBERS; member++)
        {
            if (member < members)
            {
                memories.get(member).putLong(
                    offset, isTentative ? SlotWord.withKind(word, SlotWord.KIND_TENTATIVE) : word, LITTLE_ENDIAN);
            }
            if (member < members || random.nextBoolean())
            {
                BlockDescriptor.writeHeader(
                    memories.get(member), nextBlockAt, TABLE_ID, 5, 20, 1, 1, offset, 0, 0, 0, 0);
                BlockDescriptor.seal(memories.get(member), nextBlockAt, word);
            }
        }
        nextBlockAt += SizeClasses.lengthBytes(sizeClass);
    }

    private List<UnsafeBuffer> memories(final StepFabric fabric)
    {
        fabrics.add(fabric);
        return IntStream.range(0, MEMBERS).mapToObj(id -> fabric.addMemory(id, MEMORY_BYTES)).toList();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldMakeCopiesEqualAsWhoHasTheMemoryDoes(final long seed)
    {
        final Random random = new Random(seed);
        final StepFabric fabric = new StepFabric(seed);
        final List<UnsafeBuffer> memories = memories(fabric);
        fill(memories, random);
        final List<UnsafeBuffer> expected = memories(new StepFabric(seed));
        IntStream.range(0, MEMBERS).forEach(i -> expected.get(i).putBytes(0, memories.get(i), 0, MEMORY_BYTES));
        final int lost = random.nextInt(MEMBERS + 1);
        final boolean[] survivors = new boolean[MEMBERS];
        final OneSidedPort[] ports = new OneSidedPort[MEMBERS];
        final RemoteReconciliation[] all = new RemoteReconciliation[1];
        for (int i = 0; i < MEMBERS; i++)
        {
            final int member = i;
            survivors[i] = i != lost;
            ports[i] = i == lost ? null : fabric.connect(i, (cookie, status) -> all[0].onComplete(member, cookie, status));
        }
        final SlotReconciliation words = new SlotReconciliation(
            expected.stream().<SlotReconciliation.Copy>map(MemoryCopy::new).toList(), survivors);
        final SubtableReconciliation local = new SubtableReconciliation(words, Subtable.of(table()), 1);
        while (local.goOn())
        {
            assertThat(local.subtables()).isLessThanOrEqualTo(SUBTABLES_AT.length);
        }
        assertThat(local.subtables()).isEqualTo(SUBTABLES_AT.length);

        all[0] = new RemoteReconciliation(new LocalDomain(), GROUP, List.of(table()), ports);
        for (int i = 0; i < 1_000_000 && !all[0].isDone(); i++)
        {
            all[0].poll();
            fabric.step();
        }
        assertThat(all[0].isDone()).as("%s", all[0]).isTrue();
        assertThat(all[0].hasFailed()).isFalse();
        all[0].close();
        assertThat(all[0].wordsChanged()).isEqualTo(words.wordsChanged());
        assertThat(all[0].blocksCopied()).isEqualTo(words.blocksCopied());
        for (int i = 0; i < MEMBERS; i++)
        {
            assertThat(bytes(memories.get(i))).as("member %d, lost %d", i, lost).isEqualTo(bytes(expected.get(i)));
        }
    }

    /** A member of before: each word is the source's, and the block behind it another one. */
    private static UnsafeBuffer entering(final StepFabric fabric, final UnsafeBuffer source)
    {
        final UnsafeBuffer entering = fabric.addMemory(MEMBERS, MEMORY_BYTES);
        entering.putBytes(0, source, 0, MEMORY_BYTES);
        for (int at = BLOCKS_AT; at < MEMORY_BYTES; at += 40)
        {
            entering.putByte(at, (byte)~entering.getByte(at));
        }
        return entering;
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldGiveWhoComesInAllChunksAndTheWordsOfTheOthers(final long seed)
    {
        final Random random = new Random(seed);
        final StepFabric fabric = new StepFabric(seed);
        final List<UnsafeBuffer> all = memories(fabric);
        fill(all, random);
        final int count = 1 + (int)(seed % MEMBERS);
        final List<UnsafeBuffer> memories = all.subList(0, count);
        final UnsafeBuffer entering = entering(fabric, memories.getLast());
        final List<UnsafeBuffer> expected = memories(new StepFabric(seed)).subList(0, count);
        IntStream.range(0, count).forEach(i -> expected.get(i).putBytes(0, memories.get(i), 0, MEMORY_BYTES));
        final UnsafeBuffer expectedEntering = new UnsafeBuffer(new byte[MEMORY_BYTES]);
        expectedEntering.putBytes(0, memories.getLast(), 0, MEMORY_BYTES);
        final boolean[] survivors = new boolean[count];
        Arrays.fill(survivors, true);
        final SlotReconciliation words = new SlotReconciliation(
            expected.stream().<SlotReconciliation.Copy>map(MemoryCopy::new).toList(), survivors,
            List.of(new MemoryCopy(expectedEntering)));
        final SubtableReconciliation local = new SubtableReconciliation(words, Subtable.of(table()), 1);
        while (local.goOn())
        {
            assertThat(local.subtables()).isLessThanOrEqualTo(SUBTABLES_AT.length);
        }

        final RemoteReconciliation[] run = new RemoteReconciliation[1];
        final StepFabric.StepPort[] ports = ports(fabric, count + 1, run);
        run[0] = reconciliation(ports);
        step(run[0], fabric, 1_000_000);
        assertThat(run[0].isDone()).as("%s", run[0]).isTrue();
        assertThat(run[0].bytesCopied()).isEqualTo(3L * CHUNK_BYTES);
        run[0].close();
        for (int i = 0; i < count; i++)
        {
            assertThat(bytes(memories.get(i))).as("member %d", i).isEqualTo(bytes(expected.get(i)));
        }
        assertThat(bytes(entering)).isEqualTo(bytes(expectedEntering));
    }

    private static StepFabric.StepPort[] ports(
        final StepFabric fabric, final int count, final RemoteReconciliation[] run)
    {
        return IntStream.range(0, count).mapToObj(place -> fabric.connect(place == count - 1 ? MEMBERS : place,
            (cookie, status) -> run[0].onComplete(place, cookie, status))).toArray(StepFabric.StepPort[]::new);
    }

    private static RemoteReconciliation reconciliation(final StepFabric.StepPort[] ports)
    {
        return new RemoteReconciliation(new LocalDomain(), GROUP, List.of(table()),
            Arrays.copyOf(ports, ports.length - 1), ports[ports.length - 1], CHUNKS_AT, CHUNK_BYTES);
    }

    private static void step(final RemoteReconciliation run, final StepFabric fabric, final int steps)
    {
        for (int i = 0; i < steps && !run.isDone() && !run.hasFailed(); i++)
        {
            run.poll();
            fabric.step();
        }
    }

    /** The last place is that of who comes in; member 2 is the source. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3})
    void shouldHaveFailedWheneverANodeFails(final int place)
    {
        boolean isDone = false;
        for (int steps = 1; !isDone; steps++)
        {
            nextBlockAt = BLOCKS_AT;
            final StepFabric fabric = new StepFabric(steps);
            final List<UnsafeBuffer> memories = memories(fabric);
            fill(memories, new Random(1));
            entering(fabric, memories.getLast());
            final RemoteReconciliation[] run = new RemoteReconciliation[1];
            final StepFabric.StepPort[] ports = ports(fabric, MEMBERS + 1, run);
            run[0] = reconciliation(ports);
            step(run[0], fabric, steps * steps);
            isDone = run[0].isDone();
            if (!isDone)
            {
                ports[place].fail(true);
                step(run[0], fabric, 1_000_000);
                assertThat(run[0].hasFailed()).as("after %d steps", steps * steps).isTrue();
                assertThat(run[0].isDone()).isFalse();
            }
            run[0].close();
        }
    }

    private static ByteBuffer bytes(final UnsafeBuffer memory)
    {
        final byte[] bytes = new byte[MEMORY_BYTES];
        memory.getBytes(0, bytes);
        return ByteBuffer.wrap(bytes);
    }

    /** It is not done then, and never says so. */
    @Test
    void shouldHaveFailedWhenAMemberDoesNotAnswer()
    {
        final StepFabric fabric = new StepFabric(1);
        fill(memories(fabric), new Random(1));
        final RemoteReconciliation[] all = new RemoteReconciliation[1];
        final StepFabric.StepPort[] ports = IntStream.range(0, MEMBERS).mapToObj(member ->
            fabric.connect(member, (cookie, status) -> all[0].onComplete(member, cookie, status)))
            .toArray(StepFabric.StepPort[]::new);
        all[0] = new RemoteReconciliation(new LocalDomain(), GROUP, List.of(table()), ports);
        for (int i = 0; i < 20; i++)
        {
            all[0].poll();
            fabric.step();
        }
        ports[1].fail(true);
        for (int i = 0; i < 10_000; i++)
        {
            all[0].poll();
            fabric.step();
        }
        assertThat(all[0].hasFailed()).isTrue();
        assertThat(all[0].isDone()).isFalse();
        all[0].close();
    }

    @Test
    void shouldHaveNothingToDoForTablesElsewhere()
    {
        final RemoteReconciliation all =
            new RemoteReconciliation(new LocalDomain(), GROUP + 1, List.of(table()), new OneSidedPort[]{
                new StepFabric(1).connect(0, (cookie, status) -> { })});
        assertThat(all.isDone()).isTrue();
        all.close();
    }
}
