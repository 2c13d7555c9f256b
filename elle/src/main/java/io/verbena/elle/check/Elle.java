package io.verbena.elle.check;

import io.verbena.elle.history.History;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Model;
import io.verbena.elle.Validity;

/**
 * Checks in one line, for programs and tests.
 */
public final class Elle
{
    private Elle()
    {
    }

    /**
     * Checks whether a history is linearizable.
     *
     * @param history what clients saw.
     * @param model   of the object they used, see {@link io.verbena.elle.linear.Models}.
     * @param options bounds of the check.
     * @return valid, invalid or, if a bound was hit, unknown; with reasons.
     * @throws io.verbena.elle.history.HistoryException if the model does not know a function of the history.
     */
    public static LinearVerdict checkLinearizable(
        final History history, final Model<?> model, final LinearOptions options)
    {
        return new LinearChecker<>(model, options).check(history);
    }

    /**
     * Checks whether a history is linearizable, with the default bounds.
     *
     * @param history what clients saw.
     * @param model   of the object they used.
     * @return valid, invalid or unknown, with reasons.
     */
    public static LinearVerdict checkLinearizable(final History history, final Model<?> model)
    {
        return checkLinearizable(history, model, LinearOptions.defaults());
    }

    /**
     * Fails a test whose history is not certainly linearizable; an unknown verdict fails too.
     *
     * @param history what clients saw.
     * @param model   of the object they used.
     * @throws AssertionError with the explanation, unless the verdict is valid.
     */
    public static void assertLinearizable(final History history, final Model<?> model)
    {
        final LinearVerdict verdict = checkLinearizable(history, model);
        if (verdict.validity() != Validity.VALID)
        {
            throw new AssertionError(verdict.explanation());
        }
    }
}
