package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Lets no process run that nobody knows of: one that a command starts in the background does nothing before that
 * command has written its number down, and ends when the command ends first. It reads one byte from its standard input,
 * a pipe that only the command can write to. Stateless.
 */
public final class LaunchGate
{
    private static final String PROPERTY = "verbena.launched";

    private LaunchGate()
    {
    }

    /** @return the JVM's flag of a process that waits at the gate. */
    public static String flag()
    {
        return "-D" + PROPERTY + "=true";
    }

    /** Lets a process go on that has been written down. */
    public static void open(final Process process)
    {
        try (OutputStream gate = process.getOutputStream())
        {
            gate.write('\n');
        }
        catch (final IOException ex)
        {
            return; // it has ended, and its log says why
        }
    }

    /**
     * Waits, in a process with the {@link #flag}; else returns at once. Before anything is made.
     *
     * @throws CommandFailedException when who started it has ended.
     */
    static void pass()
    {
        if (Boolean.getBoolean(PROPERTY) && !isOpened())
        {
            throw new CommandFailedException(
                ExitStatus.INTERRUPTED, "the command that started this process was killed meanwhile", null);
        }
    }

    private static boolean isOpened()
    {
        try
        {
            return System.in.read() >= 0;
        }
        catch (final IOException ex)
        {
            return false;
        }
    }
}
