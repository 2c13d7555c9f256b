package io.verbena.cli.console;

import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Where the value of an option comes from that is not on the command line: the environment variable
 * {@code VERBENA_OPTION_NAME}, else the line {@code option-name=value} of the property file that the variable
 * {@code VERBENA_CONFIG} names, else the option's own default.
 */
public final class SettingsProvider implements IDefaultValueProvider
{
    /** How the names of its environment variables begin. */
    private static final String PREFIX = "VERBENA_";
    /** Names the file of settings. */
    public static final String FILE_VARIABLE = PREFIX + "CONFIG";

    private final Map<String, String> environment;
    private final Supplier<Set<String>> known;
    private Properties file;

    /**
     * Made by the root of the commands, which knows the options of all.
     *
     * @param environment of the process.
     * @param known       names of all options that may have settings; asked only when there is a file.
     */
    public SettingsProvider(final Map<String, String> environment, final Supplier<Set<String>> known)
    {
        this.environment = environment;
        this.known = known;
    }

    /** @return one that has no settings, whatever the environment. */
    public static SettingsProvider none()
    {
        return new SettingsProvider(Map.of(), Set::of);
    }

    @Override
    public String defaultValue(final ArgSpec argument)
    {
        if (!(argument instanceof final OptionSpec option) || option.usageHelp() || option.versionHelp())
        {
            return null;
        }
        final String name = name(option);
        final String variable = environment.get(PREFIX + name.replace('-', '_').toUpperCase(Locale.ROOT));
        return null != variable ? variable : file().getProperty(name);
    }

    /** @return how an option is called in a file. */
    public static String name(final OptionSpec option)
    {
        return option.longestName().replaceFirst("^-+", "");
    }

    private Properties file()
    {
        if (null == file)
        {
            final String name = environment.get(FILE_VARIABLE);
            file = null == name || name.isEmpty() ? new Properties() : read(name);
        }
        return file;
    }

    private Properties read(final String name)
    {
        final Properties settings = new Properties();
        try (Reader reader = Files.newBufferedReader(Path.of(name)))
        {
            settings.load(reader);
        }
        catch (final IOException ex)
        {
            throw bad(name, "cannot be read (" + FileErrors.reason(ex) + ")", ex);
        }
        catch (final IllegalArgumentException ex)
        {
            throw bad(name, "is no property file (" + ex.getMessage() + ")", ex);
        }
        // A setting with a typing error would be none, without anybody knowing.
        final Set<String> unknown = new TreeSet<>(settings.stringPropertyNames());
        unknown.removeAll(known.get());
        if (!unknown.isEmpty())
        {
            throw bad(name, "no command has an option --" + unknown.iterator().next(), null);
        }
        return settings;
    }

    private static CommandFailedException bad(final String name, final String why, final Exception cause)
    {
        return new CommandFailedException(ExitStatus.BAD_DATA, FILE_VARIABLE + "=" + name + ": " + why, cause);
    }
}
