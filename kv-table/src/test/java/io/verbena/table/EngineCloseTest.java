package io.verbena.table;

import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.table.access.Scratch;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationKind;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

/** What an engine leaves behind when it is closed, or could not be made: nothing. */
class EngineCloseTest
{
    private static final Path OVERCOMMIT = Path.of("/proc/sys/vm/overcommit_memory");

    /** Memory from the pool, counted. */
    private static final class CountingDomain implements ProtectionDomain
    {
        private final LocalDomain domain = new LocalDomain();
        private int open;

        @Override
        public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
        {
            open++;
            return new CountedRegion(domain.allocateRegistered(lengthBytes, accessFlags), this);
        }

        @Override
        public MemoryRegion register(final MemorySegment segment, final int accessFlags)
        {
            return domain.register(segment, accessFlags);
        }

        @Override
        public QueuePair createQueuePair(final QueuePairOptions options)
        {
            return domain.createQueuePair(options);
        }

        @Override
        public void close()
        {
            domain.close();
        }
    }

    private record CountedRegion(MemoryRegion region, CountingDomain domain) implements MemoryRegion
    {
        @Override
        public MemorySegment segment()
        {
            return region.segment();
        }

        @Override
        public long address()
        {
            return region.address();
        }

        @Override
        public long lengthBytes()
        {
            return region.lengthBytes();
        }

        @Override
        public int localKey()
        {
            return region.localKey();
        }

        @Override
        public int remoteKey()
        {
            return region.remoteKey();
        }

        @Override
        public int accessFlags()
        {
            return region.accessFlags();
        }

        @Override
        public void close()
        {
            domain.open--;
            region.close();
        }
    }

    /** The kernel refuses at once what no machine of these days has, unless it was told to promise anything. */
    @Test
    void shouldGiveScratchMemoryBackWhenThereIsNoneForTheLocationCache() throws IOException
    {
        assumeThat(Files.readString(OVERCOMMIT).strip()).as("overcommit_memory").isNotEqualTo("1");
        final CountingDomain domain = new CountingDomain();
        final TableEngineConfiguration configuration = new TableEngineConfiguration()
            .operationSlots(2).locationCacheEntries(Integer.MAX_VALUE)
            .operationListener(operation -> { }).chunkSource(node -> { });
        assertThatThrownBy(
            () -> TableEngine.open(domain, LocalDomain.attributes(false), System::nanoTime, configuration))
            .isInstanceOf(RdmaException.class).hasMessageContaining("cannot map");
        assertThat(domain.open).isZero();
        TableEngine.open(domain, LocalDomain.attributes(false), System::nanoTime,
            configuration.locationCacheEntries(64)).close();
        assertThat(domain.open).isZero();
    }

    /** Whether a link took whose answer nobody hears is not known: the memory it names is not to be given back. */
    @Test
    void shouldSayThatALinkUnderWayMayStand()
    {
        try (EngineFixture fixture = EngineFixture.single())
        {
            final OpenTable table = fixture.createTable(
                TablePlan.ofShape("t", 1, 42, 0, 1, new int[]{EngineFixture.NODE}), 4096);
            final TableSplit split =
                fixture.engine.growth().begin(table, 0, 128 * 1024, 192 * 1024, fixture.nowNs + 1_000_000);
            while (!split.toString().contains("phase=LINK") || fixture.port.isIdle())
            {
                assertThat(split.usesGivenMemory()).isFalse();
                fixture.fabric.step();
                fixture.engine.poll();
            }
            fixture.engine.close();
            assertThat(split.state()).isEqualTo(TableSplit.State.FAILED);
            assertThat(split.usesGivenMemory()).isTrue();
        }
    }

    /** An answer that was under way: the location cache, and what the device wrote to, are gone. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldIgnoreAnswersThatComeAfterItsEnd(final boolean isSuccess)
    {
        final int[] ended = {0};
        final EngineFixture fixture = EngineFixture.single(settings ->
            settings.locationCacheEntries(1 << 16).operationListener(operation -> ended[0]++));
        final OpenTable table = fixture.createTable(0, 16);
        fixture.begin(OperationKind.PUT, table, "k", "v", 0, fixture.nowNs + 1_000_000);
        while (fixture.engine.active() > 0)
        {
            fixture.fabric.step();
            fixture.engine.poll();
        }
        ended[0] = 0;
        fixture.begin(OperationKind.PUT, table, "k", "w", 0, fixture.nowNs + 1_000_000);
        fixture.begin(OperationKind.GET, table, "other", null, 0, fixture.nowNs + 1_000_000);
        fixture.fabric.step();
        fixture.engine.close();
        assertThat(ended[0]).isEqualTo(2);
        if (isSuccess)
        {
            fixture.fabric.drain();
        }
        else
        {
            fixture.port.fail(true);
        }
        fixture.engine.detach(EngineFixture.NODE);
        assertThat(fixture.engine.poll()).isZero();
        assertThat(ended[0]).isEqualTo(2);
    }
}
