package io.verbena.table;

import static io.verbena.table.UnequalMembers.GROUP;
import static io.verbena.table.UnequalMembers.MEMORY_BYTES;
import static io.verbena.table.UnequalMembers.SUBTABLES_AT;
import static io.verbena.table.UnequalMembers.slotAt;
import static io.verbena.table.UnequalMembers.table;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.EmptiedWords;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.mirror.ByteRanges;
import io.verbena.table.mirror.RemoteReconciliation;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** A memory node comes in while the view is closed: all chunks are copied, then words are made equal. */
class EnteringReconciliationTest
{
    /** The whole memory but what stands before the first chunk; longer than a piece, and no multiple of it. */
    private static final int CHUNK_BYTES = 348_160;
    private static final long[] CHUNKS = {4_096, 4_096 + 2 * CHUNK_BYTES, 4_096 + CHUNK_BYTES};
    /** A subtable that was formatted and not linked. */
    private static final int UNLINKED_AT = 400_000;
    private static final int MOST_POLLS = 50_000;

    private StepFabric fabric;
    private List<UnsafeBuffer> members;
    private UnsafeBuffer entering;
    private StepFabric.StepPort[] ports;
    private StepFabric.StepPort enteringPort;
    private RemoteReconciliation all;

    @AfterEach
    void close()
    {
        if (all != null)
        {
            all.close();
            all = null;
        }
        fabric.close();
    }

    /** Each memory has other bytes where nothing was written. */
    private void prepare(final int memberCount, final int lost, final long seed)
    {
        fabric = new StepFabric(seed);
        fabric.tearing = false;
        members = IntStream.range(0, memberCount).mapToObj(this::memory).toList();
        entering = memory(memberCount);
        ports = new StepFabric.StepPort[memberCount];
        for (int i = 0; i < memberCount; i++)
        {
            final int member = i;
            ports[i] = i == lost ? null :
                fabric.connect(i, (cookie, status) -> all.onComplete(member, status));
        }
        enteringPort = fabric.connect(memberCount, (cookie, status) -> all.onComplete(memberCount, status));
    }

    private UnsafeBuffer memory(final int id)
    {
        final UnsafeBuffer memory = fabric.addMemory(id, MEMORY_BYTES);
        final byte[] bytes = new byte[MEMORY_BYTES];
        new Random(id).nextBytes(bytes);
        memory.putBytes(0, bytes);
        return memory;
    }

    private static UnsafeBuffer copyOf(final UnsafeBuffer memory)
    {
        final UnsafeBuffer copy = new UnsafeBuffer(ByteBuffer.allocateDirect(MEMORY_BYTES));
        copy.putBytes(0, memory, 0, MEMORY_BYTES);
        return copy;
    }

    private void begin(final long... chunks)
    {
        all = new RemoteReconciliation(
            new LocalDomain(), GROUP, List.of(table()), ports.clone(), enteringPort,
            ByteRanges.of(chunks, CHUNK_BYTES));
    }

    private boolean isOver()
    {
        return all.isDone() || all.hasFailed();
    }

    private void run()
    {
        for (int i = 0; i < MOST_POLLS && !isOver(); i++)
        {
            all.poll();
            fabric.step();
            assertThat(all.isDone() && !fabricIsIdle()).as("done while something is under way").isFalse();
        }
        assertThat(all.isDone()).as("%s", all).isTrue();
        assertThat(all.hasFailed()).isFalse();
    }

    private boolean fabricIsIdle()
    {
        boolean isIdle = enteringPort.isIdle();
        for (final StepFabric.StepPort port : ports)
        {
            isIdle &= port == null || port.isIdle();
        }
        return isIdle;
    }

    private static SlotReconciliation reconcile(
        final List<UnsafeBuffer> memories, final boolean[] survivors, final UnsafeBuffer newcomer)
    {
        final SlotReconciliation words = new SlotReconciliation(
            memories.stream().<SlotReconciliation.Copy>map(MemoryCopy::new).toList(), survivors,
            List.of(new MemoryCopy(newcomer)));
        final SubtableReconciliation local = new SubtableReconciliation(words, Subtable.of(table()), 1);
        while (local.goOn())
        {
            assertThat(local.subtables()).isLessThanOrEqualTo(SUBTABLES_AT.length);
        }
        return words;
    }

    /** Chunks are the source's; the others are what survivors are; and what stands outside of chunks stays. */
    @ParameterizedTest
    @CsvSource({"1, -1, 0", "2, -1, 1", "2, 0, 1", "2, 1, 0", "3, -1, 2", "3, 0, 2", "3, 1, 2", "3, 2, 0"})
    void shouldMakeWhoComesInEqual(final int memberCount, final int lost, final int source)
    {
        for (int seed = 1; seed <= 8; seed++)
        {
            prepare(memberCount, lost, seed);
            UnequalMembers.fill(members, new Random(seed));
            new PreparedSubtables(members.get(source), 42).format(UNLINKED_AT, 3, 2, SlotWord.UNINITIALISED);
            final List<UnsafeBuffer> expected = members.stream().map(EnteringReconciliationTest::copyOf).toList();
            final UnsafeBuffer newcomer = copyOf(entering);
            newcomer.putBytes((int)CHUNKS[0], members.get(source), (int)CHUNKS[0], CHUNKS.length * CHUNK_BYTES);
            final boolean[] survivors = new boolean[memberCount];
            IntStream.range(0, memberCount).forEach(i -> survivors[i] = i != lost);
            final SlotReconciliation words = reconcile(expected, survivors, newcomer);

            begin(CHUNKS);
            run();
            assertThat(entering).isEqualTo(newcomer);
            IntStream.range(0, memberCount).forEach(i -> assertThat(members.get(i)).isEqualTo(expected.get(i)));
            final int length = CHUNKS.length * CHUNK_BYTES;
            assertThat(new UnsafeBuffer(entering, (int)CHUNKS[0], length))
                .isEqualTo(new UnsafeBuffer(members.get(source), (int)CHUNKS[0], length));
            assertThat(all.bytesCopied()).isEqualTo(length);
            assertThat(all.wordsChanged()).isEqualTo(words.wordsChanged());
            assertThat(all.blocksCopied()).isEqualTo(words.blocksCopied());
            assertThat(all.toString()).contains("bytes=" + length);
            close();
        }
    }

    /** All that is sent is what the chunks have, before anything else is read, and no other member is asked then. */
    @Test
    void shouldCopyEachByteOnce()
    {
        prepare(2, -1, 1);
        UnequalMembers.format(members);
        entering.setMemory(0, MEMORY_BYTES, (byte)0);
        all = new RemoteReconciliation(
            new LocalDomain(), GROUP + 1, List.of(table()), ports.clone(), enteringPort,
            ByteRanges.of(CHUNKS, CHUNK_BYTES));
        assertThat(all.isDone()).isFalse();
        run();
        final long length = (long)CHUNKS.length * CHUNK_BYTES;
        assertThat(ports[1].readBytes.stream().mapToLong(Integer::longValue).sum()).isEqualTo(length);
        assertThat(ports[1].counters.payloadBytes).isEqualTo(length);
        assertThat(enteringPort.counters.payloadBytes).isEqualTo(length);
        assertThat(enteringPort.counters.reads + ports[1].counters.writes).isZero();
        assertThat(ports[0].counters.doorbells).isZero();
    }

    /** Words are looked at when all bytes have arrived: so nobody but the source is read before. */
    @Test
    void shouldCompareWordsBehindTheLastByte()
    {
        prepare(2, -1, 1);
        UnequalMembers.fill(members, new Random(1));
        begin(CHUNKS);
        for (int i = 0; i < MOST_POLLS && all.bytesCopied() < (long)CHUNKS.length * CHUNK_BYTES; i++)
        {
            all.poll();
            assertThat(ports[0].counters.doorbells + enteringPort.counters.reads).isZero();
            fabric.step();
        }
        assertThat(fabricIsIdle()).isTrue();
        assertThat(all.isDone()).isFalse();
        run();
        assertThat(ports[0].counters.reads).isPositive();
        assertThat(enteringPort.counters.reads).isPositive();
    }

    /**
     * What a node had before it was lost is an old record, whole, under the word that stands there again: a version has
     * 8 bits in a word. Words and blocks prove themselves there, so only bytes bring the new one.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldReplaceAnOldRecordUnderAnEqualWord(final int memberCount)
    {
        for (final boolean areBytesCopied : new boolean[]{true, false})
        {
            prepare(memberCount, -1, 1);
            UnequalMembers.format(members);
            UnequalMembers.format(List.of(entering));
            final int at = slotAt(SUBTABLES_AT[3], 4);
            final long word = SlotWord.committed(11, 0, 1, 1, 700_032);
            members.forEach(memory -> putRecord(memory, at, word, 257));
            putRecord(entering, at, word, 1);
            if (areBytesCopied)
            {
                begin(CHUNKS);
            }
            else
            {
                begin();
            }
            run();
            final int block = (int)SlotWord.blockOffset(word);
            assertThat(entering.getLong(at, LITTLE_ENDIAN)).isEqualTo(word);
            assertThat(BlockDescriptor.isValid(entering, block, SizeClasses.lengthBytes(1), word)).isTrue();
            assertThat(BlockDescriptor.version(entering, block)).isEqualTo(areBytesCopied ? 257 : 1);
            close();
        }
    }

    private static void putRecord(final UnsafeBuffer memory, final int slotAt, final long word, final long version)
    {
        memory.putLong(slotAt, word, LITTLE_ENDIAN);
        UnequalMembers.writeRecord(memory, slotAt, word, version);
    }

    /** The claim of an only member is on who comes in after its bytes were copied: it is emptied on both. */
    @ParameterizedTest
    @CsvSource({"1, true", "2, false"})
    void shouldEmptyTheClaimsOfAnOnlyMember(final int memberCount, final boolean isEmptied)
    {
        prepare(memberCount, -1, 1);
        UnequalMembers.format(members);
        final int at = slotAt(SUBTABLES_AT[1], 2);
        final long claim = SlotWord.withKind(SlotWord.committed(1, 0, 1, 1, 700_032), SlotWord.KIND_TENTATIVE);
        members.forEach(memory -> memory.putLong(at, claim, LITTLE_ENDIAN));
        begin(CHUNKS);
        run();
        final long word = isEmptied ? EmptiedWords.byTool(claim) : claim;
        members.forEach(memory -> assertThat(memory.getLong(at, LITTLE_ENDIAN)).isEqualTo(word));
        assertThat(entering.getLong(at, LITTLE_ENDIAN)).isEqualTo(word);
    }

    /** Whoever fails, and whenever: it is never done. With no answer as with an error. */
    @ParameterizedTest
    @CsvSource({"0, true", "0, false", "1, true", "1, false", "2, true", "2, false"})
    void shouldHaveFailedWhenARequestFails(final int failing, final boolean isAnswered)
    {
        final int steps = stepsOfWhole();
        assertThat(steps).isGreaterThan(40);
        boolean wasCopied = false;
        boolean wasCopying = false;
        for (int failAt = 0; failAt < steps; failAt++)
        {
            prepare(2, -1, 1);
            UnequalMembers.fill(members, new Random(1));
            begin(CHUNKS);
            for (int i = 0; i < failAt; i++)
            {
                all.poll();
                fabric.step();
            }
            wasCopied |= all.bytesCopied() == (long)CHUNKS.length * CHUNK_BYTES;
            wasCopying |= all.bytesCopied() > 0 && all.bytesCopied() < (long)CHUNKS.length * CHUNK_BYTES;
            assertThat(all.isDone()).isFalse();
            (failing == 2 ? enteringPort : ports[failing]).fail(isAnswered);
            int left = 2_000;
            while (left-- > 0)
            {
                all.poll();
                fabric.step();
                // Also what was under way elsewhere completes.
                left = all.hasFailed() ? Math.min(left, 100) : left;
                assertThat(all.isDone()).as("failed at %d, %s", failAt, all).isFalse();
            }
            assertThat(all.hasFailed()).as("failed at %d, %s", failAt, all).isTrue();
            close();
        }
        assertThat(wasCopied && wasCopying).isTrue();
    }

    private int stepsOfWhole()
    {
        prepare(2, -1, 1);
        UnequalMembers.fill(members, new Random(1));
        begin(CHUNKS);
        int steps = 0;
        while (!all.isDone() && steps < MOST_POLLS)
        {
            all.poll();
            fabric.step();
            steps++;
        }
        close();
        return steps;
    }

    /** A port that is lost without a request of its own is noticed before all bytes are copied. */
    @Test
    void shouldNoticeALostMemberWhileBytesAreCopied()
    {
        prepare(3, -1, 1);
        UnequalMembers.fill(members, new Random(1));
        begin(CHUNKS);
        all.poll();
        ports[0].fail(false);
        all.poll();
        assertThat(all.hasFailed()).isTrue();
        assertThat(all.bytesCopied()).isZero();
    }

    /** Not one request more than before, and nobody's memory but the members'. */
    @Test
    void shouldCopyNothingWhenNobodyComesIn()
    {
        final long[] payload = new long[2];
        for (int i = 0; i < 2; i++)
        {
            prepare(2, -1, 1);
            UnequalMembers.fill(members, new Random(1));
            final TableDescriptor table = table();
            all = i == 0 ? new RemoteReconciliation(new LocalDomain(), GROUP, List.of(table), ports.clone()) :
                new RemoteReconciliation(
                new LocalDomain(), GROUP, List.of(table), ports.clone(), null,
                ByteRanges.of(CHUNKS, CHUNK_BYTES));
            run();
            for (final StepFabric.StepPort port : ports)
            {
                payload[i] = payload[i] * 31 + port.counters.payloadBytes * 1_009 + port.counters.doorbells;
            }
            assertThat(all.bytesCopied()).isZero();
            assertThat(enteringPort.counters.doorbells).isZero();
            close();
        }
        assertThat(payload[1]).isEqualTo(payload[0]);
    }

    /** Its completion is no member's. */
    @Test
    void shouldTakeAFailedCompletionOfWhoComesIn()
    {
        prepare(1, -1, 1);
        UnequalMembers.format(members);
        begin(CHUNKS);
        for (int i = 0; i < MOST_POLLS && enteringPort.isIdle(); i++)
        {
            all.poll();
            fabric.step();
        }
        all.onComplete(1, WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(all.hasFailed()).isTrue();
        assertThat(all.bytesCopied()).isZero();
        fabric.drain();
    }

    /** What it has registered is given back, also what was for bytes only. */
    @Test
    void shouldGiveLocalMemoryBack()
    {
        prepare(2, 0, 1);
        final LocalDomain domain = new LocalDomain();
        all = new RemoteReconciliation(
            domain, GROUP, List.of(table()), ports.clone(), enteringPort,
            ByteRanges.of(CHUNKS, CHUNK_BYTES));
        assertThat(domain.openRegions()).isEqualTo(3);
        all.close();
        all = null;
        assertThat(domain.openRegions()).isZero();
    }

    /** A group has leased nothing, and has no table. */
    @Test
    void shouldBeDoneAtOnceWithoutChunks()
    {
        prepare(1, -1, 1);
        all = new RemoteReconciliation(
            new LocalDomain(), GROUP, List.of(), ports.clone(), enteringPort, ByteRanges.NONE);
        assertThat(all.isDone()).isTrue();
    }
}
