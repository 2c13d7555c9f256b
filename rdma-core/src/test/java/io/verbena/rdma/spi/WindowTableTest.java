package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Bindings: what a bind needs, what an access through one may do, and how it is taken back. */
class WindowTableTest
{
    private static final int QUEUE_PAIR = 5;
    private static final int REGION_FLAGS = AccessFlags.MW_BIND | AccessFlags.LOCAL_WRITE;
    private static final int REGION_BYTES = 256;

    private final WindowTable table = new WindowTable();
    private final KeyTable regions = new KeyTable();

    private RegisteredRegion region(final int flags)
    {
        final MemorySegment segment = Arena.ofAuto().allocate(REGION_BYTES);
        return regions.add(segment, 4096, flags, null, regions::remove);
    }

    private static WorkRequest bind(final BoundWindow window, final long address, final long bytes, final int rights)
    {
        final WorkRequest request = new WorkRequest();
        request.operation = WorkRequest.BIND_MW;
        request.remoteKey = window.nextRemoteKey();
        request.remoteAddress = address;
        request.windowBytes = bytes;
        request.accessFlags = rights;
        return request;
    }

    private static int bind(final BoundWindow window, final RegisteredRegion region, final WorkRequest request)
    {
        return window.bind(request, region, null, QUEUE_PAIR);
    }

    @Test
    void shouldDrawRandomKeys()
    {
        final WindowTable random = new WindowTable(new Random(4711)::nextInt);
        final Set<Integer> keys = new HashSet<>();
        int backwardSteps = 0;
        int last = 0;
        for (int i = 0; i < 3_000; i++)
        {
            final int key = random.add(null, random::remove).remoteKey();
            assertThat(WindowTable.isWindowKey(key)).isTrue();
            assertThat(keys.add(key)).isTrue();
            backwardSteps += key < last ? 1 : 0;
            last = key;
        }
        assertThat(backwardSteps).isBetween(1_300, 1_700);
    }

    @Test
    void shouldNotUnbindByAnotherQueuePair()
    {
        final BoundWindow window = table.add(null, table::remove);
        final RegisteredRegion region = region(REGION_FLAGS);
        assertThat(bind(window, region, bind(window, 4096, 64, AccessFlags.REMOTE_READ)))
            .isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(window.bind(bind(window, 4096, 0, 0), region, null, QUEUE_PAIR + 1))
            .isEqualTo(WorkCompletionStatus.MW_BIND_ERR);
        assertThat(window.binding()).isNotNull();
        assertThat(window.bind(bind(window, 4096, 0, 0), region, null, QUEUE_PAIR))
            .isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(window.binding()).isNull();
    }

    @Test
    void shouldFindWindowUnderItsBoundKeyOnly()
    {
        final BoundWindow window = table.add(null, table::remove);
        assertThat(WindowTable.isWindowKey(window.remoteKey())).isTrue();
        assertThat(table.find(window.remoteKey())).isNull();
        final RegisteredRegion region = region(REGION_FLAGS);
        assertThat(WindowTable.isWindowKey(region.remoteKey())).isFalse();
        assertThat(regions.find(window.remoteKey())).isNull();
        final int old = window.remoteKey();
        assertThat(bind(window, region, bind(window, 4096, 64, AccessFlags.REMOTE_READ))).isZero();
        assertThat(window.remoteKey()).isNotEqualTo(old);
        assertThat(window.remoteKey() ^ old).isBetween(1, 255);
        assertThat(table.find(window.remoteKey())).isSameAs(window);
        assertThat(table.find(old)).isNull();
        window.unbind();
        assertThat(table.find(window.remoteKey())).isNull();
        window.close();
        window.close();
    }

    @Test
    void shouldRefuseBindsThatLackSomething()
    {
        final BoundWindow window = table.add(null, table::remove);
        final RegisteredRegion region = region(REGION_FLAGS);
        final RegisteredRegion unbindable = region(AccessFlags.LOCAL_WRITE);
        final RegisteredRegion readOnly = region(AccessFlags.MW_BIND);
        final int error = WorkCompletionStatus.MW_BIND_ERR;
        assertThat(bind(window, unbindable, bind(window, 4096, 8, AccessFlags.REMOTE_READ))).isEqualTo(error);
        assertThat(bind(window, readOnly, bind(window, 4096, 8, AccessFlags.REMOTE_WRITE))).isEqualTo(error);
        assertThat(bind(window, readOnly, bind(window, 4096, 8, AccessFlags.REMOTE_ATOMIC))).isEqualTo(error);
        assertThat(bind(window, region, bind(window, 4095, 8, AccessFlags.REMOTE_READ))).isEqualTo(error);
        assertThat(bind(window, region, bind(window, 4096, REGION_BYTES + 1, 0))).isEqualTo(error);
        assertThat(bind(window, null, bind(window, 4096, 8, 0))).isEqualTo(error);
        final WorkRequest sameKey = bind(window, 4096, 8, 0);
        sameKey.remoteKey = window.remoteKey();
        assertThat(bind(window, region, sameKey)).isEqualTo(error);
        final WorkRequest foreignKey = bind(window, 4096, 8, 0);
        foreignKey.remoteKey += 1 << 8;
        assertThat(bind(window, region, foreignKey)).isEqualTo(error);
        assertThat(bind(window, readOnly, bind(window, 4096, 8, AccessFlags.REMOTE_READ))).isZero();
        assertThat(bind(window, region, bind(window, 4096, 8, 0))).as("bound already").isEqualTo(error);
    }

    @Test
    void shouldAllowAccessInsideBoundsRightsAndQueuePairOnly()
    {
        final BoundWindow window = table.add(null, table::remove);
        final RegisteredRegion region = region(REGION_FLAGS);
        bind(window, region, bind(window, 4096 + 64, 64, AccessFlags.REMOTE_READ));
        final int key = window.remoteKey();
        final int read = AccessFlags.REMOTE_READ;
        final WindowBinding binding = window.bindingFor(key, null, QUEUE_PAIR, read, 4160, 64);
        assertThat(binding.region()).isSameAs(region);
        assertThat(binding.regionAddress(4160)).isEqualTo(4160);
        assertThat(window.bindingFor(key, null, QUEUE_PAIR, read, 4160, 65)).isNull();
        assertThat(window.bindingFor(key, null, QUEUE_PAIR, read, 4159, 8)).isNull();
        assertThat(window.bindingFor(key, null, QUEUE_PAIR + 1, read, 4160, 8)).isNull();
        assertThat(window.bindingFor(key, null, QUEUE_PAIR, AccessFlags.REMOTE_WRITE, 4160, 8)).isNull();
        assertThat(window.bindingFor(key ^ 1, null, QUEUE_PAIR, read, 4160, 8)).isNull();
        assertThat(window.mayInvalidate(key, null, QUEUE_PAIR)).isTrue();
        assertThat(window.mayInvalidate(key, null, QUEUE_PAIR + 1)).isFalse();
        table.unbindAll(QUEUE_PAIR + 1);
        assertThat(window.bindingFor(key, null, QUEUE_PAIR, read, 4160, 8)).isNotNull();
        table.unbindAll(QUEUE_PAIR);
        assertThat(window.bindingFor(key, null, QUEUE_PAIR, read, 4160, 8)).isNull();
    }

    @Test
    void shouldCountFromZeroWhenZeroBased()
    {
        final BoundWindow window = table.add(null, table::remove);
        final int rights = AccessFlags.REMOTE_READ | AccessFlags.ZERO_BASED;
        bind(window, region(REGION_FLAGS), bind(window, 4096 + 64, 64, rights));
        final WindowBinding binding =
            window.bindingFor(window.remoteKey(), null, QUEUE_PAIR, AccessFlags.REMOTE_READ, 8, 8);
        assertThat(binding.regionAddress(8)).isEqualTo(4096 + 72);
    }

    @Test
    void shouldKeepRegionOpenWhileWindowIsBound()
    {
        final BoundWindow window = table.add(null, table::remove);
        final RegisteredRegion region = region(REGION_FLAGS);
        bind(window, region, bind(window, 4096, 64, 0));
        assertThatThrownBy(region::close).isInstanceOf(RdmaException.class).hasMessageContaining("bound");
        assertThat(regions.find(region.remoteKey())).isSameAs(region);
        assertThat(bind(window, region, bind(window, 0, 0, 0))).as("length 0 unbinds").isZero();
        region.close();
        assertThat(bind(window, region, bind(window, 4096, 64, 0))).isEqualTo(WorkCompletionStatus.MW_BIND_ERR);
    }

    @Test
    void shouldGiveNoKeyTwiceSoonAndRefuseTooMany()
    {
        final Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < 2_000; i++)
        {
            final BoundWindow window = table.add(null, table::remove);
            assertThat(keys.add(window.remoteKey())).isTrue();
            window.close();
        }
        final WindowTable full = new WindowTable();
        for (int i = 0; i < WindowTable.MAX_WINDOWS; i++)
        {
            full.add(null, full::remove);
        }
        assertThatThrownBy(() -> full.add(null, full::remove)).isInstanceOf(RdmaException.class);
    }
}
