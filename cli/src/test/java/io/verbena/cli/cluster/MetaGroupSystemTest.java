package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.browser.HeadlessBrowser;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/** A group of meta servers as processes: its leader is killed, then stopped, while records are written. */
@Timeout(900)
class MetaGroupSystemTest
{
    private static final String REVOKED = "5d".repeat(32);
    private static final Duration STEP = Duration.ofSeconds(180);

    @TempDir
    private Path directory;
    private CommandLines.Result last;

    private void succeed(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", cluster().toString()));
        last = CommandLines.run(all);
        assertThat(last.status()).as("%s: %s%s", all, last.out(), last.err()).isZero();
    }

    private Path cluster()
    {
        return directory.resolve("cluster");
    }

    @AfterEach
    void leaveNothingBehind()
    {
        CommandLines.run(List.of("down", "--discard", "--data", cluster().toString()));
    }

    /** The meta server that answers, not the one in {@code others}. */
    private static Entry leader(final ClusterFolder folder, final Entry... others)
    {
        final long deadlineNs = System.nanoTime() + STEP.toNanos();
        while (System.nanoTime() - deadlineNs < 0)
        {
            for (final Entry entry : new ProcessTable(folder.processes()).entries())
            {
                if (entry.name().startsWith("meta") && !List.of(others).contains(entry) && entry.isLive() &&
                    HealthProbe.figures(entry) instanceof final Map<?, ?> figures && figures.containsKey("cluster_id"))
                {
                    return entry;
                }
            }
            LockSupport.parkNanos(20_000_000);
        }
        throw new AssertionError("no meta server leads");
    }

    private static void signal(final Entry entry, final String name) throws IOException, InterruptedException
    {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(entry.pid())).start().waitFor()).isZero();
    }

    @Test
    void shouldGoOnWithoutItsLeader() throws Exception
    {
        succeed("up", "--meta-servers", "3", "--memory", "64");
        final ClusterFolder folder = ClusterFolder.of(cluster());
        assertThat(folder.address().split(",")).hasSize(3);
        final AtomicBoolean isOver = new AtomicBoolean();
        try (KvClient client = KvClient.connect(
            folder.address(), new KvClientOptions().tokenFile(folder.token()).timeout(STEP)))
        {
            final KvTable table = client.table("default");
            final CompletableFuture<Integer> writer = CompletableFuture.supplyAsync(() -> write(table, isOver));

            final Entry first = awaitLongLeases(folder);
            succeed("certificate", "revoke", REVOKED);
            signal(first, "KILL");
            createTable(client, "after-kill");
            final Entry second = leader(folder, first);
            succeed("certificate", "list");
            assertThat(last.out()).as("what one leader was told, the next one knows").isEqualTo(REVOKED + "\n");
            succeed("up");
            assertThat(last.out()).contains(first.name() + " was dead, started again");

            signal(second, "STOP");
            createTable(client, "after-stop");
            final Entry third = leader(folder, second);
            assertThat(third.name()).isNotEqualTo(second.name());
            signal(second, "CONT");
            createTable(client, "after-cont");

            isOver.set(true);
            final int written = writer.get(STEP.toSeconds(), TimeUnit.SECONDS);
            assertThat(written).as("records written, none of them refused").isPositive();
            assertThat(table.withTimeout(STEP).get(key(written - 1))).isPresent();
            assertThat(client.tables()).contains("default", "after-kill", "after-stop", "after-cont");
        }
        awaitHealthyStatus();
        showPage(folder);
        succeed("down");
        succeed("up");
        succeed("table", "list");
        assertThat(last.out()).contains("after-kill", "after-stop", "after-cont");
    }

    /** What a single meta server knew is taken over by the first of a new group, once. */
    @Test
    void shouldTakeOverTheFolderOfASingleMetaServer() throws Exception
    {
        succeed("up", "--memory", "64");
        succeed("table", "create", "before", "--records", "1000");
        succeed("put", "hello", "world");
        succeed("down");
        succeed("up", "--meta-servers", "3");
        succeed("get", "hello");
        assertThat(last.out()).contains("world");
        succeed("table", "list");
        assertThat(last.out()).contains("before");
        assertThat(cluster().resolve("meta")).doesNotExist();
        assertThat(Files.isDirectory(cluster().resolve("meta.taken-over"))).isTrue();
    }

    /**
     * Each node has at some moment more left than a single server grants, and never more than a group does.
     *
     * @return who led then.
     */
    private static Entry awaitLongLeases(final ClusterFolder folder)
    {
        final Set<Object> seen = new HashSet<>();
        Entry leader = null;
        int nodes = 0;
        final long deadlineNs = System.nanoTime() + STEP.toNanos();
        while (seen.isEmpty() || seen.size() < nodes)
        {
            assertThat(System.nanoTime() - deadlineNs).as("%d nodes, with long leases: %s", nodes, seen).isNegative();
            // Another one, or one that does not answer in time, on a busy machine.
            leader = leader(folder);
            if (!(HealthProbe.figures(leader) instanceof final Map<?, ?> all &&
                all.get("nodes") instanceof final List<?> figures))
            {
                continue;
            }
            nodes = figures.size();
            for (final Object node : figures)
            {
                final long leftMs = (Long)((Map<?, ?>)node).get("lease_left_ms");
                assertThat(leftMs).as("ms left of a lease").isLessThan(11_000);
                if (leftMs > 6_000)
                {
                    seen.add(((Map<?, ?>)node).get("node_id"));
                }
            }
        }
        return leader;
    }

    /** The one that was stopped, and who follows, reach each other again after a moment. */
    private void awaitHealthyStatus() throws Exception
    {
        final long deadlineNs = System.nanoTime() + STEP.toNanos();
        do
        {
            last = CommandLines.run(List.of("status", "--no-tables", "--data", cluster().toString()));
        }
        while ((0 != last.status() || last.out().contains("error:")) && System.nanoTime() - deadlineNs < 0);
        assertThat(last.out()).contains("  ready\n").doesNotContain("error:");
    }

    /** The page of any member shows all of them, and what the leader knows, whichever that is. */
    private static void showPage(final ClusterFolder folder) throws Exception
    {
        if (HeadlessBrowser.installed().isEmpty())
        {
            System.out.println("no Chromium is installed: the page of a group is not tested");
            return;
        }
        final Entry leader = leader(folder);
        final Entry follower = new ProcessTable(folder.processes()).entries().stream().filter((entry) ->
            entry.name().startsWith("meta") && !entry.name().equals(leader.name())).findFirst().orElseThrow();
        try (HeadlessBrowser browser = HeadlessBrowser.start())
        {
            browser.open("http://localhost:" + follower.healthPort() + "/dashboard", 1_920, 1_000, false);
            browser.await("document.querySelectorAll('#group tbody tr').length === 3 && " +
                "!document.getElementById('group-section').hidden");
            browser.await("[...document.querySelectorAll('#map .node')].filter(each => " +
                "each.textContent.includes('" + leader.name() + "leads')).length === 1");
            assertThat(browser.evaluate("new Set([...document.querySelectorAll('#map .node rect')]" +
                ".map(each => each.getAttribute('x') + ' ' + each.getAttribute('y'))).size"))
                .as("places on the map, of three meta servers and two nodes").isEqualTo(5L);
            assertThat(browser.evaluate("document.querySelectorAll('#map > svg > line').length"))
                .as("both nodes reach the leader, and one the other").isEqualTo(3L);
            assertThat(browser.evaluate("document.getElementById('tiles').innerText")).asString()
                .contains("1\ncompute nodes", "1\nmemory nodes");
        }
    }

    private static void createTable(final KvClient client, final String name)
    {
        client.createTable(name, TableOptions.DEFAULTS);
    }

    private static int write(final KvTable table, final AtomicBoolean isOver)
    {
        int next = 0;
        while (!isOver.get())
        {
            table.withTimeout(STEP).put(key(next), new byte[100]);
            next++;
            LockSupport.parkNanos(1_000_000);
        }
        return next;
    }

    private static byte[] key(final int number)
    {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }
}
