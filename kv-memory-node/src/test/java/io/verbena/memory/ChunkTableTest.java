package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class ChunkTableTest
{
    private static final int LENGTH = 1 << 16;
    private static final PeerIdentity ANN = new PeerIdentity(5, 50);
    private static final PeerIdentity BEN = new PeerIdentity(6, 60);
    private static final PeerIdentity CAT = new PeerIdentity(7, 70);

    private final MemorySegment region = region(8);
    private final ChunkTable table = table(region, 8);

    private static MemorySegment region(final int chunkCount)
    {
        return Arena.ofAuto().allocate(4096 + (long)chunkCount * (LENGTH + ChunkDescriptor.HEADER_BYTES), 4096);
    }

    private static ChunkTable table(final MemorySegment region, final int chunkCount)
    {
        final long headersOffset = 4096 + (long)chunkCount * LENGTH;
        return new ChunkTable(4096, LENGTH, chunkCount, new ChunkHeaders(region, headersOffset, chunkCount));
    }

    @Test
    void shouldGiveNeighboursAsOneRunWhenFree()
    {
        assertThat(table.lease(ANN, 0, ChunkPurpose.BLOCKS, 3, false)).containsExactly(new ChunkRun(4096, 3));
        assertThat(table.lease(BEN, 0, ChunkPurpose.INDEX, 2, true))
            .containsExactly(new ChunkRun(4096 + 3 * LENGTH, 2));
        assertThat(table.freeCount()).isEqualTo(3);
        assertThat(table.blockCount()).isEqualTo(3);
        assertThat(table.indexCount()).isEqualTo(2);
        assertThat(table.blockChunksByOwner()).isEqualTo(Map.of(ANN, 3));
    }

    @Test
    void shouldLeaseNothingWhenThereIsNotEnough()
    {
        table.lease(ANN, 0, ChunkPurpose.BLOCKS, 6, false);

        final ControlException refusal =
            catchThrowableOfType(ControlException.class, () -> table.lease(BEN, 0, ChunkPurpose.BLOCKS, 3, false));

        assertThat(refusal.status()).isEqualTo(ControlStatus.EXHAUSTED);
        assertThat(refusal).hasMessageContaining("3 chunks").hasMessageContaining("2 of 8 are free");
        assertThat(table.freeCount()).isEqualTo(2);
    }

    @Test
    void shouldRefuseNeighboursButGiveScatteredOnesWhenFragmented()
    {
        table.lease(ANN, 0, ChunkPurpose.BLOCKS, 8, false);
        table.takeBack(ANN, List.of(new ChunkRun(4096, 1), new ChunkRun(4096 + 2 * LENGTH, 1)), 0);

        final ControlException refusal =
            catchThrowableOfType(ControlException.class, () -> table.lease(BEN, 0, ChunkPurpose.INDEX, 2, true));

        assertThat(refusal.status()).isEqualTo(ControlStatus.EXHAUSTED);
        assertThat(table.lease(BEN, 0, ChunkPurpose.INDEX, 2, false))
            .containsExactly(new ChunkRun(4096, 1), new ChunkRun(4096 + 2 * LENGTH, 1));
    }

    @Test
    void shouldReturnNothingWhenOneChunkIsNotTheCallers()
    {
        table.lease(ANN, 0, ChunkPurpose.BLOCKS, 2, false);
        table.lease(BEN, 0, ChunkPurpose.BLOCKS, 2, false);

        assertRefused(ANN, new ChunkRun(4096, 3));
        assertRefused(ANN, new ChunkRun(4096, 1), new ChunkRun(4096, 1));
        assertRefused(ANN, new ChunkRun(4096 + 5 * LENGTH, 1));
        assertRefused(ANN, new ChunkRun(4097, 1));
        assertRefused(ANN, new ChunkRun(0, 1));
        assertRefused(ANN, new ChunkRun(4096, 0));
        assertRefused(ANN, new ChunkRun(4096, Integer.MAX_VALUE));
        assertRefused(ANN, new ChunkRun(Long.MAX_VALUE - 4095, 1));
        assertRefused(new PeerIdentity(5, 51), new ChunkRun(4096, 1));
        assertThat(table.freeCount()).isEqualTo(4);
    }

    @Test
    void shouldRefuseLeaseWhenCountMakesNoSense()
    {
        for (final int count : new int[]{0, -1, Integer.MIN_VALUE})
        {
            assertThat(catchThrowableOfType(
                ControlException.class, () -> table.lease(ANN, 0, ChunkPurpose.BLOCKS, count, false)).status())
                .isEqualTo(ControlStatus.INVALID_REQUEST);
        }
    }

    @Test
    void shouldLetAnybodyReturnAnIndexWhenATableIsDropped()
    {
        table.lease(ANN, 0, ChunkPurpose.INDEX, 2, true);

        table.takeBack(BEN, List.of(new ChunkRun(4096, 2)), 0);

        assertThat(table.freeCount()).isEqualTo(8);
    }

    @Test
    void shouldTakeAChunkBackOnceHoweverOftenItIsReturned()
    {
        final List<ChunkRun> runs = table.lease(ANN, 0, ChunkPurpose.INDEX, 8, false);
        final long lease = table.newestLease();
        table.takeBack(BEN, runs, lease);
        assertThat(table.freeCount()).isEqualTo(8);
        table.takeBack(BEN, runs, lease);
        table.lease(ANN, 0, ChunkPurpose.INDEX, 3, false);
        table.lease(CAT, 0, ChunkPurpose.BLOCKS, 2, false);

        table.takeBack(BEN, runs, lease);

        assertThat(table.freeCount()).isEqualTo(3);
        assertThat(table.indexCount()).isEqualTo(3);
        assertThat(table.blockCount()).isEqualTo(2);
    }

    @Test
    void shouldGiveTheSameChunksWhenARequestComesAgain()
    {
        final List<ChunkRun> runs = table.lease(ANN, 1, ChunkPurpose.BLOCKS, 3, false);

        assertThat(table.lease(ANN, 1, ChunkPurpose.BLOCKS, 3, false)).isEqualTo(runs);
        assertThat(table.blockCount()).isEqualTo(3);
        assertThat(table.lease(BEN, 1, ChunkPurpose.BLOCKS, 1, false)).isEqualTo(List.of(new ChunkRun(200_704, 1)));
        assertThat(table.lease(ANN, 2, ChunkPurpose.BLOCKS, 1, false)).isEqualTo(List.of(new ChunkRun(266_240, 1)));
    }

    @Test
    void shouldLeaseAnewWhenARefusedRequestComesAgain()
    {
        table.lease(BEN, 0, ChunkPurpose.BLOCKS, 8, false);
        catchThrowableOfType(ControlException.class, () -> table.lease(ANN, 1, ChunkPurpose.BLOCKS, 1, false));
        table.takeBack(BEN, List.of(new ChunkRun(4096, 1)), 0);

        assertThat(table.lease(ANN, 1, ChunkPurpose.BLOCKS, 1, false)).isEqualTo(List.of(new ChunkRun(4096, 1)));
    }

    @Test
    void shouldLetOneReaperAtATimeClaimOrphans()
    {
        table.lease(ANN, 0, ChunkPurpose.BLOCKS, 2, false);
        final List<ChunkRun> runs = List.of(new ChunkRun(4096, 8));
        assertThat(table.claim(BEN, runs)).isEmpty();

        table.orphan(ANN);

        assertThat(table.claim(BEN, runs)).containsExactly(new ChunkRun(4096, 2));
        assertThat(table.claim(BEN, runs)).containsExactly(new ChunkRun(4096, 2));
        assertThat(table.claim(CAT, runs)).isEmpty();
        assertRefused(CAT, new ChunkRun(4096, 1));
        assertThat(catchThrowableOfType(
            ControlException.class, () -> table.adopt(CAT, List.of(new ChunkRun(4096, 1)))).status())
            .isEqualTo(ControlStatus.INVALID_REQUEST);
        table.takeBack(BEN, List.of(new ChunkRun(4096, 1)), 0);
        table.adopt(BEN, List.of(new ChunkRun(4096 + LENGTH, 1)));
        table.adopt(BEN, List.of(new ChunkRun(4096 + LENGTH, 1)));
        assertThat(table.freeCount()).isEqualTo(7);
        assertThat(table.blockChunksByOwner()).isEqualTo(Map.of(BEN, 1));
    }

    @Test
    void shouldLetAnotherReaperClaimWhenTheFirstHasEnded()
    {
        table.lease(ANN, 0, ChunkPurpose.BLOCKS, 1, false);
        table.orphan(ANN);
        table.claim(BEN, List.of(new ChunkRun(4096, 1)));

        table.orphan(BEN);

        assertThat(table.claim(CAT, List.of(new ChunkRun(4096, 1)))).containsExactly(new ChunkRun(4096, 1));
    }

    @Test
    void shouldLetAnOwnerCloseItsOwnChunksButNobodyElses()
    {
        table.lease(ANN, 0, ChunkPurpose.BLOCKS, 2, false);
        table.lease(BEN, 0, ChunkPurpose.BLOCKS, 1, false);

        assertThat(table.claim(ANN, List.of(new ChunkRun(4096, 8)))).containsExactly(new ChunkRun(4096, 2));
        assertThat(table.orphanCount()).isEqualTo(2);
        table.adopt(ANN, List.of(new ChunkRun(4096, 2)));
        assertThat(table.blockChunksByOwner()).isEqualTo(Map.of(ANN, 2, BEN, 1));
    }

    @Test
    void shouldShowEveryChangeInTheHeaders()
    {
        final long before = SuperblockDescriptor.viewVersion(region);
        table.lease(ANN, 0, ChunkPurpose.BLOCKS, 2, false);
        table.lease(ANN, 0, ChunkPurpose.INDEX, 1, false);
        assertThat(header(1)).isEqualTo("blocks 5/50 0/0 1");
        assertThat(header(2)).isEqualTo("index 5/50 0/0 2");
        table.orphan(ANN);
        assertThat(header(1)).isEqualTo("orphan 5/50 0/0 1");
        assertThat(header(2)).isEqualTo("index 0/0 0/0 2");
        table.claim(BEN, List.of(new ChunkRun(4096 + LENGTH, 1)));
        assertThat(header(1)).isEqualTo("orphan 5/50 6/60 1");
        table.adopt(BEN, List.of(new ChunkRun(4096 + LENGTH, 1)));
        assertThat(header(1)).isEqualTo("blocks 6/60 0/0 1");
        table.takeBack(BEN, List.of(new ChunkRun(4096 + LENGTH, 1)), 0);
        assertThat(header(1)).isEqualTo("free 0/0 0/0 1");
        assertThat(header(7)).isEqualTo("free 0/0 0/0 0");
        assertThat(SuperblockDescriptor.viewVersion(region)).isEqualTo(before + 6);
    }

    private String header(final int index)
    {
        final UnsafeBuffer buffer = new UnsafeBuffer(region.address(), (int)region.byteSize());
        final int offset = 4096 + 8 * LENGTH + index * ChunkDescriptor.HEADER_BYTES;
        ChunkDescriptor.check(buffer, offset);
        return ChunkDescriptor.stateName(ChunkDescriptor.state(buffer, offset)) + ' ' +
            ChunkDescriptor.ownerNodeId(buffer, offset) + '/' + ChunkDescriptor.ownerIncarnation(buffer, offset) + ' ' +
            ChunkDescriptor.reaperNodeId(buffer, offset) + '/' + ChunkDescriptor.reaperIncarnation(buffer, offset) +
            ' ' + ChunkDescriptor.leaseNumber(buffer, offset);
    }

    @Test
    void shouldMakeOrphansOfBlocksButNotOfIndexesWhenOwnerIsFenced()
    {
        table.lease(ANN, 0, ChunkPurpose.BLOCKS, 2, false);
        table.lease(ANN, 0, ChunkPurpose.INDEX, 1, false);
        table.lease(BEN, 0, ChunkPurpose.BLOCKS, 1, false);
        table.lease(new PeerIdentity(5, 70), 0, ChunkPurpose.BLOCKS, 1, false);

        table.orphan(ANN);

        assertThat(table.orphanCount()).isEqualTo(2);
        assertThat(table.blockCount()).isEqualTo(2);
        assertThat(table.indexCount()).isEqualTo(1);
        assertRefused(ANN, new ChunkRun(4096, 1));
    }

    @Test
    void shouldNeverGiveAChunkToTwoOwnersWhenLeasesComeAndGo()
    {
        final long seed = 7;
        final Random random = new Random(seed);
        final ChunkTable chunks = table(region(64), 64);
        final Map<Long, PeerIdentity> owners = new HashMap<>();
        final PeerIdentity[] nodes = {ANN, BEN, new PeerIdentity(7, 70)};

        for (int i = 0; i < 20_000; i++)
        {
            final PeerIdentity node = nodes[random.nextInt(nodes.length)];

            if (random.nextBoolean())
            {
                leaseRandomly(chunks, owners, node, random);
            }
            else
            {
                returnRandomly(chunks, owners, node, random);
            }

            assertThat(chunks.freeCount()).as("seed %d step %d", seed, i).isEqualTo(64 - owners.size());
        }
    }

    private static void leaseRandomly(
        final ChunkTable chunks, final Map<Long, PeerIdentity> owners, final PeerIdentity node, final Random random)
    {
        final int count = 1 + random.nextInt(6);

        try
        {
            int got = 0;

            for (final ChunkRun run : chunks.lease(node, 0, ChunkPurpose.BLOCKS, count, random.nextBoolean()))
            {
                for (int j = 0; j < run.chunkCount(); j++)
                {
                    assertThat(owners.put(run.offset() + (long)j * LENGTH, node)).isNull();
                    got++;
                }
            }

            assertThat(got).isEqualTo(count);
        }
        catch (final ControlException ex)
        {
            assertThat(ex.status()).isEqualTo(ControlStatus.EXHAUSTED);
        }
    }

    private static void returnRandomly(
        final ChunkTable chunks, final Map<Long, PeerIdentity> owners, final PeerIdentity node, final Random random)
    {
        final List<ChunkRun> runs = new ArrayList<>();
        owners.forEach((offset, owner) ->
        {
            if (owner.equals(node) && random.nextBoolean())
            {
                runs.add(new ChunkRun(offset, 1));
            }
        });
        chunks.takeBack(node, runs, 0);
        runs.forEach((run) -> owners.remove(run.offset()));
    }

    private void assertRefused(final PeerIdentity caller, final ChunkRun... runs)
    {
        final ControlException refusal =
            catchThrowableOfType(ControlException.class, () -> table.takeBack(caller, List.of(runs), 0));
        assertThat(refusal).as("%s", List.of(runs)).isNotNull();
        assertThat(refusal.status()).isEqualTo(ControlStatus.INVALID_REQUEST);
    }
}
