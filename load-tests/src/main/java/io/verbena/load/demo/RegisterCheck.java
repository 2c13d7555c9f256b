package io.verbena.load.demo;

import io.verbena.elle.Validity;
import io.verbena.elle.check.Elle;
import io.verbena.elle.history.History;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;

import java.util.concurrent.TimeUnit;

/**
 * Asks elle whether the register clients' history is linearizable.
 */
final class RegisterCheck
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);

    private RegisterCheck()
    {
    }

    /**
     * @param deadlines that have an operation of the clock's in the history.
     */
    static RegisterFigures check(final History history, final int deadlines)
    {
        final LinearVerdict verdict = Elle.checkLinearizable(
            history, Models.versionedKvMap(), LinearOptions.defaults().withTimeoutNs(TIMEOUT_NS));
        return new RegisterFigures(
            history.operations().size() - deadlines,
            deadlines,
            switch (verdict.validity())
            {
                case VALID -> true;
                case INVALID -> false;
                case UNKNOWN -> null;
            },
            verdict.validity() == Validity.VALID ? null : verdict.explanation(),
            verdict.elapsedNs());
    }
}
