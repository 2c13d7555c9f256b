package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.MemoryCalls;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** To bring memory near is no request: whatever is asked for, nothing follows from it. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftPreloadTest
{
    private static final QueuePairCapabilities DEPTHS = new QueuePairCapabilities(16, 16, 64, 16);
    private static final int BYTES = 256;

    private final WorkCompletions completions = new WorkCompletions(16);

    @Test
    void shouldNotMindWhatIsNotThere()
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
            Device a = fabric.openDevice("a");
            Device b = fabric.openDevice("b");
            Endpoint from = new Endpoint(a, AccessFlags.ALL_REMOTE, BYTES, DEPTHS);
            Endpoint to = new Endpoint(b, AccessFlags.ALL_REMOTE, BYTES, DEPTHS))
        {
            final QueuePair queuePair = from.queuePair;
            queuePair.preload(to.address(0), BYTES, to.key());
            SoftConnections.connect(from, to);
            assertThat(read(from, to.address(0), to.key())).isEqualTo(WorkCompletionStatus.SUCCESS);
            final long doorbells = queuePair.counters().doorbells;
            final long bytes = queuePair.counters().payloadBytes;

            queuePair.preload(to.address(0), BYTES, to.key());
            queuePair.preload(to.address(0) - 1, BYTES, to.key());
            queuePair.preload(to.address(1), BYTES, to.key());
            queuePair.preload(to.address(0), 0, to.key());
            queuePair.preload(to.address(0), -1, to.key());
            queuePair.preload(to.address(0), Integer.MAX_VALUE, to.key());
            queuePair.preload(0, BYTES, to.key() + 1);
            queuePair.preload(0, BYTES, -1);

            assertThat(queuePair.state()).isEqualTo(QueuePairState.RTS);
            assertThat(queuePair.counters().doorbells).isEqualTo(doorbells);
            assertThat(queuePair.counters().payloadBytes).isEqualTo(bytes);
            assertThat(from.completions.poll(completions)).isZero();
        }
    }

    @Test
    void shouldNotMindMemoryThatIsGone()
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
            Device a = fabric.openDevice("a");
            Device b = fabric.openDevice("b");
            Endpoint from = new Endpoint(a, AccessFlags.ALL_REMOTE, BYTES, DEPTHS);
            Endpoint to = new Endpoint(b, AccessFlags.ALL_REMOTE, BYTES, DEPTHS))
        {
            SoftConnections.connect(from, to);
            final MemoryRegion region = to.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE);
            final Arena arena = Arena.ofShared();
            final MemoryRegion mapped =
                to.domain.register(arena.allocate(4096, MemoryCalls.pageBytes()), AccessFlags.ALL_REMOTE);
            assertThat(read(from, region.address(), region.remoteKey())).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(read(from, mapped.address(), mapped.remoteKey())).isEqualTo(WorkCompletionStatus.SUCCESS);

            mapped.close();
            arena.close();
            region.close();
            from.queuePair.preload(region.address(), BYTES, region.remoteKey());
            from.queuePair.preload(mapped.address(), BYTES, mapped.remoteKey());

            assertThat(from.queuePair.state()).isEqualTo(QueuePairState.RTS);
            assertThat(read(from, region.address(), region.remoteKey())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    private int read(final Endpoint from, final long address, final int key)
    {
        from.queuePair.begin();
        from.queuePair.read(1, SendFlags.SIGNALED, from.address(0), Long.BYTES, from.key(), address, key);
        from.queuePair.complete();
        return SoftConnections.awaitStatus(from, completions);
    }
}
