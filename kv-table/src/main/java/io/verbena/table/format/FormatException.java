package io.verbena.table.format;

/** Bytes that are not what their place promises: a wrong magic, an unknown version, a failed check. */
public final class FormatException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** @param message which format, which field, the value found, and what was expected. */
    public FormatException(final String message)
    {
        super(message);
    }

    /**
     * Refuses a format version by name.
     *
     * @param format  name of the format.
     * @param found   version that was read.
     * @param known   the one version this release reads.
     * @return the exception, for the caller to throw.
     */
    public static FormatException unknownVersion(final String format, final long found, final long known)
    {
        return new FormatException("unknown version of format '" + format + "': found=" + found + " known=" + known +
            "; this release cannot read it: use the release that wrote it, or a newer one");
    }
}
