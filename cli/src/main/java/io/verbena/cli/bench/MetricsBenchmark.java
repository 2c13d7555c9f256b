package io.verbena.cli.bench;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.server.ComputeNodeRole;
import io.verbena.server.HealthServer;
import io.verbena.server.MemoryNodeRole;
import io.verbena.server.MetaServerRole;
import io.verbena.server.Role;
import io.verbena.server.RoleRunner;

import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What it costs to be watched: a meta server, a memory node and a compute node of this process, each with its health
 * port, whose pages are scraped each second in every other round. Used once, by one thread.
 */
final class MetricsBenchmark implements AutoCloseable
{
    /** What one round of GETs showed. */
    record Round(double getNs, double cycleP999Ns)
    {
    }

    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int MEMORY_BYTES = 256 << 20;
    private static final int RECORDS = 1_000;
    private static final int CALLS_BETWEEN_LOOKS = 256;
    /** Duty cycles of one round, at most; of those that come then nothing is known. */
    private static final int MOST_CYCLES = 1 << 22;
    private static final double P999 = 0.999;
    private static final long SCRAPE_PERIOD_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int TIMEOUT_MS = 10_000;

    private final NanoClock clock;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final List<HealthServer> pages = new ArrayList<>();
    private final byte[][] keys = new byte[RECORDS][];
    private Cycles cycles;
    private KvTable table;

    /** A role whose duty cycles are measured: those that did something. */
    private static final class Cycles implements AutoCloseable
    {
        private final ComputeNodeRole role;
        private final NanoClock clock;
        private final Thread thread = new Thread(this::run, "measured-compute-node");
        private volatile boolean isEnding;
        private volatile boolean isAsked;
        private volatile long[] taken;
        private long[] elapsedNs = new long[MOST_CYCLES];
        private int count;

        Cycles(final ComputeNodeRole role, final NanoClock clock)
        {
            this.role = role;
            this.clock = clock;
            thread.start();
        }

        private void run()
        {
            while (!isEnding)
            {
                final long beganNs = clock.nanoTime();
                if (role.doWork() > 0)
                {
                    elapsedNs[Math.min(MOST_CYCLES - 1, count)] = clock.nanoTime() - beganNs;
                    count = Math.min(MOST_CYCLES, count + 1);
                }
                else
                {
                    // Where there are fewer processors than threads, those that have something to do come first.
                    Thread.yield();
                }
                if (isAsked)
                {
                    isAsked = false;
                    taken = Arrays.copyOf(elapsedNs, count);
                    count = 0;
                }
            }
            role.close();
        }

        /** @return what the cycles since the last call took. */
        long[] take()
        {
            taken = null;
            isAsked = true;
            while (null == taken)
            {
                Thread.yield();
            }
            return taken;
        }

        @Override
        public void close()
        {
            isEnding = true;
            try
            {
                thread.join(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NS));
            }
            catch (final InterruptedException ex)
            {
                Thread.currentThread().interrupt();
            }
        }
    }

    MetricsBenchmark(final NanoClock clock)
    {
        this.clock = clock;
        for (int i = 0; i < RECORDS; i++)
        {
            keys[i] = ("key-" + i).getBytes(StandardCharsets.UTF_8);
        }
    }

    private <T extends AutoCloseable> T open(final T closeable)
    {
        opened.push(closeable);
        return closeable;
    }

    private void page(final Role role)
    {
        pages.add(open(HealthServer.open(0, role, role::isReady)));
    }

    private void run(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        opened.push(() ->
        {
            runner.stop();
            runner.awaitEnd(DEADLINE_NS);
        });
        if (!runner.awaitReady(DEADLINE_NS))
        {
            throw new IllegalStateException(role.name() + " is not ready: " + runner.failure());
        }
        page(role);
    }

    /**
     * Starts everything.
     *
     * @param fabric     open; closed by the caller after this.
     * @param fabricName of it.
     * @param folder     for files; deleted by the caller.
     * @param tables     made, one of which has records.
     */
    void start(final Fabric fabric, final String fabricName, final Path folder, final int tables)
    {
        final ClusterToken token = ClusterToken.readOrCreate(folder.resolve("token"));
        final MetaServerRole meta = MetaServerRole.open(fabric, fabricName, new ClusterAddress("127.0.0.1", 0), token,
            folder.resolve("data"), true, new MetaServerConfiguration().leaseNs(DEADLINE_NS));
        run(meta);
        final BootstrapLocator locator = new BootstrapLocator(meta.address(), token,
            BootstrapClient.ask(meta.address(), token, TIMEOUT_MS));
        run(MemoryNodeRole.open(fabric, locator, MEMORY_BYTES));
        final ComputeNodeRole compute =
            ComputeNodeRole.open(fabric, locator, null, new ComputeNodeConfiguration(), 4);
        cycles = open(new Cycles(compute, clock));
        page(compute);
        awaitReady(compute);
        final KvClient client = open(KvClient.connect(meta.address().toString(), new KvClientOptions()
            .tokenFile(folder.resolve("token")).timeout(Duration.ofNanos(DEADLINE_NS))));
        for (int i = 0; i < tables; i++)
        {
            table = client.createTable("table-" + i, new TableOptions(RECORDS));
        }
        Arrays.stream(keys).forEach((key) -> table.put(key, key));
    }

    private void awaitReady(final Role role)
    {
        final long deadlineNs = clock.nanoTime() + DEADLINE_NS;
        while (!role.isReady())
        {
            if (clock.nanoTime() - deadlineNs > 0)
            {
                throw new IllegalStateException(role.name() + " is not ready");
            }
            Thread.yield();
        }
    }

    /**
     * Reads records, one after the other.
     *
     * @param durationNs of the round.
     * @param isScraped  whether the pages are scraped meanwhile, at once and then each second.
     */
    Round round(final long durationNs, final boolean isScraped) throws InterruptedException
    {
        cycles.take();
        final Thread scraper = Thread.ofPlatform().name("scraper").unstarted(() -> scrapeAgain(durationNs));
        if (isScraped)
        {
            scraper.start();
        }
        final long beganNs = clock.nanoTime();
        long nowNs = beganNs;
        long calls = 0;
        while (nowNs - beganNs < durationNs)
        {
            for (int i = 0; i < CALLS_BETWEEN_LOOKS; i++)
            {
                table.get(keys[(int)(calls++ % RECORDS)]);
            }
            nowNs = clock.nanoTime();
        }
        final double getNs = (double)(nowNs - beganNs) / calls;
        final long[] cyclesNs = cycles.take();
        Arrays.sort(cyclesNs);
        if (isScraped)
        {
            scraper.join();
        }
        return new Round(getNs, cyclesNs[(int)(P999 * (cyclesNs.length - 1))]);
    }

    private void scrapeAgain(final long durationNs)
    {
        final long beganNs = clock.nanoTime();
        long dueNs = beganNs;
        while (clock.nanoTime() - beganNs < durationNs)
        {
            if (clock.nanoTime() - dueNs >= 0)
            {
                dueNs += SCRAPE_PERIOD_NS;
                pages.forEach(this::scrapeNs);
            }
            sleep();
        }
    }

    private static void sleep()
    {
        try
        {
            TimeUnit.NANOSECONDS.sleep(SLEEP_NS);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Scrapes all pages again and again, while nothing else is done.
     *
     * @return for each page what its scrapes took, ascending.
     */
    List<long[]> scrapes(final int count)
    {
        final List<long[]> elapsedNs = new ArrayList<>();
        for (final HealthServer page : pages)
        {
            final long[] ofPage = new long[count];
            for (int i = 0; i < count; i++)
            {
                ofPage[i] = scrapeNs(page);
            }
            Arrays.sort(ofPage);
            elapsedNs.add(ofPage);
        }
        return elapsedNs;
    }

    private long scrapeNs(final HealthServer page)
    {
        final long beganNs = clock.nanoTime();
        try (InputStream body =
            URI.create("http://localhost:" + page.port() + "/metrics").toURL().openStream())
        {
            if (0 == body.readAllBytes().length)
            {
                throw new IllegalStateException("an empty page");
            }
        }
        catch (final IOException ex)
        {
            throw new IllegalStateException("the page cannot be scraped", ex);
        }
        return clock.nanoTime() - beganNs;
    }

    @Override
    public void close()
    {
        CloseHelper.closeAll(opened);
    }
}
