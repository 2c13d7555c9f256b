package io.verbena.cli;

import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where {@code ./verbena test} runs the tests, the processes that they start have the class path of the launcher, whose
 * cache takes no other one; classes of tests come behind it, which the cache allows. A start takes half the processor
 * time then, and what runs are the jars that a user runs.
 */
public final class LauncherClassPath implements LauncherSessionListener
{
    /** The file that the class path is in; not set when Maven is called by itself. */
    private static final String FILE = "verbena.launcher.classpath";
    private static final String CLASS_PATH = "java.class.path";

    @Override
    public void launcherSessionOpened(final LauncherSession session)
    {
        final String file = System.getProperty(FILE);
        if (file == null)
        {
            return;
        }
        try
        {
            System.setProperty(
                CLASS_PATH, Files.readString(Path.of(file)).strip() + ":" + System.getProperty(CLASS_PATH));
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("-D" + FILE + "=" + file + " cannot be read: ./verbena test gives it", ex);
        }
    }
}
