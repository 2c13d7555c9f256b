package io.verbena.load.wire;

import io.verbena.load.bench.RedisServer;

import com.sun.management.OperatingSystemMXBean;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * GETs of the store, whose engine is on this side of the wire and whose memory is on the other one, and of a Redis on
 * the other side, in turn. Runs in a network namespace of its own. Arguments: MTU of the link, rounds, milliseconds of
 * a round, what the names of figures begin with. Prints a line for each figure.
 */
final class WireGetsMain
{
    private static final String SCHEDULED = "get_cached_as_scheduled";
    private static final String ECHO = "udp_echo_as_scheduled";
    private static final String SLEEPING_MEMORY = "get_sleeping_memory_as_scheduled";
    private static final String BEST = "get_cached_best_placement";
    private static final String BEST_ECHO = "udp_echo_best_placement";
    private static final String RATE = "gets_per_second_in_batches_of_64";
    private static final String ECHO_RATE = "udp_echo_per_second_in_batches_of_64";
    private static final String COST = "cpu_per_get_in_batches_of_64";
    private static final String ECHO_COST = "cpu_per_udp_echo_in_batches_of_64";
    private static final String MEMORY_GET = "memory_node_cpu_per_get";
    private static final String MEMORY_UPDATE = "memory_node_cpu_per_update";
    private static final String[] FIGURES = {SCHEDULED, ECHO, SLEEPING_MEMORY, BEST, BEST_ECHO, RATE, ECHO_RATE,
        COST, ECHO_COST, MEMORY_GET, MEMORY_UPDATE};
    private static final int REDIS_PORT = 6379;
    private static final int RECORDS = 1_000;
    private static final int VALUE_BYTES = 100;
    private static final String NO_POLLING = ",spin_us=0";
    /** A GET has so many packets each way. */
    private static final int PACKETS = 2;
    /** Of the packets of a GET together. */
    private static final int REQUEST_BYTES = 64;
    private static final int ANSWER_BYTES = 176;
    private static final String ANYWHERE = "";
    private static final double LEAST_AS_SCHEDULED = 3;
    private static final double LEAST_PLACED = 1.3;
    private static final double LEAST_RATE = 0.7;
    private static final double NS_PER_US = 1_000;
    private static final double NS_PER_S = 1e9;
    private static final long NS_PER_MS = 1_000_000;
    private static final int WARM_UP_ROUNDS = 6;

    /** One round trip to a store. */
    private interface Work
    {
        void run() throws IOException;
    }

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final WireOptions options;
    private final int rounds;
    private final long roundNs;
    private final WireMemory memory;
    private final WireStore store;
    /** Whose process sleeps as soon as there is no packet. */
    private final WireMemory sleeping;
    private final WireStore sleepingStore;
    private final ResponderProcess echoProcess;
    private final EchoRequester echo;
    /** Null where there is none. */
    private final RedisServer redis;
    private final List<byte[]> keys = IntStream.range(0, WireStore.BATCH)
        .mapToObj((number) -> ("key-" + number).getBytes(StandardCharsets.US_ASCII)).toList();

    private WireGetsMain(
        final WireOptions options,
        final WireMemory memory,
        final WireStore store,
        final WireMemory sleeping,
        final WireStore sleepingStore,
        final ResponderProcess echoProcess,
        final RedisServer redis) throws IOException
    {
        this.options = options;
        rounds = options.rounds();
        roundNs = options.roundMs() * NS_PER_MS;
        this.memory = memory;
        this.store = store;
        this.sleeping = sleeping;
        this.sleepingStore = sleepingStore;
        this.echoProcess = echoProcess;
        echo = new EchoRequester(WireLink.openNear(), echoProcess.address());
        this.redis = redis;
    }

    public static void main(final String[] args) throws IOException, InterruptedException
    {
        final WireOptions options = new WireOptions(Integer.parseInt(args[0]), WireOptions.WINDOW_PACKETS,
            Integer.parseInt(args[1]), Integer.parseInt(args[2]), args[3]);
        try (WireLink link = new WireLink(options.mtuBytes()))
        {
            if (options.wants(FIGURES))
            {
                compare(link, options);
            }
            for (final int threads : new int[]{1, 2})
            {
                MemoryLoad.measure(link, options, threads);
            }
        }
        System.exit(0);
    }

    private static void compare(final WireLink link, final WireOptions options)
        throws IOException, InterruptedException
    {
        try (WireMemory memory = new WireMemory(link, "", 1);
            WireStore store = memory.store(0, RECORDS);
            WireMemory sleeping = new WireMemory(link, NO_POLLING, 1);
            WireStore sleepingStore = sleeping.store(0, RECORDS);
            ResponderProcess echoProcess = new ResponderProcess(link, "echo", 0, options, ANYWHERE);
            RedisServer redis = startRedis(link))
        {
            new WireGetsMain(options, memory, store, sleeping, sleepingStore, echoProcess, redis).run();
        }
    }

    private static RedisServer startRedis(final WireLink link) throws IOException, InterruptedException
    {
        try
        {
            return RedisServer.start(link.farPrefix(),
                new InetSocketAddress(InetAddress.getByName(WireLink.FAR_ADDRESS), REDIS_PORT));
        }
        catch (final RedisServer.MissingException ex)
        {
            System.out.println(WireFigure.NOTE + "GETs are compared with nothing: " + ex.getMessage());
            return null;
        }
    }

    private void run() throws IOException, InterruptedException
    {
        if (redis != null)
        {
            for (final byte[] key : keys)
            {
                redis.set(key, new byte[VALUE_BYTES]);
            }
        }
        final Work get = store::get;
        final Work getBatch = store::getBatch;
        final Work sleepingGet = sleepingStore::get;
        // One datagram each way; of a batch as many as its GETs have packets.
        final Work echoes = () -> echo.exchange(1, REQUEST_BYTES, 1, ANSWER_BYTES);
        final Work echoBatch =
            () -> echo.exchange(PACKETS * WireStore.BATCH, REQUEST_BYTES / PACKETS, 1, ANSWER_BYTES / PACKETS);
        final Work redisGet = redis == null ? null : () -> redis.get(keys.getFirst());
        final Work redisBatch = redis == null ? null : () -> redis.getAll(keys);
        for (int i = 0; i < WARM_UP_ROUNDS; i++)
        {
            medianNs(get);
            medianNs(sleepingGet);
            medianNs(echoes);
            medianNs(getBatch);
            medianNs(echoBatch);
            medianNs(sleepingStore::update);
            medianNs(redisGet);
            medianNs(redisBatch);
        }
        if (options.wants(SCHEDULED, ECHO, SLEEPING_MEMORY, BEST, BEST_ECHO))
        {
            times(redisGet, get, echoes, sleepingGet);
        }
        if (options.wants(RATE, ECHO_RATE, COST, ECHO_COST))
        {
            rates(getBatch, echoBatch, redisBatch);
        }
        if (options.wants(MEMORY_GET))
        {
            System.out.println(WireFigure.value(MEMORY_GET, "us", memoryCpuUs(sleepingGet), Double.NaN).line());
        }
        if (options.wants(MEMORY_UPDATE))
        {
            System.out.println(
                WireFigure.value(MEMORY_UPDATE, "us", memoryCpuUs(sleepingStore::update), Double.NaN).line());
        }
        // These fail when an operation has.
        store.takeRoundTrips();
        sleepingStore.takeRoundTrips();
    }

    private void times(final Work redisGet, final Work get, final Work echoes, final Work sleepingGet)
        throws IOException, InterruptedException
    {
        final String processors = WirePlaces.allowed();
        echoProcess.ask("wait");
        final double[] scheduled = inTurn(false, redisGet, get, echoes, sleepingGet);
        echoProcess.ask("poll");
        final double pollingEchoUs = inTurn(false, echoes)[0];
        echoProcess.ask("wait");
        final double[] best = bestPlaced(scheduled, processors, redisGet, get, echoes, sleepingGet);
        print(SCHEDULED, scheduled[1], scheduled[0], LEAST_AS_SCHEDULED, pollingEchoUs);
        print(ECHO, scheduled[2], scheduled[0], Double.NaN, Double.NaN);
        print(SLEEPING_MEMORY, scheduled[3], scheduled[0], Double.NaN, scheduled[2]);
        print(BEST, Math.min(best[1], best[3]), best[0], LEAST_PLACED, best[2]);
        print(BEST_ECHO, best[2], best[0], Double.NaN, Double.NaN);
    }

    /** Judged: how many times as fast as Redis; the echo in its place makes the floor. */
    private static void print(
        final String name, final double oursUs, final double redisUs, final double least, final double echoUs)
    {
        final boolean isCompared = !Double.isNaN(redisUs);
        System.out.println(new WireFigure(name, oursUs, "us", redisUs, isCompared ? redisUs / oursUs : oursUs,
            isCompared ? least : Double.NaN, false, redisUs / echoUs).line());
    }

    /** Least median of each in any placement; with an echo and a client of Redis that sleep, then poll. */
    private double[] bestPlaced(final double[] scheduled, final String processors, final Work... works)
        throws IOException, InterruptedException
    {
        final double[] best = scheduled.clone();
        final List<String> far = WirePlaces.far(processors);
        if (far.isEmpty())
        {
            return best;
        }
        final String first = WirePlaces.near().getLast();
        for (final String others : List.of(first, far.getLast()))
        {
            place(first, others);
            for (final boolean polls : new boolean[]{false, true})
            {
                echoProcess.ask(polls ? "poll" : "wait");
                final double[] placed = inTurn(polls, works);
                for (int i = 0; i < best.length; i++)
                {
                    best[i] = Math.min(best[i], placed[i]);
                }
            }
        }
        echoProcess.ask("wait");
        place(processors, processors);
        return best;
    }

    private void place(final String own, final String others) throws IOException, InterruptedException
    {
        bind(Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString(), own, "-pc");
        bind(Long.toString(memory.process.pid()), others, "-apc");
        bind(Long.toString(sleeping.process.pid()), others, "-apc");
        bind(Long.toString(echoProcess.pid()), others, "-apc");
        if (redis != null)
        {
            bind(Long.toString(redis.process()), others, "-apc");
        }
    }

    private static void bind(final String thread, final String processors, final String option)
        throws IOException, InterruptedException
    {
        new ProcessBuilder("taskset", option, processors, thread).redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    }

    /** Medians in microseconds, measured in turn; NaN for null. */
    private double[] inTurn(final boolean redisPolls, final Work... works) throws IOException
    {
        final double[][] roundsUs = new double[works.length][rounds];
        if (redis != null)
        {
            redis.polls(redisPolls);
        }
        for (int round = 0; round < rounds; round++)
        {
            for (int i = 0; i < works.length; i++)
            {
                roundsUs[i][round] = medianNs(works[i]) / NS_PER_US;
            }
        }
        if (redis != null)
        {
            redis.polls(false);
        }
        return Arrays.stream(roundsUs).mapToDouble(WireGetsMain::median).toArray();
    }

    /** Median of one round. */
    private double medianNs(final Work work) throws IOException
    {
        if (work == null)
        {
            return Double.NaN;
        }
        final long[] elapsedNs = new long[1 << 16];
        int count = 0;
        long nowNs = clock.nanoTime();
        final long untilNs = nowNs + roundNs;
        while (nowNs - untilNs < 0 && count < elapsedNs.length)
        {
            work.run();
            final long endNs = clock.nanoTime();
            elapsedNs[count++] = endNs - nowNs;
            nowNs = endNs;
        }
        Arrays.sort(elapsedNs, 0, count);
        return elapsedNs[count / 2];
    }

    /** All processes on all processors of this one; the time of processors is that of all of them. */
    private void rates(final Work ours, final Work echoes, final Work reference) throws IOException
    {
        final double[] rates = new double[rounds];
        final double[] echoRates = new double[rounds];
        final double[] referenceRates = new double[rounds];
        final double[] cpuUs = new double[rounds];
        final double[] echoCpuUs = new double[rounds];
        final double[] referenceCpuUs = new double[rounds];
        Arrays.fill(referenceRates, Double.NaN);
        Arrays.fill(referenceCpuUs, Double.NaN);
        for (int i = 0; i < rounds; i++)
        {
            rate(i, ours, memory.process.pid(), rates, cpuUs);
            rate(i, echoes, echoProcess.pid(), echoRates, echoCpuUs);
            if (redis != null)
            {
                rate(i, reference, redis.process(), referenceRates, referenceCpuUs);
            }
        }
        final double reached = median(referenceRates);
        printRate(RATE, median(rates), reached, LEAST_RATE, median(echoRates) / reached);
        printRate(ECHO_RATE, median(echoRates), reached, Double.NaN, Double.NaN);
        printCost(COST, median(cpuUs), median(referenceCpuUs));
        printCost(ECHO_COST, median(echoCpuUs), median(referenceCpuUs));
    }

    /** Judged: the share of the rate of Redis. */
    private static void printRate(
        final String name, final double rate, final double redisRate, final double least, final double floor)
    {
        final boolean isCompared = !Double.isNaN(redisRate);
        System.out.println(new WireFigure(name, rate, "1/s", redisRate, isCompared ? rate / redisRate : rate,
            isCompared ? least : Double.NaN, false, floor).line());
    }

    private static void printCost(final String name, final double cpuUs, final double redisCpuUs)
    {
        System.out.println(new WireFigure(name, cpuUs, "us", redisCpuUs,
            Double.isNaN(redisCpuUs) ? cpuUs : cpuUs / redisCpuUs, Double.NaN, true, Double.NaN).line());
    }

    private void rate(
        final int round, final Work work, final long other, final double[] rates, final double[] cpuUs)
        throws IOException
    {
        final long cpuNs = ownCpuNs() + WireMemory.cpuNs(other);
        final long startNs = clock.nanoTime();
        long count = 0;
        long nowNs = startNs;
        // Long enough for clocks that count hundredths of a second.
        while (nowNs - startNs < roundNs * 2)
        {
            work.run();
            count += WireStore.BATCH;
            nowNs = clock.nanoTime();
        }
        rates[round] = count * NS_PER_S / (nowNs - startNs);
        cpuUs[round] = (ownCpuNs() + WireMemory.cpuNs(other) - cpuNs) / NS_PER_US / count;
    }

    /** What the process of the memory uses for one operation, which one client asks for. */
    private double memoryCpuUs(final Work work) throws IOException
    {
        final double[] all = new double[rounds];
        for (int i = 0; i < rounds; i++)
        {
            final long cpuNs = sleeping.cpuNs();
            final long startNs = clock.nanoTime();
            long count = 0;
            while (clock.nanoTime() - startNs < roundNs * 2)
            {
                work.run();
                count++;
            }
            all[i] = (sleeping.cpuNs() - cpuNs) / NS_PER_US / count;
        }
        return median(all);
    }

    private static long ownCpuNs()
    {
        return ((OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static double median(final double[] values)
    {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
