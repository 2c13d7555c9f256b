package io.verbena.server;

/** Closes several things whatever goes wrong with one of them, and throws the first failure at the end. */
final class Closing
{
    private RuntimeException first;

    Closing step(final Runnable step)
    {
        try
        {
            step.run();
        }
        catch (final RuntimeException ex)
        {
            if (null == first)
            {
                first = ex;
            }
            else
            {
                first.addSuppressed(ex);
            }
        }
        return this;
    }

    void throwIfFailed()
    {
        if (null != first)
        {
            throw first;
        }
    }
}
