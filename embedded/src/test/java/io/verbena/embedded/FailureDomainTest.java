package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.TableOptions;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Where copies are put of tables that are made through the ordinary client. */
class FailureDomainTest
{
    private static final int MEMORY_BYTES = 16 << 20;

    private static MemoryNodeConfiguration memoryIn(final String label)
    {
        return new MemoryNodeConfiguration().regionLengthBytes(MEMORY_BYTES).failureDomain(label);
    }

    private static List<Integer> members(final View view)
    {
        return view.members().stream().map(PeerIdentity::nodeId).toList();
    }

    @Test
    void shouldPutCopiesInDifferentFailureDomainsWhileThereAreAny(@TempDir final Path directory)
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 1, memoryIn("rack-1"), 1_000_000_000L))
        {
            cluster.addMemoryNode(memoryIn("rack-1"));
            cluster.addMemoryNode(memoryIn("rack-1"));
            cluster.addMemoryNode(memoryIn("rack-2"));
            final List<Integer> ids = cluster.memoryNodeIds();
            final int other = ids.getLast();
            try (KvClient client = cluster.client())
            {
                for (int table = 0; table < 3; table++)
                {
                    client.createTable("two-" + table, new TableOptions(100, 2));
                }
                assertThat(cluster.views()).hasSize(3).allSatisfy((view) ->
                    assertThat(members(view)).hasSize(2).contains(other));
                assertThat(cluster.views()).as("the others in turn")
                    .extracting((view) -> members(view).stream().filter((id) -> id != other).findFirst().orElseThrow())
                    .containsExactlyInAnyOrderElementsOf(ids.subList(0, 3));
                client.createTable("three", new TableOptions(100, 3));
                assertThat(cluster.views()).filteredOn((view) -> 3 == view.members().size()).singleElement()
                    .satisfies((view) -> assertThat(members(view)).contains(other));
            }
        }
    }
}
