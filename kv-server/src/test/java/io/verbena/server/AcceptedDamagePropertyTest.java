package io.verbena.server;

import io.verbena.client.KvCorruptException;
import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.memory.MemoryNodeException;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Damage of the memory that a node finds again, and that it is asked to accept. */
@Timeout(180)
class AcceptedDamagePropertyTest extends MemoryRestartRig
{
    private static final int RECORDS = 40;
    private static final int ROUNDS = 24;
    /** Of a slot word: its kind. One that becomes an undecided insert is not told from one that a dead writer left. */
    private static final int KIND_BYTE = 7;

    /** Where the memory is damaged. */
    private enum Place
    {
        SUPERBLOCK, CHUNK_HEADER, SUBTABLE_HEADER, SLOT, BLOCK
    }

    private static void flipHeaders(final MemorySegment region, final int state)
    {
        final Superblock superblock = SuperblockDescriptor.read(region);
        forgetLastHeader(region);
        for (int chunk = 0; chunk < superblock.chunkCount(); chunk++)
        {
            final long header = superblock.chunkHeadersOffset() + (long)chunk * ChunkDescriptor.HEADER_BYTES;
            if (state == region.get(ValueLayout.JAVA_BYTE, header + ChunkDescriptor.STATE_OFFSET))
            {
                flip(region, header + ChunkDescriptor.LEASE_NUMBER_OFFSET);
            }
        }
    }

    /** What is in a chunk has checksums of its own: it is served, and only the chunk's memory is not used again. */
    @ParameterizedTest
    @ValueSource(ints = {ChunkDescriptor.STATE_BLOCKS, ChunkDescriptor.STATE_INDEX})
    void shouldServeWhatIsInChunksWithDamagedHeadersThatAreAccepted(final int state) throws IOException
    {
        end();
        change((region) -> flipHeaders(region, state));
        assertThatThrownBy(this::openMemory).isInstanceOf(MemoryNodeException.class)
            .hasMessageContaining("chunk header is damaged").hasMessageContaining("--accept-damage");

        final MemoryNodeRole role = openMemory(true);
        memory = start(role);
        assertThat(completeSince()).as("copies are compared by these headers").isEqualTo(
            ((Number)role.health().get("incarnation")).longValue());
        final boolean isIndex = ChunkDescriptor.STATE_INDEX == state;
        assertThat((int)role.health().get("quarantined_chunks") > 0).isEqualTo(!isIndex);
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
        table.put(KEY, KEY);
        table.put(VALUE, VALUE);
        final KvTable other = client.createTable("other", new TableOptions(1_000));
        other.put(KEY, VALUE);
        client.dropTable("other");
        end();

        memory = start(openMemory());
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(KEY);
        assertThat(table.delete(VALUE)).isTrue();
        assertThat(table.get(VALUE)).isEmpty();
    }

    /** Else it would be written once more, and not be damaged. */
    private static void forgetLastHeader(final MemorySegment region)
    {
        region.asSlice(SuperblockDescriptor.JOURNAL_OFFSET, Long.BYTES + ChunkDescriptor.HEADER_BYTES).fill((byte)0);
    }

    private static List<Long> indexes(final MemorySegment region)
    {
        final Superblock superblock = SuperblockDescriptor.read(region);
        return IntStream.range(0, superblock.chunkCount())
            .filter((chunk) -> ChunkDescriptor.STATE_INDEX == region.get(ValueLayout.JAVA_BYTE,
                superblock.chunkHeadersOffset() + (long)chunk * ChunkDescriptor.HEADER_BYTES +
                    ChunkDescriptor.STATE_OFFSET))
            .mapToObj((chunk) -> superblock.chunksOffset() + (long)chunk * superblock.chunkLengthBytes()).toList();
    }

    private static List<Long> slots(final MemorySegment region)
    {
        final int chunkLengthBytes = SuperblockDescriptor.read(region).chunkLengthBytes();
        return indexes(region).stream().flatMap((start) -> LongStream.iterate(
            start + SubtableDescriptor.GROUPS_OFFSET, (at) -> at < start + chunkLengthBytes, (at) -> at + Long.BYTES)
            .filter((at) -> 0 != at % BucketDescriptor.BUCKET_BYTES &&
                SlotWord.isCommitted(region.get(ValueLayout.JAVA_LONG, at))).boxed()).toList();
    }

    private static long place(final MemorySegment region, final Place place, final SplittableRandom random)
    {
        final Superblock superblock = SuperblockDescriptor.read(region);
        final List<Long> slots = slots(region);
        final long slot = slots.get(random.nextInt(slots.size()));
        return switch (place)
        {
            case SUPERBLOCK -> random.nextInt(SuperblockDescriptor.LENGTH);
            case CHUNK_HEADER -> superblock.chunkHeadersOffset() +
                random.nextInt(superblock.chunkCount() * ChunkDescriptor.HEADER_BYTES);
            case SUBTABLE_HEADER -> indexes(region).get(random.nextInt(indexes(region).size())) +
                random.nextInt(SubtableDescriptor.HEADER_BYTES);
            case SLOT -> slot + random.nextInt(KIND_BYTE);
            case BLOCK -> SlotWord.blockOffset(region.get(ValueLayout.JAVA_LONG, slot)) +
                random.nextInt(BlockDescriptor.KEY_OFFSET + 2);
        };
    }

    private static byte[] key(final int number)
    {
        return new byte[]{(byte)number, 9};
    }

    private static byte[] value(final int number)
    {
        return new byte[]{(byte)~number, (byte)number, 7};
    }

    /** Each time one byte. The node says in one line why it does not start; or each key is right, or a typed error. */
    @Test
    void shouldRefuseOrServeEachIntactKeyAndNoWrongOne() throws IOException
    {
        for (int i = 0; i < RECORDS; i++)
        {
            table.put(key(i), value(i));
        }
        final SplittableRandom random = new SplittableRandom(1);
        final Map<Place, Integer> served = new EnumMap<>(Place.class);
        for (int round = 0; round < ROUNDS; round++)
        {
            final Place place = Place.values()[round % Place.values().length];
            final long[] at = new long[1];
            final byte[] damaged = new byte[1];
            end();
            change((region) ->
            {
                forgetLastHeader(region);
                at[0] = place(region, place, random);
                flip(region, at[0]);
                damaged[0] = region.get(ValueLayout.JAVA_BYTE, at[0]);
            });
            final String refusal = startOrRefuse();
            if (refusal.isEmpty())
            {
                served.merge(place, 1, Integer::sum);
                checkAll(place);
                end();
            }
            else
            {
                assertThat(refusal).as("%s at 0x%x", place, at[0]).hasLineCount(1);
            }
            change((region) ->
            {
                // A header that was accepted is whole again, and of another state.
                if (damaged[0] == region.get(ValueLayout.JAVA_BYTE, at[0]) &&
                    (Place.CHUNK_HEADER != place || !refusal.isEmpty()))
                {
                    flip(region, at[0]);
                }
            });
            memory = start(openMemory(true));
        }
        assertThat(served).as("in each place, but in headers of subtables").containsKeys(
            Place.SUPERBLOCK, Place.CHUNK_HEADER, Place.BLOCK);
    }

    /** Why it does not start; empty when it does. */
    private String startOrRefuse()
    {
        final MemoryNodeRole role;
        try
        {
            role = openMemory(true);
        }
        catch (final MemoryNodeException ex)
        {
            return ex.getMessage();
        }
        memory = RoleRunner.start(role, false);
        return memory.awaitReady(STEP_NS) ? "" : memory.failure();
    }

    private void checkAll(final Place place)
    {
        int failed = 0;
        for (int i = 0; i < RECORDS; i++)
        {
            try
            {
                assertThat(table.get(key(i))).as("key %d, damage of %s", i, place).isPresent()
                    .get().extracting(KvEntry::value).isEqualTo(value(i));
            }
            catch (final KvCorruptException ex)
            {
                failed++;
            }
        }
        assertThat(failed).as("damage of %s", place).isLessThanOrEqualTo(
            Place.SLOT == place || Place.BLOCK == place ? 1 : 0);
    }
}
