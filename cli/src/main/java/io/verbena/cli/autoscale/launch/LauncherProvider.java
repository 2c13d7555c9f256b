package io.verbena.cli.autoscale.launch;

import java.util.Map;

/** A kind of {@link Launcher} that is in a module of its own, found by {@link java.util.ServiceLoader}. */
public interface LauncherProvider
{
    /** @return what {@code --launcher} calls it. */
    String kind();

    /**
     * Opens a launcher; nothing is asked of anybody yet.
     *
     * @param options values by the names of options, without dashes; only those that were given.
     * @return the launcher.
     * @throws io.verbena.cli.console.CommandFailedException USAGE, one line, when an option is wrong or missing.
     */
    Launcher open(Map<String, String> options);
}
