package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.directory.Subtable;
import io.verbena.table.mirror.RemoteReconciliation;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import static io.verbena.table.UnequalMembers.GROUP;
import static io.verbena.table.UnequalMembers.MEMORY_BYTES;
import static io.verbena.table.UnequalMembers.SUBTABLES_AT;
import static io.verbena.table.UnequalMembers.fill;
import static io.verbena.table.UnequalMembers.table;
import static org.assertj.core.api.Assertions.assertThat;

/** Survivors made equal over the network are, byte for byte, what {@link SubtableReconciliation} makes of them. */
class RemoteReconciliationTest
{
    private static final int MEMBERS = 3;

    private final List<StepFabric> fabrics = new ArrayList<>();

    @AfterEach
    void close()
    {
        fabrics.forEach(StepFabric::close);
    }

    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, 60);
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
            ports[i] = i == lost ? null : fabric.connect(i, (cookie, status) -> all[0].onComplete(member, status));
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
            fabric.connect(member, (cookie, status) -> all[0].onComplete(member, status)))
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
