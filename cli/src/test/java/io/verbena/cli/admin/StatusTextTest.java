package io.verbena.cli.admin;

import io.verbena.cli.cluster.JsonReader;
import io.verbena.server.HealthServer;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class StatusTextTest
{
    private static final long NOW_MS = 1_800_000_000_000L;
    private static final long MIB = 1 << 20;

    private final List<Object> processes = new ArrayList<>();
    private List<Object> tables;

    private static Map<String, Object> map(final Object... namesAndValues)
    {
        final Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2)
        {
            map.put((String)namesAndValues[i], namesAndValues[i + 1]);
        }
        return map;
    }

    private Map<String, Object> process(final String name, final boolean isLive, final Map<String, Object> health)
    {
        processes.add(map("name", name, "pid", 100 + processes.size(), "live", isLive, "health", health));
        return health;
    }

    private Map<String, Object> metaServer()
    {
        return process("meta-server", true, map("role", "meta-server", "ready", true, "pid", 100, "epoch", 1234L,
            "safe_epoch", 1233L, "memory_nodes", 2L, "lost_memory_nodes", 0L, "compute_nodes", 1L, "fencing_nodes", 0L,
            "tables", 1L, "node_carriers", map("shared-memory", 3L), "refused_handshakes", 0L,
            "nodes", List.of(map("node_id", 7L, "state", "LIVE", "lease_left_ms", 4321L))));
    }

    private Map<String, Object> memoryNode()
    {
        return process("memory-1", true, map("role", "memory-node", "ready", true, "node_id", 7L, "incarnation", 3L,
            "meta_server", "reached", "state", "READY", "memory_bytes", 2048 * MIB, "free_bytes", 1024 * MIB,
            "record_bytes", MIB / 2, "index_bytes", 3 * MIB, "orphan_bytes", 0L, "node_carriers", map(),
            "checkpoint_finished_ms", NOW_MS - 5_999, "checkpoint_records", 12_345L,
            "checkpoint_failure", "", "checkpoint_groups_left_out", "", "checkpoint_failed_ms", 0L,
            "failure_domain", "rack-1"));
    }

    private Map<String, Object> computeNode()
    {
        return process("compute-1", true, map("role", "compute-node", "ready", true, "node_id", 9L, "incarnation", 1L,
            "meta_server", "reached", "state", "SERVING", "clients", 2L, "carriers", map("shared-memory", 1L, "dc", 1L),
            "node_carriers", map("shared-memory", 2L, "rocev2", 1L), "node_transports",
            map("meta-server", "shared-memory", "node 3", "rocev2", "node 7", "shared-memory"),
            "requests", 1_000_000L, "operations", 999L, "failure", ""));
    }

    /** Through JSON, as the command has it. */
    private String text()
    {
        return text(false);
    }

    private String text(final boolean isWhole)
    {
        final Map<String, Object> all =
            map("address", "verbena://a:1", "ready", true, "processes", processes, "tables", tables);
        return StatusText.of(JsonReader.object(HealthServer.json(all)), isWhole, NOW_MS);
    }

    private static Map<String, Object> tenant(final String name)
    {
        return map("name", name, "weight", 2L, "virtual_queue_pairs", 3L, "batches", 64L, "requests", 1_234L,
            "payload_bytes", 2 * MIB, "waited_batches", 0L, "refusals", 0L, "unknown_outcomes", 0L, "open_batches", 8L,
            "calls", 1L, "pinned_bytes", 12 * MIB);
    }

    @Test
    void shouldShowTenantsOfANodeInATableWhereThereAreSeveral()
    {
        computeNode().put("tenants", List.of(tenant("default")));
        memoryNode().put("checkpoint_fraction", 0.0);
        assertThat(text()).doesNotContain("default", "tenants", "checkpoint_fraction");
        assertThat(text(true)).contains("TENANT", "checkpoint_fraction").doesNotContain("tenants")
            .containsPattern("compute-1 +default +2 +3 +64 +8 +1,234 +1 +2\\.0 +0 +0 +0 +12\\.0");
        computeNode().put("tenants", List.of(tenant("default"), tenant("batch")));
        assertThat(text().lines().filter((line) -> line.contains("1,234"))).hasSize(2);
    }

    /** One alone, too, when something of it had to wait, was refused, or has an unknown outcome. */
    @Test
    void shouldShowATenantThatLacksSomething()
    {
        for (final String figure : List.of("waited_batches", "refusals", "unknown_outcomes"))
        {
            processes.clear();
            final Map<String, Object> tenant = tenant("default");
            computeNode().put("tenants", List.of(tenant));
            assertThat(text()).doesNotContain("TENANT");
            tenant.put(figure, 5L);
            assertThat(text()).as(figure).contains("TENANT", "default");
        }
    }

    @Test
    void shouldShowTheFiguresOfEachRoleInColumnsWithTheirUnits()
    {
        metaServer();
        memoryNode();
        computeNode();
        tables = List.of(map("table", "default", "records", 12_345L, "fill", 0.5, "record_bytes", 3 * MIB,
            "index_bytes", 2 * MIB));
        assertThat(text()).isEqualTo("""
            verbena://a:1  ready

              PROCESS       PID   STATE   NODE   INCARNATION   LEASE ms
              meta-server   100   ready      -             -          -
              memory-1      101   ready      7             3      4,321
              compute-1     102   ready      9             1          -

              META SERVER   EPOCH   SAFE EPOCH   MEMORY NODES   COMPUTE NODES   TABLES   NODE TRANSPORTS
              meta-server   1,234        1,233              2               1        1   3 shared-memory

              MEMORY NODE   MEMORY MiB   FREE MiB   RECORDS MiB   INDEX MiB   CHECKPOINT AGE s   \
            CHECKPOINT RECORDS   FAILURE DOMAIN   NODE TRANSPORTS
              memory-1         2,048.0    1,024.0           0.5         3.0                  5   \
                        12,345           rack-1                 -

              COMPUTE NODE   CLIENTS    REQUESTS   OPERATIONS   HELD MiB       CLIENT TRANSPORTS   \
                      NODE TRANSPORTS
              compute-1            2   1,000,000          999          -   1 shared-memory, 1 dc   \
            2 shared-memory, 1 rocev2

              PROCESS         TRANSPORT                 PEERS
              compute-1          rocev2                node 3
              compute-1   shared-memory   meta-server, node 7

              TABLE     RECORDS   FILL %   RECORDS MiB   INDEX MiB
              default    12,345     50.0           3.0         2.0
            """);
    }

    @Test
    void shouldShowGroupsOfMemoryNodes()
    {
        final Map<String, Object> metaServer = metaServer();
        metaServer.put("groups", List.of());
        assertThat(text()).doesNotContain("GROUP", "groups");
        metaServer.put("groups", List.of(
            map("group", 10, "view", 1L, "state", "active", "memory_nodes", List.of(3, 1),
                "failure_domains", List.of("", ""), "lost", List.of(), "reconciler", null),
            map("group", 11, "view", 1_002L, "state", "reconciling", "memory_nodes", List.of(1, 2),
                "failure_domains", List.of("a", "b"), "lost", List.of(1), "reconciler", 5)));
        metaServer.put("errors", List.of("group 11: it lacks something"));
        assertThat(text(true)).contains("error: meta-server: group 11: it lacks something\n").contains("""

              GROUP    VIEW         STATE   MEMORY NODES   FAILURE DOMAINS   LOST   RECONCILER
              10          1        active           3, 1              -, -      -            -
              11      1,002   reconciling           1, 2              a, b      1            5
            """).doesNotContain("groups", "warning:");
    }

    @Test
    void shouldWarnOfCopiesInOneFailureDomain()
    {
        metaServer().put("groups", List.of(map("group", 10, "view", 1L, "state", "active", "memory_nodes",
            List.of(3, 1, 2), "failure_domains", List.of("rack-1", "", "rack-1"), "lost", List.of(), "reconciler",
            null)));
        assertThat(text()).contains("warning: group 10: memory nodes 3, 2 are in failure domain rack-1: what takes " +
            "it down takes 2 copies of their tables\n");
    }

    /** Of a cluster elsewhere, they stand beside the processes. */
    @Test
    void shouldShowGroupsAndFaultsOfNoProcess()
    {
        final Map<String, Object> all = map("address", "verbena://a:1", "ready", true, "nodes", List.of(), "groups",
            List.of(map("group", 10, "view", 1L, "state", "active", "memory_nodes", List.of(3, 1), "lost", List.of(),
                "reconciler", null)), "errors", List.of("group 10: it lacks something"), "tables", tables);
        assertThat(StatusText.of(JsonReader.object(HealthServer.json(all)), false, NOW_MS))
            .containsSubsequence("error: group 10: it lacks something\n", "GROUP", "3, 1");
    }

    @Test
    void shouldShowEachFaultInALineOfItsOwnBelowTheProcesses()
    {
        final Map<String, Object> metaServer = metaServer();
        metaServer.put("lost_memory_nodes", 1L);
        metaServer.put("refused_handshakes", 2L);
        metaServer.put("last_refused_handshake", "10.0.0.7: it has another token");
        final Map<String, Object> memoryNode = memoryNode();
        memoryNode.put("checkpoint_failure", "no space left");
        memoryNode.put("checkpoint_groups_left_out", "8, 9");
        memoryNode.put("meta_server", "away");
        final Map<String, Object> computeNode = computeNode();
        computeNode.put("ready", false);
        computeNode.put("state", "FAILED");
        computeNode.put("failure", "out of memory");
        computeNode.put("errors", List.of("too many of these", "and of those"));
        process("compute-2", false, null);
        process("compute-3", true, null);
        assertThat(text()).containsSubsequence("compute-1     102   failed", "compute-2     103     dead",
            "compute-3     104   silent", """
            error: meta-server: memory nodes that are lost: 1; reads and writes of records that no other memory \
            node has fail
            error: meta-server: it has refused connections; the last one: 10.0.0.7: it has another token
            error: memory-1: cannot reach the meta server; is it dead, or stopped?
            error: memory-1: the last checkpoint failed, the one before stays good: no space left
            error: memory-1: the last checkpoint is without the tables of groups 8, 9: their views were changing, \
            or the meta server did not answer; the one before of each stays good
            error: compute-1: failed: out of memory
            error: compute-1: too many of these
            error: compute-1: and of those
            error: compute-2: process 103 is dead; './verbena up' starts it again
            error: compute-3: process 104 does not answer at its health endpoint; its log may say why

              META SERVER""");
    }

    @Test
    void shouldShowFiguresWithoutAColumnUnlessTheyAreAsExpected()
    {
        metaServer().put("fencing_nodes", 1L);
        final Map<String, Object> memoryNode = memoryNode();
        memoryNode.put("unheard_of", map("a", 1L));
        memoryNode.put("orphan_bytes", 65_536L);
        computeNode().put("reclaiming", false);
        assertThat(text()).endsWith("""

              PROCESS              FIGURE    VALUE
              meta-server   fencing_nodes        1
              memory-1       orphan_bytes   65,536
              memory-1         unheard_of      1 a
            """).doesNotContain("reclaiming", "error:");
        assertThat(text(true)).contains("reclaiming", "refused_handshakes", "orphan_bytes");
    }

    private static Map<String, Object> limit(final String name, final long use, final long most, final String option)
    {
        return map("name", name, "use", use, "limit", most, "option", option);
    }

    @Test
    void shouldWarnOfLimitsThatAreNearlyReached()
    {
        metaServer().put("limits", List.of(limit("clients", 9_216, 10_240, "--max-clients"),
            limit("nodes", 4, 4, "--max-nodes")));
        final Map<String, Object> computeNode = computeNode();
        computeNode.put("failure", "out of memory");
        computeNode.put("limits", List.of(limit("memory nodes", 9, 10, "--max-memory-nodes")));
        assertThat(text()).contains("""
            error: compute-1: failed: out of memory
            warning: meta-server: clients: 9,216 of at most 10,240 are in use; option that raises it: --max-clients
            warning: meta-server: nodes: 4 of at most 4 are in use; option that raises it: --max-nodes
            warning: compute-1: memory nodes: 9 of at most 10 are in use; option that raises it: --max-memory-nodes

              META SERVER""");
    }

    @Test
    void shouldShowLimitsOfWhichHalfIsInUseAndAllOnRequest()
    {
        metaServer().put("limits", List.of(limit("clients", 9_215, 10_240, "--max-clients"),
            limit("waiting registrations", 0, 1_024, "-"), limit("queue pairs", 511, 1_024, "-"),
            limit("nodes", 2, 4, "--max-nodes")));
        computeNode().put("limits", List.of(limit("calls", 0, 0, "-")));
        memoryNode().put("limits", List.of());
        assertThat(text()).endsWith("""

              PROCESS         LIMIT     USE     MOST          OPTION
              meta-server   clients   9,215   10,240   --max-clients
              meta-server     nodes       2        4     --max-nodes
            """).doesNotContain("warning:", "error:", "FIGURE");
        assertThat(text(true)).contains("""

              PROCESS                       LIMIT     USE     MOST          OPTION
              meta-server                 clients   9,215   10,240   --max-clients
              meta-server   waiting registrations       0    1,024               -
              meta-server             queue pairs     511    1,024               -
              meta-server                   nodes       2        4     --max-nodes
              compute-1                     calls       0        0               -
            """);
    }

    @Test
    void shouldShowNoTablesWhenNobodyCountedThem()
    {
        metaServer();
        assertThat(text()).doesNotContain("TABLE ", "FIGURE").contains("\n\n  META SERVER");
    }
}
