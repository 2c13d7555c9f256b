package io.verbena.elle.linear;

/**
 * A value that a model cannot read; the checker, which knows the history's name, makes it an error of the history.
 */
final class BadValueException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    private final int line;

    BadValueException(final int line, final String what)
    {
        super(what);
        this.line = line;
    }

    int line()
    {
        return line;
    }
}
