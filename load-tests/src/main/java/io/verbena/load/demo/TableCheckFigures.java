package io.verbena.load.demo;

import java.util.Map;

/**
 * What a check of all tables and all memory has found at the end of a demo.
 *
 * @param records      in the tables.
 * @param violations   of what must always be true.
 * @param lostBytes    owned by nobody; -1 where it is not known what all nodes hold.
 * @param leftBehind   undecided inserts of nodes that ended, and tombstones.
 * @param firstProblem one line, or null.
 */
public record TableCheckFigures(long records, long violations, long lostBytes, long leftBehind, String firstProblem)
{
    /** In {@link #lostBytes}: nobody knows. */
    public static final long NOT_KNOWN = -1;

    boolean holds()
    {
        return 0 == violations;
    }

    void addTo(final Map<String, Object> figures)
    {
        figures.put("table_check_records", records);
        figures.put("table_check_violations", violations);
        figures.put("table_check_lost_bytes", NOT_KNOWN == lostBytes ? null : lostBytes);
        figures.put("table_check_left_behind", leftBehind);
        figures.put("table_check_first_problem", firstProblem);
    }
}
