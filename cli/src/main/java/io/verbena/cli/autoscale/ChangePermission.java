package io.verbena.cli.autoscale;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.util.function.BooleanSupplier;

/**
 * Whether nodes may be started, activated and ended: by an autoscaler of a meta server only under the leadership under
 * which it began. Immutable.
 *
 * @param leads whether that is in force at this moment; any thread.
 */
record ChangePermission(BooleanSupplier leads)
{
    /** Of an autoscaler that is a process of its own. */
    static final ChangePermission ALWAYS = new ChangePermission(() -> true);

    /** @throws CommandFailedException INTERRUPTED when it has ended. */
    void require()
    {
        if (!leads.getAsBoolean())
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "this meta server does not lead any more", null);
        }
    }
}
