package io.verbena.cli.admin;

import io.verbena.client.KvClient;
import io.verbena.client.KvUnavailableException;
import io.verbena.server.dashboard.TableSampler;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class ClusterDashboardTest
{
    private static final ClusterDashboard.Events EVENTS = new ClusterDashboard.Events()
    {
        @Override
        public List<Map<String, Object>> slowOperations()
        {
            return List.of(Map.of("kind", "get"));
        }

        @Override
        public List<Map<String, Object>> decisions()
        {
            return List.of(Map.of("from", 1L, "to", 2L));
        }
    };

    private final AtomicBoolean leads = new AtomicBoolean(true);
    private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 1_000);
    private final AtomicInteger clients = new AtomicInteger();
    private final AtomicInteger gathered = new AtomicInteger();

    private static KvClient client(final List<String> tables, final Runnable onClose)
    {
        return (KvClient)Proxy.newProxyInstance(ClusterDashboardTest.class.getClassLoader(),
            new Class<?>[]{KvClient.class}, (_, method, _) ->
            {
                if ("close".equals(method.getName()))
                {
                    onClose.run();
                }
                return "tables".equals(method.getName()) ? tables : null;
            });
    }

    private TableSampler sampler(final Supplier<KvClient> client)
    {
        return new TableSampler(() ->
        {
            clients.incrementAndGet();
            return new ClusterTables(client.get());
        }, nowNs::get, () -> 77);
    }

    private static void await(final Supplier<Boolean> condition)
    {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.get())
        {
            assertThat(System.nanoTime() - deadlineNs).isNegative();
            Thread.onSpinWait();
        }
    }

    private static Map<String, Object> process(final String name, final Map<String, Object> health)
    {
        final Map<String, Object> process = new HashMap<>(Map.of("name", name, "pid", 7L, "live", true));
        process.put("health", health);
        return process;
    }

    /** A member of a group that follows is no address of the cluster: its tables cannot be counted there. */
    @Test
    void shouldCountNoTablesWhileAnotherMemberLeads()
    {
        leads.set(false);
        try (ClusterDashboard dashboard = dashboard(List.of(process("meta-server-2", Map.of("ready", true))),
            sampler(() ->
            {
                throw new KvUnavailableException("no answer");
            })))
        {
            assertThat(status(dashboard).get("warnings")).isEqualTo(List.of());
            assertThat(clients.get()).isZero();
            leads.set(true);
            await(() -> status(dashboard).get("warnings").toString().contains("tables: not counted: no answer"));
            leads.set(false);
            assertThat(status(dashboard).get("warnings")).as("what it knows from when it led").isEqualTo(List.of());
        }
    }

    private ClusterDashboard dashboard(final List<Map<String, Object>> processes, final TableSampler tables)
    {
        return new ClusterDashboard("verbena://x:1", leads::get, () ->
        {
            gathered.incrementAndGet();
            return processes;
        }, tables, EVENTS, nowNs::get, () -> 99);
    }

    @Test
    void shouldSayWhatIsWrong()
    {
        try (ClusterDashboard dashboard = dashboard(List.of(
            process("compute-1", Map.of("ready", true, "limits",
                List.of(Map.of("name", "clients", "use", 9L, "limit", 10L, "option", "--max-clients")))),
            process("memory-1", Map.of("ready", true, "meta_server", "away"))),
            sampler(() ->
            {
                throw new KvUnavailableException("no compute node");
            })))
        {
            dashboard.status();
            await(() -> !((List<?>)status(dashboard).get("warnings")).contains(null) &&
                2 == ((List<?>)status(dashboard).get("warnings")).size());
            final Map<String, Object> status = dashboard.status();
            assertThat(status.get("ready")).isEqualTo(true);
            assertThat(status.get("address")).isEqualTo("verbena://x:1");
            assertThat(status.get("time_ms")).isEqualTo(99L);
            assertThat(status.get("tables")).isNull();
            assertThat(status.get("slow_operations")).isEqualTo(List.of(Map.of("kind", "get")));
            assertThat(status.get("autoscaler_decisions")).isEqualTo(List.of(Map.of("from", 1L, "to", 2L)));
            assertThat(status.get("errors")).asString().contains("memory-1: cannot reach the meta server");
            assertThat(status.get("warnings")).asString().contains("compute-1: clients: 9 of at most 10")
                .contains("tables: not counted: no compute node");
        }
    }

    private Map<String, Object> status(final ClusterDashboard dashboard)
    {
        nowNs.addAndGet(ClusterDashboard.FRESH_NS);
        return dashboard.status();
    }

    @Test
    void shouldGatherOnceASecondForAllWhoAsk() throws Exception
    {
        try (ClusterDashboard dashboard = dashboard(List.of(process("a", null)), sampler(() -> client(List.of(), () ->
        {
        })));
            ExecutorService threads = Executors.newFixedThreadPool(16))
        {
            final List<Future<Map<String, Object>>> answers = new ArrayList<>();
            for (int i = 0; i < 200; i++)
            {
                answers.add(threads.submit(dashboard::status));
            }
            for (final Future<Map<String, Object>> answer : answers)
            {
                assertThat(answer.get()).isSameAs(answers.getFirst().get());
            }
            assertThat(gathered).hasValue(1);
            assertThat(dashboard.status().get("ready")).as("one is silent").isEqualTo(false);
            nowNs.addAndGet(ClusterDashboard.FRESH_NS - 1);
            dashboard.status();
            assertThat(gathered).hasValue(1);
            nowNs.addAndGet(1);
            dashboard.status();
            assertThat(gathered).hasValue(2);
        }
    }

    @Test
    void shouldCountTheSeldomerTheLongerItTakes()
    {
        final AtomicInteger closes = new AtomicInteger();
        final CountDownLatch counting = new CountDownLatch(1);
        final long tookNs = TimeUnit.SECONDS.toNanos(1);
        final TableSampler sampler = sampler(() ->
        {
            try
            {
                assertThat(counting.await(30, TimeUnit.SECONDS)).isTrue();
            }
            catch (final InterruptedException ex)
            {
                throw new IllegalStateException(ex);
            }
            return client(List.of(), closes::incrementAndGet);
        });
        assertThat(sampler.last().tables()).isNull();
        sampler.begin();
        sampler.begin();
        await(() -> 1 == clients.get());
        nowNs.addAndGet(tookNs);
        sampler.begin();
        counting.countDown();
        await(() -> null != sampler.last().tables());
        sampler.close();
        assertThat(closes).as("of clients").hasValue(1);
        assertThat(clients).as("one at a time").hasValue(1);
        assertThat(sampler.last()).isEqualTo(new TableSampler.Sample(List.of(), 77, ""));
    }

    @Test
    void shouldPauseBetweenCounts()
    {
        final AtomicInteger closes = new AtomicInteger();
        final long tookNs = TimeUnit.SECONDS.toNanos(1);
        try (TableSampler sampler = sampler(() -> client(List.of(), () ->
        {
            nowNs.addAndGet(tookNs);
            closes.incrementAndGet();
        })))
        {
            sampler.begin();
            await(() -> isIdle(sampler) && 1 == closes.get());
            nowNs.addAndGet(TableSampler.PAUSE_FACTOR * tookNs - 1);
            sampler.begin();
            assertThat(isIdle(sampler)).as("too early").isTrue();
            nowNs.addAndGet(1);
            sampler.begin();
            await(() -> isIdle(sampler) && 2 == closes.get());
        }
    }

    @Test
    void shouldPauseForFiveSecondsAlsoWhereItTakesNoTime()
    {
        final AtomicInteger closes = new AtomicInteger();
        try (TableSampler sampler = sampler(() -> client(List.of(), closes::incrementAndGet)))
        {
            sampler.begin();
            await(() -> isIdle(sampler) && 1 == closes.get());
            nowNs.addAndGet(TableSampler.PAUSE_NS - 1);
            sampler.begin();
            assertThat(isIdle(sampler)).as("too early").isTrue();
            nowNs.addAndGet(1);
            sampler.begin();
            await(() -> isIdle(sampler) && 2 == closes.get());
        }
    }

    @Test
    void shouldBeReadyOnlyWhenAllProcessesAre()
    {
        try (ClusterDashboard dashboard = dashboard(
            List.of(process("a", Map.of("ready", true)), process("b", Map.of("ready", false))),
            sampler(() -> client(List.of(), () ->
            {
            }))))
        {
            assertThat(dashboard.status().get("ready")).isEqualTo(false);
        }
    }

    /** Tables whose count takes so long. */
    private TableSampler.Tables tables(final long tookNs)
    {
        return new TableSampler.Tables()
        {
            @Override
            public List<String> names()
            {
                return List.of("a", "b");
            }

            @Override
            public Map<String, Object> figures(final String name)
            {
                nowNs.addAndGet(tookNs);
                return Map.of("table", name);
            }

            @Override
            public void close()
            {
                // nothing is open
            }
        };
    }

    @Test
    void shouldLeaveOutTablesAfterTenSecondsAndKeepWhatIsKnown()
    {
        final AtomicLong tookNs = new AtomicLong(TimeUnit.SECONDS.toNanos(10));
        try (TableSampler sampler = new TableSampler(() ->
        {
            if (tookNs.get() < 0)
            {
                throw new KvUnavailableException("no compute node");
            }
            return tables(tookNs.get());
        }, nowNs::get, () -> 77))
        {
            final List<TableSampler.Sample> expected = List.of(
                new TableSampler.Sample(List.of(Map.of("table", "a")), 77,
                    "1 of 2 counted within 10 s, without the others"),
                new TableSampler.Sample(List.of(Map.of("table", "a"), Map.of("table", "b")), 77, ""),
                new TableSampler.Sample(List.of(Map.of("table", "a"), Map.of("table", "b")), 77,
                    "not counted: no compute node"));
            for (final TableSampler.Sample sample : expected)
            {
                sampler.begin();
                await(() -> isIdle(sampler));
                assertThat(sampler.last()).isEqualTo(sample);
                tookNs.set(tookNs.get() > 0 ? 0 : -1);
                nowNs.addAndGet(TableSampler.PAUSE_FACTOR * TimeUnit.SECONDS.toNanos(20));
            }
        }
    }

    private static boolean isIdle(final TableSampler sampler)
    {
        return !sampler.isCounting();
    }

    @Test
    void shouldCountNothingOnceClosed()
    {
        final TableSampler sampler = sampler(() -> client(List.of(), () ->
        {
        }));
        sampler.close();
        sampler.close();
        sampler.begin();
        assertThat(sampler.isCounting()).isFalse();
        assertThat(clients).hasValue(0);
    }
}
