package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Memory that is registered with an engine, and its keys. */
class MemoryRulesTest
{
    private final LossyNetwork network = new LossyNetwork(3, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);

    @Test
    void shouldKeepArenaOpenWhileMemoryIsRegistered()
    {
        final Arena arena = Arena.ofShared();
        final MemoryRegion region = a.domain.register(arena.allocate(4096, 8), AccessFlags.ALL_REMOTE);
        final MemoryRegion other = a.domain.register(region.segment().asSlice(8, 16), AccessFlags.LOCAL_WRITE);
        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        region.close();
        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        assertThat(other.segment().scope().isAlive()).isTrue();
        other.close();
        arena.close();
    }

    @Test
    void shouldRefuseMemoryThatCouldVanishOrNotBeWritten()
    {
        try (Arena confined = Arena.ofConfined(); Arena shared = Arena.ofShared())
        {
            assertRefused(confined.allocate(64, 8), AccessFlags.ALL_REMOTE, "confined");
            assertRefused(shared.allocate(64, 8).asReadOnly(), AccessFlags.ALL_REMOTE, "read-only");
            assertRefused(shared.allocate(64, 8).asReadOnly(), 0, "read-only");
            assertRefused(MemorySegment.ofArray(new byte[64]), AccessFlags.ALL_REMOTE, "native");
        }
        final MemorySegment freed;
        try (Arena shared = Arena.ofShared())
        {
            freed = shared.allocate(64, 8);
        }
        assertRefused(freed, AccessFlags.ALL_REMOTE, "freed");
    }

    private void assertRefused(final MemorySegment segment, final int flags, final String why)
    {
        assertThatThrownBy(() -> a.domain.register(segment, flags)).isInstanceOf(RdmaException.class)
            .hasMessageContaining(why);
    }

    @Test
    void shouldGiveKeysThatDoNotFollowFromOthers()
    {
        final Set<Integer> differences = new HashSet<>();
        final Set<Integer> windowDifferences = new HashSet<>();
        int last = 0;
        int lastWindow = 0;
        for (int i = 0; i < 100; i++)
        {
            final MemoryRegion region = a.domain.register(a.memory().asSlice(0, 64), AccessFlags.ALL_REMOTE);
            final MemoryWindow window = a.domain.allocateMemoryWindow();
            assertThat(WindowTable.isWindowKey(region.remoteKey())).isFalse();
            assertThat(WindowTable.isWindowKey(window.remoteKey())).isTrue();
            differences.add(region.remoteKey() - last);
            windowDifferences.add(window.remoteKey() - lastWindow);
            last = region.remoteKey();
            lastWindow = window.remoteKey();
            region.close();
            window.close();
        }
        assertThat(differences).hasSizeGreaterThan(95);
        assertThat(windowDifferences).hasSizeGreaterThan(95);
    }
}
