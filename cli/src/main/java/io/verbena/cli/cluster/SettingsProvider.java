package io.verbena.cli.cluster;

import io.verbena.cli.CommandFailedException;
import io.verbena.cli.ExitStatus;
import io.verbena.cli.FileErrors;
import io.verbena.cli.VerbenaCommand;

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

/**
 * Where the value of an option comes from that is not on the command line: the environment variable
 * {@code VERBENA_OPTION_NAME}, else the line {@code option-name=value} of the property file that the variable
 * {@code VERBENA_CONFIG} names, else the option's own default.
 */
public final class SettingsProvider implements IDefaultValueProvider
{
    /** How the names of its environment variables begin. */
    private static final String PREFIX = "VERBENA_";
    static final String FILE_VARIABLE = PREFIX + "CONFIG";

    private final Map<String, String> environment;
    private Properties file;

    /** For the environment of this process. */
    public SettingsProvider()
    {
        this(System.getenv());
    }

    SettingsProvider(final Map<String, String> environment)
    {
        this.environment = environment;
    }

    /** @return one that has no settings, whatever the environment. */
    public static SettingsProvider none()
    {
        return new SettingsProvider(Map.of());
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

    private static Properties read(final String name)
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
        unknown.removeAll(VerbenaCommand.settings());
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
