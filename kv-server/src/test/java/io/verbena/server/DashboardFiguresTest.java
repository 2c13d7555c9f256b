package io.verbena.server;

import io.verbena.compute.figures.OperationTraces;
import io.verbena.meta.MetaServerStat;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.identity.PeerIdentity;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Each figure under its own name. */
class DashboardFiguresTest
{
    @Test
    void shouldNameWhatMemoryIsUsedFor()
    {
        assertThat(DashboardFigures.ofMemory(new MemoryNodeStat(1_000, 10, 100, 41, 32, 23, 4))).isEqualTo(Map.of(
            "memory_bytes", 1_000L, "free_bytes", 410L, "record_bytes", 320L, "index_bytes", 230L, "orphan_bytes",
            40L));
    }

    @Test
    void shouldNameWhatAMetaServerCounts()
    {
        assertThat(DashboardFigures.ofMetaServer(new MetaServerStat(1, 12, 11, 3, 4, 5, 6, 7, 8, 9), Map.of()))
            .isEqualTo(Map.of("epoch", 12L, "safe_epoch", 11L, "memory_nodes", 4, "lost_memory_nodes", 5,
                "compute_nodes", 6, "spare_compute_nodes", 7, "fencing_nodes", 8, "tables", 9, "nodes", List.of()));
    }

    @Test
    void shouldNameTheOptionsOfASlowLog()
    {
        assertThat(SlowlogFigures.of(OperationTraces.none())).isEqualTo(Map.of("threshold_us", -1L, "sample_one_in", 0L,
            "slow_operations", 0L, "slow", List.of(), "sampled", List.of()));
        assertThat(SlowlogFigures.of(new OperationTraces(2_500, 7, () -> 1)))
            .containsEntry("threshold_us", 2L).containsEntry("sample_one_in", 7L);
        assertThat(DashboardFigures.slowOperations("compute-1", OperationTraces.none())).isEmpty();
    }

    @Test
    void shouldShowGroupsAscending()
    {
        final View first = View.first(11, List.of(new PeerIdentity(3, 1), new PeerIdentity(1, 2)));
        final View second = View.first(10, List.of(new PeerIdentity(3, 1), new PeerIdentity(1, 2)))
            .closing(2, new PeerIdentity(5, 6));
        final List<Map<String, Object>> groups = DashboardFigures.groups(List.of(first, second),
            Map.of(1, "rack-1"), List.of());
        assertThat(groups).extracting((group) -> group.get("group")).containsExactly(10, 11);
        assertThat(groups.getFirst()).containsEntry("view", 1L).containsEntry("state", "closing")
            .containsEntry("memory_nodes", List.of(3, 1)).containsEntry("lost", List.of(1))
            .containsEntry("failure_domains", List.of("", "rack-1"))
            .containsEntry("reconciler", 5);
        assertThat(groups.getLast()).containsEntry("state", "active").containsEntry("lost", List.of())
            .containsEntry("reconciler", null).containsEntry("entering", null).containsEntry("fill", null);
    }

    @Test
    void shouldShowHowFarAMemoryNodeIsFilled()
    {
        final View filling = View.first(10, List.of(new PeerIdentity(3, 1)))
            .filling(new PeerIdentity(4, 2), new PeerIdentity(5, 6));
        final List<FillProgress> fills = List.of(
            new FillProgress(ViewAttempt.of(filling.notFilling()), 9, 9, 9, 9, 9, 9),
            new FillProgress(ViewAttempt.of(filling), 1, 2, 3, 4, 5, 6));
        final Map<String, Object> group = DashboardFigures.groups(List.of(filling), Map.of(), fills).getFirst();
        assertThat(group).containsEntry("state", "filling").containsEntry("entering", 4).containsEntry("reconciler", 5)
            .containsEntry("fill", Map.of("pass", 5, "compared_bytes", 3L, "total_bytes", 4L, "copied_bytes", 1L,
                "differing_bytes", 2L, "left_seconds", 6));
        final FillProgress unknown = new FillProgress(ViewAttempt.of(filling), 0, 0, 3, 4, 1, FillProgress.UNKNOWN);
        assertThat(DashboardFigures.groups(List.of(filling), Map.of(), List.of(unknown)).getFirst().get("fill"))
            .asInstanceOf(InstanceOfAssertFactories.MAP).containsEntry("left_seconds", null);
    }
}
