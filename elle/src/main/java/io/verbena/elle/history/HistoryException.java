package io.verbena.elle.history;

/**
 * A history that cannot be checked because it is broken; the message names source, line and remedy.
 */
public final class HistoryException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    private final String source;
    private final int line;

    /**
     * Makes the error of one place.
     *
     * @param source file name or other name of the history.
     * @param line   from 1; 0 if the error has no line.
     * @param what   what is wrong there.
     */
    public HistoryException(final String source, final int line, final String what)
    {
        super(line > 0 ? source + ":" + line + ": " + what : source + ": " + what);
        this.source = source;
        this.line = line;
    }

    /**
     * Where the broken history came from.
     *
     * @return file name or other name.
     */
    public String source()
    {
        return source;
    }

    /**
     * The line at fault.
     *
     * @return from 1; 0 if the error has no line.
     */
    public int line()
    {
        return line;
    }
}
