package io.verbena.server;

import io.verbena.raas.usage.ContextUsage;
import io.verbena.raas.usage.MessageUsage;
import io.verbena.raas.usage.TenantUsage;
import io.verbena.raas.completion.Replays;
import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TenantFiguresTest
{
    @Test
    void shouldNameEachCountOfConnectionsAndTenants()
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        TenantFigures.put(figures, new ContextUsage(1, 2, 3, 18, MessageUsage.NONE, new Replays(4, 5, 6),
            List.of(new TenantUsage("checkout", 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17))));
        assertThat(figures.toString()).isEqualTo("{virtual_queue_pairs=1, queue_pairs=2, dc_initiators=3, " +
            "dropped_messages=18, replaced_connections=4, replayed_requests=5, unknown_outcomes=6, " +
            "tenants=[{name=checkout, weight=7, virtual_queue_pairs=8, batches=9, requests=10, payload_bytes=11, " +
            "waited_batches=12, refusals=13, unknown_outcomes=14, open_batches=15, calls=16, pinned_bytes=17}]}");
    }

    @Test
    void shouldHaveNoTenantsBeforeTheFirstHeartbeat()
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        TenantFigures.put(figures, ContextUsage.NONE);
        assertThat(figures).containsEntry("tenants", List.of()).containsEntry("virtual_queue_pairs", 0);
    }
}
