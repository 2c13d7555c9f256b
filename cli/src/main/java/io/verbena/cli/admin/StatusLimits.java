package io.verbena.cli.admin;

import io.verbena.load.report.TextTable;
import io.verbena.load.report.Units;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The limits of processes: their figure {@code limits}, with what is used of each. Stateless. */
final class StatusLimits
{
    /** The figure: a list with {@code name}, {@code use}, {@code limit} and {@code option} of each. */
    static final String LIMITS = "limits";
    /** From this part of a limit on there is a warning. */
    private static final int NEAR_PERCENT = 90;
    /** From this part of a limit on it is in the table. */
    private static final int SHOWN_PERCENT = 50;
    private static final int PERCENT = 100;

    private record Limit(String name, long use, long most, String option)
    {
        static Limit of(final Map<?, ?> figure)
        {
            return new Limit(figure.get("name").toString(), (Long)figure.get("use"), (Long)figure.get("limit"),
                figure.get("option").toString());
        }

        boolean isUsedTo(final int percent)
        {
            return use > 0 && PERCENT * use >= percent * most;
        }
    }

    private StatusLimits()
    {
    }

    private static List<Limit> limits(final Map<?, ?> process)
    {
        final List<Limit> limits = new ArrayList<>();
        if (process.get("health") instanceof final Map<?, ?> health && health.get(LIMITS) instanceof final List<?> list)
        {
            list.forEach((figure) -> limits.add(Limit.of((Map<?, ?>)figure)));
        }
        return limits;
    }

    /**
     * What will soon be full.
     *
     * @param process its {@code name} and {@code health}, as in the JSON object.
     * @return a line for each limit that is nearly reached, with the name of the process.
     */
    static List<String> warnings(final Map<?, ?> process)
    {
        return limits(process).stream().filter((limit) -> limit.isUsedTo(NEAR_PERCENT))
            .map((limit) -> process.get("name") + ": " + limit.name + ": " + Units.count(limit.use) + " of at most " +
                Units.count(limit.most) + " are in use; option that raises it: " + limit.option).toList();
    }

    /**
     * The limits.
     *
     * @param processes each with its {@code name} and {@code health}, as in the JSON object.
     * @param isWhole   whether all are shown, or those of which half is in use.
     * @return a table; empty where there are none.
     */
    static String table(final List<Map<?, ?>> processes, final boolean isWhole)
    {
        final TextTable table = new TextTable().row("PROCESS", "LIMIT", "USE", "MOST", "OPTION");
        boolean isEmpty = true;
        for (final Map<?, ?> process : processes)
        {
            for (final Limit limit : limits(process))
            {
                if (isWhole || limit.isUsedTo(SHOWN_PERCENT))
                {
                    table.row(process.get("name").toString(), limit.name, Units.count(limit.use),
                        Units.count(limit.most), limit.option);
                    isEmpty = false;
                }
            }
        }
        return isEmpty ? "" : "\n" + table;
    }
}
