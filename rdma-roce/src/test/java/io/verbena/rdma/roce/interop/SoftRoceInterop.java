package io.verbena.rdma.roce.interop;

import java.net.InetAddress;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Our engine and Linux's Soft-RoCE exchange packets, each in both roles. Run in the guest by {@code dev/guest/interop}:
 * there Soft-RoCE is on one end of a veth pair, and the other end is in a network namespace. Prints a line for each
 * rule and ends with 1 when one does not hold that is not known not to.
 */
final class SoftRoceInterop
{
    private SoftRoceInterop()
    {
    }

    /** @param arguments fabric name of Soft-RoCE, namespace of the engine, its address, and perhaps which rules. */
    public static void main(final String... arguments) throws Exception
    {
        final Pattern which = Pattern.compile(arguments.length > 3 ? arguments[3] : "");
        int failures = 0;
        int rules = 0;
        try (SoftRoceSide rxe = new SoftRoceSide(arguments[0]);
            EngineSide ours = new EngineSide(arguments[1], InetAddress.getByName(arguments[2])))
        {
            System.out.println("verbena " + ours.address() + ", rxe " + rxe.address());
            for (final Map.Entry<String, Consumer<InteropPair>> rule : new InteropRules().all().entrySet())
            {
                if (!which.matcher(rule.getKey()).find())
                {
                    continue;
                }
                failures += judge(rule, ours, rxe, ours) + judge(rule, rxe, ours, ours);
                rules += 2;
            }
            final Map<String, Consumer<EngineSide>> runs = new ProgramRuns(arguments[0], rxe.address()).all();
            runs.keySet().removeIf((name) -> !which.matcher(name).find());
            if (0 == rules && !runs.isEmpty())
            {
                warm(ours, rxe);
            }
            for (final Map.Entry<String, Consumer<EngineSide>> run : runs.entrySet())
            {
                failures += judge(run, ours);
                rules++;
            }
        }
        System.out.println(rules + " rules, " + failures + " failed");
        System.exit(failures == 0 ? 0 : 1);
    }

    /** In the emulator a JVM answers the first packets of its life later than the programs wait. */
    private static void warm(final EngineSide ours, final InteropSide rxe)
    {
        try (InteropPair pair = new InteropPair(ours, rxe, ours))
        {
            DisturbedRules.mixed(pair, 1, 0, 0, 0);
        }
    }

    private static int judge(final Map.Entry<String, Consumer<EngineSide>> run, final EngineSide ours)
    {
        final long beganNs = System.nanoTime();
        String verdict = "holds";
        try
        {
            run.getValue().accept(ours);
        }
        catch (final RuntimeException | AssertionError ex)
        {
            verdict = "FAILS: " + ex;
        }
        System.out.printf("%-84s %5d ms  %s%n", run.getKey(), (System.nanoTime() - beganNs) / 1_000_000, verdict);
        return verdict.startsWith("FAILS") ? 1 : 0;
    }

    private static int judge(
        final Map.Entry<String, Consumer<InteropPair>> rule, final InteropSide a, final InteropSide b,
        final EngineSide ours)
    {
        final long beganNs = System.nanoTime();
        String verdict = "holds";
        String trace = "";
        try (InteropPair pair = new InteropPair(a, b, ours))
        {
            rule.getValue().accept(pair);
        }
        catch (final RuntimeException | AssertionError ex)
        {
            final String why = InteropRules.KNOWN.get(a + ">" + b + " " + rule.getKey());
            verdict = null == why ? "FAILS: " + ex : "known: " + why;
            trace = null == why ? ours.wire.trace() : "";
        }
        System.out.printf("%-8s %-75s %5d ms  %s%n",
            a + ">" + b, rule.getKey(), (System.nanoTime() - beganNs) / 1_000_000, verdict);
        if (!trace.isEmpty() && Boolean.getBoolean("verbena.interop.trace"))
        {
            System.out.println(trace);
        }
        return verdict.startsWith("FAILS") ? 1 : 0;
    }
}
