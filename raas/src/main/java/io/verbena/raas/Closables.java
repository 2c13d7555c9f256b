package io.verbena.raas;

import java.util.ArrayDeque;

/** What is closed together, last made first. */
final class Closables implements AutoCloseable
{
    private final ArrayDeque<AutoCloseable> open = new ArrayDeque<>();

    <T extends AutoCloseable> T add(final T closable)
    {
        open.push(closable);
        return closable;
    }

    @Override
    public void close()
    {
        while (!open.isEmpty())
        {
            try
            {
                open.pop().close();
            }
            catch (final RuntimeException ex)
            {
                throw ex;
            }
            catch (final Exception ex)
            {
                throw new IllegalStateException(ex);
            }
        }
    }
}
