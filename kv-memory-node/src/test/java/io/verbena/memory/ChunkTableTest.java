package io.verbena.memory;

import io.verbena.control.ChunkPurpose;
import io.verbena.control.ChunkRun;
import io.verbena.control.ControlException;
import io.verbena.control.ControlStatus;
import io.verbena.raas.PeerIdentity;
import org.junit.jupiter.api.Test;

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

    private final ChunkTable table = new ChunkTable(4096, LENGTH, 8);

    @Test
    void shouldGiveNeighboursAsOneRunWhenFree()
    {
        assertThat(table.lease(ANN, ChunkPurpose.BLOCKS, 3, false)).containsExactly(new ChunkRun(4096, 3));
        assertThat(table.lease(BEN, ChunkPurpose.INDEX, 2, true)).containsExactly(new ChunkRun(4096 + 3 * LENGTH, 2));
        assertThat(table.freeCount()).isEqualTo(3);
        assertThat(table.blockCount()).isEqualTo(3);
        assertThat(table.indexCount()).isEqualTo(2);
        assertThat(table.blockChunksByOwner()).isEqualTo(Map.of(ANN, 3));
    }

    @Test
    void shouldLeaseNothingWhenThereIsNotEnough()
    {
        table.lease(ANN, ChunkPurpose.BLOCKS, 6, false);

        final ControlException refusal =
            catchThrowableOfType(ControlException.class, () -> table.lease(BEN, ChunkPurpose.BLOCKS, 3, false));

        assertThat(refusal.status()).isEqualTo(ControlStatus.EXHAUSTED);
        assertThat(refusal).hasMessageContaining("3 chunks").hasMessageContaining("2 of 8 are free");
        assertThat(table.freeCount()).isEqualTo(2);
    }

    @Test
    void shouldRefuseNeighboursButGiveScatteredOnesWhenFragmented()
    {
        table.lease(ANN, ChunkPurpose.BLOCKS, 8, false);
        table.takeBack(ANN, List.of(new ChunkRun(4096, 1), new ChunkRun(4096 + 2 * LENGTH, 1)));

        final ControlException refusal =
            catchThrowableOfType(ControlException.class, () -> table.lease(BEN, ChunkPurpose.INDEX, 2, true));

        assertThat(refusal.status()).isEqualTo(ControlStatus.EXHAUSTED);
        assertThat(table.lease(BEN, ChunkPurpose.INDEX, 2, false))
            .containsExactly(new ChunkRun(4096, 1), new ChunkRun(4096 + 2 * LENGTH, 1));
    }

    @Test
    void shouldReturnNothingWhenOneChunkIsNotTheCallers()
    {
        table.lease(ANN, ChunkPurpose.BLOCKS, 2, false);
        table.lease(BEN, ChunkPurpose.BLOCKS, 2, false);

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
                ControlException.class, () -> table.lease(ANN, ChunkPurpose.BLOCKS, count, false)).status())
                .isEqualTo(ControlStatus.INVALID_REQUEST);
        }
    }

    @Test
    void shouldLetAnybodyReturnAnIndexWhenATableIsDropped()
    {
        table.lease(ANN, ChunkPurpose.INDEX, 2, true);

        table.takeBack(BEN, List.of(new ChunkRun(4096, 2)));

        assertThat(table.freeCount()).isEqualTo(8);
    }

    @Test
    void shouldRetainBlocksButNotIndexesWhenOwnerIsFenced()
    {
        table.lease(ANN, ChunkPurpose.BLOCKS, 2, false);
        table.lease(ANN, ChunkPurpose.INDEX, 1, false);
        table.lease(BEN, ChunkPurpose.BLOCKS, 1, false);
        table.lease(new PeerIdentity(5, 70), ChunkPurpose.BLOCKS, 1, false);

        table.retain(ANN);

        assertThat(table.retainedCount()).isEqualTo(2);
        assertThat(table.blockCount()).isEqualTo(2);
        assertThat(table.indexCount()).isEqualTo(1);
        assertRefused(ANN, new ChunkRun(4096, 1));
    }

    @Test
    void shouldNeverGiveAChunkToTwoOwnersWhenLeasesComeAndGo()
    {
        final long seed = 7;
        final Random random = new Random(seed);
        final ChunkTable chunks = new ChunkTable(4096, LENGTH, 64);
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

            for (final ChunkRun run : chunks.lease(node, ChunkPurpose.BLOCKS, count, random.nextBoolean()))
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
        chunks.takeBack(node, runs);
        runs.forEach((run) -> owners.remove(run.offset()));
    }

    private void assertRefused(final PeerIdentity caller, final ChunkRun... runs)
    {
        final ControlException refusal =
            catchThrowableOfType(ControlException.class, () -> table.takeBack(caller, List.of(runs)));
        assertThat(refusal).as("%s", List.of(runs)).isNotNull();
        assertThat(refusal.status()).isEqualTo(ControlStatus.INVALID_REQUEST);
    }
}
