package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Regions and windows under keys that are random. */
class RandomKeyTableTest
{
    private static final MemorySegment MEMORY = Arena.ofAuto().allocate(64);

    private static RegisteredRegion add(final RandomKeyTable table)
    {
        return table.add(MEMORY, MEMORY.address(), AccessFlags.LOCAL_WRITE, null, (region) ->
        {
        });
    }

    @Test
    void shouldFindExactlyWhatIsOpen()
    {
        // Few numbers, so that slots and keys collide all the time.
        final SplittableRandom random = new SplittableRandom(4);
        final RandomKeyTable table = new RandomKeyTable(() -> random.nextInt(3_000) * 64);
        final List<RegisteredRegion> open = new ArrayList<>();
        final List<RegisteredRegion> closed = new ArrayList<>();
        for (int i = 0; i < 3_000; i++)
        {
            if (open.size() < 500 && (open.isEmpty() || random.nextInt(3) > 0))
            {
                final RegisteredRegion added = add(table);
                assertThat(added.localKey()).isNotZero();
                assertThat(open).noneMatch((region) -> region.localKey() == added.localKey());
                open.add(added);
            }
            else
            {
                final RegisteredRegion region = open.remove(random.nextInt(open.size()));
                table.remove(region);
                table.remove(region);
                closed.add(region);
            }
        }
        open.forEach((region) -> assertThat(table.find(region.localKey())).isSameAs(region));
        closed.forEach((region) -> assertThat(table.find(region.localKey())).isNotSameAs(region));
        assertThat(table.find(0)).isNull();
    }

    @Test
    void shouldGiveRegionsKeysWithoutAndWindowsKeysWithMark()
    {
        final IntSupplier random = () -> -1;
        assertThat(WindowTable.isWindowKey(add(new RandomKeyTable(random)).remoteKey())).isFalse();
        final BoundWindow window = new RandomWindowTable(random).add(null, (closed) ->
        {
        });
        assertThat(WindowTable.isWindowKey(window.remoteKey())).isTrue();
        assertThat(window.nextRemoteKey() >>> 8).isEqualTo(window.remoteKey() >>> 8);
    }

    @Test
    void shouldRefuseMoreThanFit()
    {
        final SplittableRandom random = new SplittableRandom(5);
        final ScatteredTable<Integer> table = new ScatteredTable<>(random::nextInt, 3, "things")
        {
            @Override
            int number(final Integer object)
            {
                return object;
            }
        };
        for (int i = 0; i < 3; i++)
        {
            table.put(table.freeNumber(16));
        }
        assertThatThrownBy(() -> table.freeNumber(16)).isInstanceOf(RdmaException.class)
            .hasMessageContaining("too many things: open=3");
    }
}
