package io.verbena.cli.console;

/**
 * Exit statuses of the command; from 64 on they are those of BSD's {@code sysexits.h}. The table in
 * {@code docs/commands.md} and the foot of {@code verbena --help} say the same.
 */
public final class ExitStatus
{
    /** The command did what it was asked, and what it checked holds. */
    public static final int OK = 0;

    /** An operation failed, or a check found a violation. */
    public static final int FAILED = 1;

    /** A check ended without a verdict: its time or memory was used up. */
    public static final int UNKNOWN = 2;

    /** Unknown command or option, or an invalid value. */
    public static final int USAGE = 64;

    /** An input file cannot be read or its content is not what it should be. */
    public static final int BAD_DATA = 65;

    /** Something needed is not there: a JDK, Maven, a node that answers. */
    public static final int UNAVAILABLE = 69;

    /** An error in Verbena itself. */
    public static final int INTERNAL = 70;

    /** A disk failed while a role ran: what it wrote last has an unknown outcome. */
    public static final int DISK_FAILED = 71;

    /** Memory or a file could not be made: no room in {@code /dev/shm}, an output file that cannot be written. */
    public static final int CANNOT_CREATE = 73;

    /** What the command printed could not be written, such as to a file on a full disk; what it did is done. */
    public static final int OUTPUT_FAILED = 74;

    /** The user has no right to that. */
    public static final int NO_PERMISSION = 77;

    /** Ctrl-C. */
    public static final int INTERRUPTED = 130;

    private ExitStatus()
    {
    }
}
