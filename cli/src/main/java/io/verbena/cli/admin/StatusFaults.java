package io.verbena.cli.admin;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What is wrong with a process, one line for each fault. A role reports a fault either by a figure of {@link #FAULTS}
 * that has not its expected value, or by a line in its figure {@code errors}, a list of texts. Stateless.
 */
final class StatusFaults
{
    /** The figure whose lines are faults, as they are. */
    static final String ERRORS = "errors";

    /** Figures that have one value while all is well; {@code %s} in the text is the value instead of it. */
    private static final List<Fault> FAULTS = List.of(
        new Fault("failure", "", "failed: %s"),
        new Fault("meta_server", "reached", "cannot reach the meta server; is it dead, or stopped?"),
        new Fault("group_problem", "", "the group of meta servers has %s"),
        new Fault("group_unreachable", "", "meta servers that the leader does not reach: %s; 'verbena up' starts " +
            "dead ones again"),
        new Fault("group_behind", "", "meta servers that are 1,000 entries behind in the log: %s; is a disk slow, or " +
            "a host busy?"),
        new Fault("lost_memory_nodes", "0", "memory nodes that are lost: %s; reads and writes of records " +
            "that no other memory node has fail"),
        new Fault("failed_requests", "0", "requests that failed unexpectedly: %s; its log says which and why"),
        new Fault("failed_dc_initiators", "0", "DC initiators that failed: %s; reads go over connected queue pairs " +
            "instead; its log says why"),
        new Fault("last_refused_handshake", "", "it has refused connections; the last one: %s"),
        new Fault("unreachable_memory_nodes", "", "memory nodes that it does not reach: %s"),
        new Fault("refused_connections", "0", "connections refused so far for want of room: %s; raise --max-clients"),
        new Fault("damaged_records", "0", "damaged records in its memory when it started: %s; operations on their " +
            "keys fail, all others do not; 'verbena table check' lists them"),
        new Fault("quarantined_chunks", "0", "chunks whose headers were damaged: %s; their records are served, their " +
            "memory is not used again until 'verbena down' and 'verbena up'; 'verbena table check --all' lists them"),
        new Fault("checkpoint_failure", "", "the last checkpoint failed, the one before stays good: %s"),
        new Fault("checkpoint_groups_left_out", "", "the last checkpoint is without the tables of groups %s: their " +
            "views were changing, or the meta server did not answer; the one before of each stays good"));
    private static final Set<String> NAMES =
        FAULTS.stream().map(Fault::figure).collect(Collectors.toUnmodifiableSet());

    private record Fault(String figure, String expected, String text)
    {
        boolean isIn(final Map<?, ?> health)
        {
            return null != health.get(figure) && !expected.equals(health.get(figure).toString());
        }
    }

    private StatusFaults()
    {
    }

    /** Whether a figure appears among the faults only, so that nothing else needs to show it. */
    static boolean isFault(final String figure)
    {
        return ERRORS.equals(figure) || NAMES.contains(figure);
    }

    /**
     * Groups whose copies may be lost together.
     *
     * @param groups of memory nodes, as in the JSON object.
     * @return a line for each failure domain in which several memory nodes of a group are.
     */
    static List<String> sharedDomains(final List<Map<?, ?>> groups)
    {
        final List<String> lines = new ArrayList<>();
        for (final Map<?, ?> group : groups)
        {
            final Map<String, List<String>> nodes = new TreeMap<>();
            if (group.get("failure_domains") instanceof final List<?> labels)
            {
                final List<?> members = (List<?>)group.get("memory_nodes");
                for (int i = 0; i < labels.size(); i++)
                {
                    nodes.computeIfAbsent(labels.get(i).toString(), (_) -> new ArrayList<>())
                        .add(members.get(i).toString());
                }
            }
            nodes.remove("");
            nodes.forEach((label, ids) -> lines.addAll(1 == ids.size() ? List.of() : List.of("group " +
                group.get("group") + ": memory nodes " + String.join(", ", ids) + " are in failure domain " + label +
                ": what takes it down takes " + ids.size() + " copies of their tables")));
        }
        return lines;
    }

    /**
     * The faults of a process.
     *
     * @param process its {@code name}, {@code pid}, {@code live} and {@code health}, as in the JSON object.
     * @return a line for each, with the name of the process.
     */
    static List<String> of(final Map<?, ?> process)
    {
        final List<String> faults = new ArrayList<>();
        final String name = process.get("name") + ": ";
        if (!Boolean.TRUE.equals(process.get("live")))
        {
            faults.add(name + "process " + process.get("pid") + " is dead; './verbena up' starts it again");
        }
        else if (!(process.get("health") instanceof final Map<?, ?> health))
        {
            faults.add(name + "process " + process.get("pid") + " does not answer at its health endpoint; its log " +
                "may say why");
        }
        else
        {
            FAULTS.stream().filter((fault) -> fault.isIn(health)).forEach((fault) ->
                faults.add(name + String.format(fault.text, health.get(fault.figure))));
            if (health.get(ERRORS) instanceof final List<?> lines)
            {
                lines.forEach((line) -> faults.add(name + line));
            }
        }
        return faults;
    }
}
