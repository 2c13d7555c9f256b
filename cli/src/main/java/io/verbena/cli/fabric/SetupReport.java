package io.verbena.cli.fabric;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.elle.history.JsonWriter;
import io.verbena.rdma.conformance.perf.SetupResult;
import io.verbena.rdma.conformance.perf.SetupRun;
import org.agrona.concurrent.SystemNanoClock;

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** {@code verbena fabric perf --setup}: what it takes until a first request can be posted. */
final class SetupReport
{
    private static final double NS_PER_US = 1_000;
    private static final double NS_PER_MS = 1_000_000;

    private final String device;
    private final int rounds;

    SetupReport(final String device, final int rounds)
    {
        if (device.equals("sim") || device.startsWith("sim:"))
        {
            throw new CommandFailedException(ExitStatus.USAGE,
                "--setup on " + device + ": a simulated set-up takes no real time; choose soft or ibverbs", null);
        }
        if (rounds < 2 || rounds > 10_000)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--rounds " + rounds + ": must be 2 to 10000", null);
        }
        this.device = device;
        this.rounds = rounds;
    }

    void run(final PrintWriter out, final OutputFile output)
    {
        final long jvmNs = (long)(ManagementFactory.getRuntimeMXBean().getUptime() * NS_PER_MS);
        final SetupRun run = new SetupRun(device, rounds, SystemNanoClock.INSTANCE);
        run.loadLibrary();
        final List<SetupResult> results = FabricDevice.on(device, run::run);
        print(out, jvmNs, results);
        output.write(json(jvmNs, results));
    }

    private void print(final PrintWriter out, final long jvmNs, final List<SetupResult> results)
    {
        out.printf(Locale.ROOT, "set-up on %s: the first time in this process, and %,d times after it%n", device,
            rounds - 1);
        out.printf(Locale.ROOT, "  %-18s %12s %12s %12s%n", "step", "cold us", "warm us", "least us");
        out.printf(Locale.ROOT, "  %-18s %,12.1f%n", "start of the JVM", jvmNs / NS_PER_US);
        for (final SetupResult result : results)
        {
            out.println(line(result));
        }
        final long exchangeNs = addressExchangeNs(results);
        if (exchangeNs >= 0)
        {
            out.printf(Locale.ROOT,
                "  of connect, %,.1f us warm are the address exchange, the rest the states of both sides%n",
                exchangeNs / NS_PER_US);
        }
        out.flush();
    }

    private static String line(final SetupResult result)
    {
        final String name = String.format(Locale.ROOT, "  %-18s ", result.step().text());
        if (!result.isThere())
        {
            return name + String.format(Locale.ROOT, "%12s", "not there");
        }
        final String cold = name + String.format(Locale.ROOT, "%,12.1f", result.coldNs() / NS_PER_US);
        return !result.isRepeated() ? cold : cold + String.format(
            Locale.ROOT, " %,12.1f %,12.1f", result.warmNs() / NS_PER_US, result.leastWarmNs() / NS_PER_US);
    }

    /** What of connecting is neither side's changes of state, by the medians; -1 where these are not known. */
    private static long addressExchangeNs(final List<SetupResult> results)
    {
        long exchangeNs = 0;
        for (final SetupResult result : results)
        {
            switch (result.step())
            {
                case INIT, READY_TO_RECEIVE, READY_TO_SEND ->
                {
                    if (!result.isRepeated())
                    {
                        return -1;
                    }
                    exchangeNs -= 2 * result.warmNs();
                }
                case CONNECT -> exchangeNs += result.warmNs();
                default ->
                {
                }
            }
        }
        return Math.max(0, exchangeNs);
    }

    private String json(final long jvmNs, final List<SetupResult> results)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "setup");
        fields.put("device", device);
        fields.put("rounds", (long)rounds);
        fields.put("processors", (long)Runtime.getRuntime().availableProcessors());
        fields.put("jvm_start_ns", jvmNs);
        final long exchangeNs = addressExchangeNs(results);
        if (exchangeNs >= 0)
        {
            fields.put("address_exchange_warm_ns", exchangeNs);
        }
        fields.put("steps", results.stream().filter(SetupResult::isThere).map(SetupReport::fields).toList());
        final StringBuilder text = new StringBuilder();
        JsonWriter.appendValue(text, fields);
        return text.append('\n').toString();
    }

    private static Map<String, Object> fields(final SetupResult result)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("step", result.step().text());
        fields.put("cold_ns", result.coldNs());
        if (result.isRepeated())
        {
            fields.put("warm_median_ns", result.warmNs());
            fields.put("warm_least_ns", result.leastWarmNs());
        }
        return fields;
    }
}
