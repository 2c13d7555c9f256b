package io.verbena.embedded;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Compute nodes that serve already connect to a memory node that is added, and new tables use it. */
class AddedMemoryNodeSimTest
{
    private static final long ONE_SECOND_NS = 1_000_000_000;
    private static final long TIMEOUT_NS = 100_000_000;
    private static final int CHUNKS = 24;

    @ParameterizedTest
    @CsvSource({"1, 0", "2, 0", "3, 200000000", "4, 4000000000"})
    void shouldUseAMemoryNodeWithinASecondAfterItWasAdded(final long seed, final long idleBeforeNs)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 2, CHUNKS))
        {
            cluster.createTable("before", 50);
            cluster.runFor(1 + idleBeforeNs);

            cluster.addMemoryNode("added-1");
            cluster.addMemoryNode("added-2");
            cluster.runFor(ONE_SECOND_NS);

            for (int i = 0; i < cluster.computes().size(); i++)
            {
                final ControlRequest created = cluster.asked(cluster.computes().get(i),
                    ControlRequest.Kind.CREATE_TABLE, "after-" + i, 500, TIMEOUT_NS);
                assertThat(created.status()).as(created.detail()).isEqualTo(ControlRequest.Status.OK);
            }
            assertThat(cluster.tables()).hasSize(3).filteredOn((table) -> table.name().startsWith("after"))
                .allSatisfy((table) -> assertThat(memoryNodesOf(table)).hasSize(3));
            cluster.settle();
            final StoreCheck check = cluster.check(cluster.tables());
            assertThat(check.isSound()).as("%s", check).isTrue();
            assertThat(check.lostBytes()).as("%s", check).isZero();
        }
    }

    /** While the meta server is silent the list fails; it comes when the meta server is back, elsewhere. */
    @ParameterizedTest
    @CsvSource({"1", "2", "3"})
    void shouldLearnOfAMemoryNodeWhenTheMetaServerIsBack(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 2, CHUNKS))
        {
            cluster.addMemoryNode("added");
            cluster.moveMetaServer();
            cluster.runFor(ONE_SECOND_NS);

            cluster.createTable("after", 500);
            assertThat(memoryNodesOf(cluster.tables().getFirst())).hasSize(2);
        }
    }

    private static Set<Integer> memoryNodesOf(final TableDescriptor table)
    {
        return IntStream.range(0, table.subtableCount())
            .mapToObj((i) -> DirectoryEntry.memoryNodeId(table.entry(i))).collect(Collectors.toSet());
    }
}
