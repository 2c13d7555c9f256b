package io.verbena.cli.table;

import io.verbena.load.report.JsonWriter;
import io.verbena.load.report.TextTable;
import io.verbena.load.report.Units;
import io.verbena.table.check.CopyDifference;
import io.verbena.table.check.SpaceReport;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.TableCheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * What {@code verbena table check} has found, for people and programs.
 *
 * @param title       of the cluster.
 * @param isLive      whether others used it meanwhile.
 * @param groups      ids in the check that are groups of memory nodes.
 * @param check       what was found, after the repair.
 * @param heldBytes   what compute nodes held, -1 when it is not known or was changing.
 * @param repairs     one line each, of what was repaired.
 * @param notSwept    one line for each compute node that has not ended the sweep it was asked for.
 */
record TableCheckReport(
    String title, boolean isLive, List<Integer> groups, StoreCheck check, long heldBytes, List<String> repairs,
    List<String> notSwept)
{
    static final long NOT_KNOWN = -1;
    private static final int MAX_LINES = 20;

    boolean isSound()
    {
        return check.isSound();
    }

    boolean isComplete()
    {
        return check.unjudged().isEmpty() && notSwept.isEmpty();
    }

    /** Bytes that no word names and nobody holds; {@link #NOT_KNOWN}. */
    long lostBytes()
    {
        if (!isLive)
        {
            return 0;
        }
        return NOT_KNOWN == heldBytes ? NOT_KNOWN : sum((space) -> space.leasedBytes) -
            sum((space) -> space.namedBytes - space.namedInOrphansBytes) - heldBytes;
    }

    /** Without groups: what nodes hold of these they do not say. */
    private long sum(final ToLongFunction<SpaceReport> part)
    {
        return check.spaces().stream().filter((space) -> !groups.contains(space.memoryNodeId)).mapToLong(part).sum();
    }

    /** Changes that nobody finished, in copies that are sound. */
    private List<String> unfinished()
    {
        return check.differences().stream().filter(CopyDifference::isLeft).map(CopyDifference::toString).toList();
    }

    private List<String> problems()
    {
        final List<String> problems = new ArrayList<>(check.problems());
        check.tables().forEach((name, table) ->
            table.problems().forEach((problem) -> problems.add("table " + name + ": " + problem)));
        return problems;
    }

    private long leftovers(final String table)
    {
        return check.leftovers().stream().filter((leftover) -> leftover.table().equals(table)).count();
    }

    /** For people. */
    String text()
    {
        final StringBuilder text = new StringBuilder("Table check of ").append(title).append("\n\n");
        text.append(tables()).append('\n').append(memory()).append('\n');
        repairs.forEach((repair) -> text.append("  repaired: ").append(repair).append('\n'));
        check.unjudged().forEach((what) -> text.append("  not judged: ").append(what).append('\n'));
        check.quarantined().forEach((what) -> text.append("  quarantined: ").append(what).append('\n'));
        notSwept.forEach((what) -> text.append("  not swept: ").append(what).append('\n'));
        unfinished().stream().limit(MAX_LINES).forEach((what) ->
            text.append("  unfinished: ").append(what).append('\n'));
        final List<String> problems = problems();
        problems.stream().limit(MAX_LINES).forEach((problem) -> text.append("  ").append(problem).append('\n'));
        if (problems.size() > MAX_LINES)
        {
            text.append("  and ").append(problems.size() - MAX_LINES).append(" more: --json prints them\n");
        }
        return text.append(verdict(problems.size())).append('\n').toString();
    }

    private String verdict(final int problems)
    {
        return 0 < problems ? "NOT SOUND: " + Units.count(problems) + (1 == problems ? " violation" : " violations") :
            isComplete() ? "SOUND: every invariant holds" : "SOUND as far as it could be judged";
    }

    private TextTable tables()
    {
        final TextTable rows =
            new TextTable().row("TABLE", "RECORDS", "FILL", "RECORD BYTES", "UNDECIDED", "LEFT BEHIND", "VERDICT");
        check.tables().forEach((name, table) -> rows.row(name, Units.count(table.committed),
            String.format(Locale.ROOT, "%.3f", (double)table.committed / Math.max(1, table.slots)),
            Units.mebibytes(table.blockBytes), Units.count(table.tentative), Units.count(leftovers(name)),
            verdict(table)));
        return rows;
    }

    private static String verdict(final TableCheck table)
    {
        return table.dropped ? "dropped" : table.isSound() ? "sound" : "NOT SOUND";
    }

    private String memory()
    {
        final TextTable rows =
            new TextTable().row("MEMORY NODE", "FREE", "INDEX", "LEASED", "IN RECORDS", "CLOSED", "INDEX UNUSED");
        check.spaces().forEach((space) -> rows.row(
            (groups.contains(space.memoryNodeId) ? "group " : "") + space.memoryNodeId,
            Units.mebibytes(space.freeChunkBytes), Units.mebibytes(space.indexBytes),
            Units.mebibytes(space.leasedBytes), Units.mebibytes(space.namedBytes), Units.mebibytes(space.orphanBytes),
            Units.mebibytes(space.unnamedIndexBytes)));
        final long lost = lostBytes();
        return rows + "\n" + (!isLive ? "  no node lives: the next nodes reclaim what is leased and in no record\n" :
            NOT_KNOWN == lost ? "  what compute nodes hold is unknown, or was changing: lost bytes are not reported\n" :
            "  compute nodes hold " + Units.mebibytes(heldBytes) + "; lost " + Units.count(lost) + " bytes\n");
    }

    /** For programs. */
    String json()
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("cluster", title);
        figures.put("live", isLive);
        figures.put("sound", isSound());
        figures.put("complete", isComplete());
        figures.put("tables", check.tables().entrySet().stream().map((entry) ->
            table(entry.getKey(), entry.getValue())).toList());
        figures.put("memory_nodes", check.spaces().stream().map(this::space).toList());
        figures.put("held_bytes", NOT_KNOWN == heldBytes ? null : heldBytes);
        figures.put("lost_bytes", NOT_KNOWN == lostBytes() ? null : lostBytes());
        figures.put("left_behind", check.leftovers().size());
        figures.put("repairs", repairs);
        figures.put("not_judged", check.unjudged());
        figures.put("quarantined", check.quarantined());
        figures.put("not_swept", notSwept);
        figures.put("unfinished_copies", unfinished());
        figures.put("problems", problems());
        return JsonWriter.write(figures);
    }

    private Map<String, Object> table(final String name, final TableCheck table)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("table", name);
        figures.put("sound", table.isSound());
        figures.put("dropped", table.dropped);
        figures.put("records", table.committed);
        figures.put("slots", table.slots);
        figures.put("record_bytes", table.blockBytes);
        figures.put("with_deadline", table.withDeadline);
        figures.put("expired", table.expired);
        figures.put("undecided", table.tentative);
        figures.put("left_behind", leftovers(name));
        figures.put("unsettled", table.unsettled);
        figures.put("splits_under_way", table.splitsUnderWay);
        figures.put("violations", table.problemCount);
        return figures;
    }

    private Map<String, Object> space(final SpaceReport space)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put(groups.contains(space.memoryNodeId) ? "group" : "memory_node", space.memoryNodeId);
        figures.put("free_bytes", space.freeChunkBytes);
        figures.put("index_bytes", space.indexBytes);
        figures.put("unused_index_bytes", space.unnamedIndexBytes);
        figures.put("leased_bytes", space.leasedBytes);
        figures.put("named_bytes", space.namedBytes);
        figures.put("closed_bytes", space.orphanBytes);
        figures.put("unnamed_chunks", space.unnamedChunks.cardinality());
        return figures;
    }
}
