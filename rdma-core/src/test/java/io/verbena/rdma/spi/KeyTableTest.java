package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class KeyTableTest
{
    private final KeyTable table = new KeyTable();
    private final MemorySegment segment = Arena.ofAuto().allocate(64);

    private RegisteredRegion add()
    {
        return table.add(segment, segment.address(), 0, null, table::remove);
    }

    @Test
    void shouldNeverGiveKeyTwiceWhileItsIndexComesRoundOften()
    {
        final Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < 100_000; i++)
        {
            final RegisteredRegion region = add();
            assertThat(keys.add(region.remoteKey())).isTrue();
            assertThat(table.find(region.remoteKey())).isSameAs(region);
            region.close();
            assertThat(table.find(region.remoteKey())).isNull();
        }
        assertThat(keys).doesNotContain(0);
    }

    @Test
    void shouldDrawRandomKeysFromTheWholeTableAndKnowOnlyThoseThatAreOpen()
    {
        final KeyTable random = new KeyTable(new Random(4711)::nextInt);
        final List<RegisteredRegion> regions = new ArrayList<>();
        for (int i = 0; i < 3_000; i++)
        {
            regions.add(random.add(segment, segment.address(), 0, null, random::remove));
        }
        final Set<Integer> keys = new HashSet<>();
        regions.forEach(region -> keys.add(region.remoteKey()));
        assertThat(keys).hasSize(3_000).doesNotContain(0).allMatch(key -> key > 0);
        // Neither of its halves follows the one before: as many step back as forth, index and generation.
        assertThat(backwardSteps(regions, 16)).isBetween(1_300L, 1_700L);
        assertThat(backwardSteps(regions, 0)).isBetween(1_300L, 1_700L);
        final int closed = regions.get(7).remoteKey();
        regions.get(7).close();
        assertThat(random.find(closed)).isNull();
        assertThat(random.find(regions.get(8).remoteKey())).isSameAs(regions.get(8));
    }

    private static long backwardSteps(final List<RegisteredRegion> regions, final int shift)
    {
        return IntStream.range(1, regions.size()).filter(i ->
            (char)(regions.get(i).remoteKey() >>> shift) < (char)(regions.get(i - 1).remoteKey() >>> shift)).count();
    }

    @Test
    void shouldKeepEveryKeyWhenGrowing()
    {
        final List<RegisteredRegion> regions = new ArrayList<>();
        for (int i = 0; i < 3_000; i++)
        {
            regions.add(add());
        }
        for (final RegisteredRegion region : regions)
        {
            assertThat(table.find(region.remoteKey())).isSameAs(region);
        }
        assertThat(table.openRegions()).hasSize(3_000);
        regions.forEach(RegisteredRegion::close);
        assertThat(table.openRegions()).isEmpty();
    }

    @Test
    void shouldFindNothingForKeysNeverGiven()
    {
        add();
        assertThat(table.find(0)).isNull();
        assertThat(table.find(-1)).isNull();
        assertThat(table.find(Integer.MAX_VALUE)).isNull();
        assertThat(table.find(1)).isNull();
    }

    @Test
    void shouldFindRegionByAddressOnlyWhenItHoldsAllBytes()
    {
        final RegisteredRegion region = add();
        assertThat(table.findContaining(segment.address() + 32, 32)).isSameAs(region);
        assertThat(table.findContaining(segment.address() + 32, 33)).isNull();
        assertThat(table.findContaining(segment.address() - 1, 8)).isNull();
    }

    @Test
    void shouldReleaseAgainWhenReleaseFailed()
    {
        final int[] calls = new int[1];
        final RegisteredRegion region = table.add(segment, segment.address(), 0, null, closing ->
        {
            table.remove(closing);
            calls[0]++;
            if (calls[0] == 1)
            {
                throw new RdmaException("busy");
            }
        });
        assertThatThrownBy(region::close).isInstanceOf(RdmaException.class);
        region.close();
        region.close();
        assertThat(calls[0]).isEqualTo(2);
        assertThat(table.openRegions()).isEmpty();
    }
}
