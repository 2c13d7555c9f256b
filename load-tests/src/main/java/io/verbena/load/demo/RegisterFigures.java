package io.verbena.load.demo;

import java.util.Map;

/**
 * What the checker says of the register clients' history.
 *
 * @param operations   of clients in the history.
 * @param deadlines    that these named, each an operation of the clock's in the history.
 * @param linearizable true if it is, false if it is not, null if the checker's time or memory was used up.
 * @param explanation  the checker's words unless it is linearizable.
 * @param elapsedNs    time the check took.
 */
record RegisterFigures(long operations, long deadlines, Boolean linearizable, String explanation, long elapsedNs)
{
    void addTo(final Map<String, Object> figures)
    {
        figures.put("register_operations", operations);
        figures.put("register_deadlines", deadlines);
        figures.put("linearizable", linearizable);
        figures.put("linearizability_check_ns", elapsedNs);
    }
}
