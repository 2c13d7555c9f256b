package io.verbena.elle.command;

import io.verbena.elle.Validity;

import java.util.Map;
import java.util.function.Supplier;

/**
 * What the check of one history found.
 *
 * @param validity the verdict.
 * @param text     the verdict and its reasons for people, of several lines.
 * @param fields   the same for programs, to be written by {@link io.verbena.elle.history.JsonWriter}; keys are in
 *                 snake case and end in units.
 * @param page     draws the same as a self-contained HTML document, when it is asked for.
 */
public record HistoryReport(Validity validity, String text, Map<String, Object> fields, Supplier<String> page)
{
}
