package io.verbena.rdma.sim.schedule;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One thing that goes wrong in a run. Its text, such as {@code pause compute-1 at 20000ns for 40000ns}, is what
 * failures print and what {@link #parse} reads. Times are virtual; those of the first four kinds count from
 * {@code SimWorld.injectFaults}.
 *
 * @param kind       what happens.
 * @param node       to whom.
 * @param peer       other end of a {@link Kind#BREAK}, else empty.
 * @param atNs       when; 0 for a delay or a stall, which have a count instead.
 * @param count      requests before {@link Kind#KILL_AFTER}; which message or call (from 0) is slow.
 * @param durationNs of a pause, delay or stall.
 * @param number     queue pair of a delay, agent (from 0) of a stall.
 * @param direction  of a delay: 0 request, 1 response, 2 connection message.
 */
public record SimFault(
    Kind kind, String node, String peer, long atNs, long count, long durationNs, int number, int direction)
{
    private static final List<String> DIRECTIONS = List.of("request", "response", "connect");
    private static final Pattern TEXT = Pattern.compile(
        "(kill|break|pause|delay|stall) (\\S+)(?: from (\\S+))?(?: (?:qp|agent) (\\d+))?" +
        "(?: (?:(request|response|connect|call) (\\d+)))?(?: at (\\d+)ns)?(?: after (\\d+) requests)?" +
        "(?: (?:for|by) (\\d+)ns)?");

    /** Kinds of faults. */
    public enum Kind
    {
        /** The node dies. */
        KILL,
        /** The node dies exactly after so many more of its requests were executed. */
        KILL_AFTER,
        /** The node stands still for a while; what it sent may land late. */
        PAUSE,
        /** Present connections between two nodes are cut. */
        BREAK,
        /** One message is slow. */
        DELAY,
        /** One agent is not called for a while. */
        STALL
    }

    public static SimFault kill(final String node, final long atNs)
    {
        return new SimFault(Kind.KILL, node, "", atNs, 0, 0, 0, 0);
    }

    public static SimFault killAfter(final String node, final long atNs, final long requestCount)
    {
        return new SimFault(Kind.KILL_AFTER, node, "", atNs, requestCount, 0, 0, 0);
    }

    public static SimFault pause(final String node, final long atNs, final long durationNs)
    {
        return new SimFault(Kind.PAUSE, node, "", atNs, 0, durationNs, 0, 0);
    }

    public static SimFault breakConnections(final String node, final String peer, final long atNs)
    {
        return new SimFault(Kind.BREAK, node, peer, atNs, 0, 0, 0, 0);
    }

    public SimFault withAtNs(final long newAtNs)
    {
        return new SimFault(kind, node, peer, newAtNs, count, durationNs, number, direction);
    }

    public SimFault withDurationNs(final long newDurationNs)
    {
        return new SimFault(kind, node, peer, atNs, count, newDurationNs, number, direction);
    }

    /** Whether it happens at a time, and not to a message or call. */
    public boolean isScheduled()
    {
        return kind != Kind.DELAY && kind != Kind.STALL;
    }

    @Override
    public String toString()
    {
        return switch (kind)
        {
            case KILL -> "kill " + node + " at " + atNs + "ns";
            case KILL_AFTER -> "kill " + node + " at " + atNs + "ns after " + count + " requests";
            case PAUSE -> "pause " + node + " at " + atNs + "ns for " + durationNs + "ns";
            case BREAK -> "break " + node + " from " + peer + " at " + atNs + "ns";
            case DELAY -> "delay " + node + " qp " + number + ' ' + DIRECTIONS.get(direction) + ' ' + count + " by " +
                durationNs + "ns";
            case STALL -> "stall " + node + " agent " + number + " call " + count + " for " + durationNs + "ns";
        };
    }

    /**
     * Reads a schedule.
     *
     * @param text faults as {@link #toString()} writes them, separated by {@code ;} or line ends; may be blank.
     * @return the faults.
     * @throws IllegalArgumentException when one cannot be read.
     */
    public static List<SimFault> parse(final String text)
    {
        final List<SimFault> faults = new ArrayList<>();
        for (final String line : text.split("[;\\n]"))
        {
            if (!line.isBlank())
            {
                faults.add(parseOne(line.strip()));
            }
        }
        return faults;
    }

    /**
     * The opposite of {@link #parse}.
     *
     * @param faults to write.
     * @return one line.
     */
    public static String format(final Collection<SimFault> faults)
    {
        return String.join("; ", faults.stream().map(SimFault::toString).toList());
    }

    private static SimFault parseOne(final String line)
    {
        final Matcher matcher = TEXT.matcher(line);
        if (!matcher.matches())
        {
            throw new IllegalArgumentException(
                "not a fault: '" + line + "', expected such as 'pause compute-1 at 20000ns for 40000ns'");
        }
        final boolean isKillAfter = matcher.group(8) != null;
        final SimFault fault = new SimFault(
            isKillAfter ? Kind.KILL_AFTER : Kind.valueOf(matcher.group(1).toUpperCase(Locale.ROOT)),
            matcher.group(2),
            matcher.group(3) == null ? "" : matcher.group(3),
            number(matcher.group(7)),
            number(isKillAfter ? matcher.group(8) : matcher.group(6)),
            number(matcher.group(9)),
            (int)number(matcher.group(4)),
            Math.max(0, DIRECTIONS.indexOf(String.valueOf(matcher.group(5)))));
        if (!fault.toString().equals(line) || fault.kind != Kind.BREAK && !fault.peer.isEmpty())
        {
            throw new IllegalArgumentException("not a fault: '" + line + "', nearest is '" + fault + "'");
        }
        return fault;
    }

    private static long number(final String digits)
    {
        return digits == null ? 0 : Long.parseLong(digits);
    }
}
