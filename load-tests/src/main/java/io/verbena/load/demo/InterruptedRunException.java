package io.verbena.load.demo;

/**
 * The process is ending (Ctrl-C): the run was given up and its cluster closed.
 */
public final class InterruptedRunException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    InterruptedRunException(final Throwable cause)
    {
        super("interrupted", cause);
    }
}
