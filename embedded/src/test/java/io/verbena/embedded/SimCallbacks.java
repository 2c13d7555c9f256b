package io.verbena.embedded;

import io.verbena.rdma.sim.SimWorld;

import java.util.function.BiConsumer;

/** What looks at answers in a simulated run, and fails there. */
final class SimCallbacks
{
    private SimCallbacks()
    {
    }

    /**
     * Makes what a callback throws end the run, in the next step. A future would keep it for nobody: whoever was called
     * back would not go on, and the run would wait for that until it has made all its steps.
     *
     * @param world    of the run.
     * @param callback of a future.
     * @return to be given to the future instead.
     */
    static <T> BiConsumer<T, Throwable> ending(final SimWorld world, final BiConsumer<T, Throwable> callback)
    {
        return (result, error) ->
        {
            try
            {
                callback.accept(result, error);
            }
            catch (final RuntimeException | AssertionError ex)
            {
                world.after(1, () ->
                {
                    throw world.failure("an answer was not as it may be: " + ex.getMessage(), ex);
                });
            }
        };
    }
}
