package io.verbena.cli.doctor;

/**
 * What a check found.
 *
 * @param check  name of it.
 * @param level  how bad it is.
 * @param value  what is there, in one line.
 * @param advice what to change, in one line; empty when nothing needs to be.
 */
record Finding(String check, Level level, String value, String advice)
{
    /** From good to bad. */
    enum Level
    {
        /** As it should be. */
        OK,
        /** It works, and would be better or safer otherwise. */
        WARNING,
        /** Something will fail. */
        ERROR
    }

    static Finding ok(final String check, final String value)
    {
        return new Finding(check, Level.OK, value, "");
    }

    static Finding warning(final String check, final String value, final String advice)
    {
        return new Finding(check, Level.WARNING, value, advice);
    }

    static Finding error(final String check, final String value, final String advice)
    {
        return new Finding(check, Level.ERROR, value, advice);
    }
}
