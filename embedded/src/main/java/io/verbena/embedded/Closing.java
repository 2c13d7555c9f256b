package io.verbena.embedded;

/** Takes every step of closing, whatever earlier ones threw, and throws the first failure at the end. Used once. */
final class Closing
{
    private RuntimeException failure;

    void step(final Runnable step)
    {
        try
        {
            step.run();
        }
        catch (final RuntimeException ex)
        {
            if (null == failure)
            {
                failure = ex;
            }
            else
            {
                failure.addSuppressed(ex);
            }
        }
    }

    void throwIfFailed()
    {
        if (null != failure)
        {
            throw failure instanceof final EmbeddedClusterException ex ?
                ex : new EmbeddedClusterException("cluster did not close in order: " + failure.getMessage(), failure);
        }
    }
}
