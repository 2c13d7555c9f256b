package io.verbena.rdma.soft.shared;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/**
 * Work on files that an interrupt does not end: it closes the channel that its thread works on, or is about to, and
 * whether memory can be allocated or mapped must not depend on that. Stateless.
 */
final class Uninterrupted
{
    /** Work on a file that can be done again from its beginning. */
    interface FileWork<T>
    {
        T execute() throws IOException;
    }

    private Uninterrupted()
    {
    }

    /**
     * Works, again after each interrupt; the thread is interrupted again afterwards.
     *
     * @param work to be done.
     * @return what it returned.
     * @throws IOException of the work, for any other reason.
     */
    static <T> T execute(final FileWork<T> work) throws IOException
    {
        boolean isInterrupted = Thread.interrupted();
        try
        {
            while (true)
            {
                try
                {
                    return work.execute();
                }
                catch (final ClosedByInterruptException ex)
                {
                    isInterrupted |= Thread.interrupted();
                }
            }
        }
        finally
        {
            if (isInterrupted)
            {
                Thread.currentThread().interrupt();
            }
        }
    }
}
