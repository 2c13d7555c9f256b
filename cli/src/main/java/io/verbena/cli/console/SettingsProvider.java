package io.verbena.cli.console;

import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
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
    /** How messages name the file, and what has no such option. */
    private final String source;
    private final String lack;
    private Map<String, Setting> file;

    /** A value and the number of its line. */
    private record Setting(String value, int line)
    {
    }

    /**
     * Made by the root of the commands, which knows the options of all.
     *
     * @param environment of the process.
     * @param known       names of all options that may have settings; asked only when there is a file.
     */
    public SettingsProvider(final Map<String, String> environment, final Supplier<Set<String>> known)
    {
        this(environment, known, FILE_VARIABLE + '=', "no command has an option --");
    }

    private SettingsProvider(
        final Map<String, String> environment, final Supplier<Set<String>> known, final String source,
        final String lack)
    {
        this.environment = environment;
        this.known = known;
        this.source = source;
        this.lack = lack;
    }

    /**
     * One whose settings come from a file alone, which an option names.
     *
     * @param option  that does.
     * @param file    of settings.
     * @param command whose options may be in it.
     * @param known   names of these.
     * @return the provider.
     */
    public static SettingsProvider ofFile(
        final String option, final Path file, final String command, final Set<String> known)
    {
        return new SettingsProvider(
            Map.of(FILE_VARIABLE, file.toString()), () -> known, option + ' ', "'" + command + "' has no option --");
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
        final String value = environment.get(variable(option));
        final Setting setting = null == value ? file().get(name(option)) : null;
        return null == setting ? value : setting.value();
    }

    /**
     * Where the value of an option comes from, for messages about it.
     *
     * @param option that is not on the command line.
     * @return the variable, or the file with the line; null where it is the option's own default.
     */
    public String origin(final OptionSpec option)
    {
        if (environment.containsKey(variable(option)))
        {
            return variable(option) + " in the environment";
        }
        final Setting setting = file().get(name(option));
        return null == setting ? null :
            source + environment.get(FILE_VARIABLE) + ", line " + setting.line();
    }

    /** @return how an option is called in a file. */
    public static String name(final OptionSpec option)
    {
        return option.longestName().replaceFirst("^-+", "");
    }

    /** @return how an option is called in the environment. */
    public static String variable(final OptionSpec option)
    {
        return PREFIX + name(option).replace('-', '_').toUpperCase(Locale.ROOT);
    }

    private Map<String, Setting> file()
    {
        if (null == file)
        {
            final String name = environment.get(FILE_VARIABLE);
            file = null == name || name.isEmpty() ? Map.of() : read(name);
        }
        return file;
    }

    private Map<String, Setting> read(final String name)
    {
        final List<String> lines;
        try
        {
            lines = Files.readAllLines(Path.of(name));
        }
        catch (final IOException ex)
        {
            throw bad(name, "cannot be read (" + FileErrors.reason(ex) + ")", ex);
        }
        final Map<String, Setting> settings = new HashMap<>();
        final StringBuilder text = new StringBuilder();
        for (int i = 0; i < lines.size(); i++)
        {
            text.append(lines.get(i)).append('\n');
            if (i + 1 == lines.size() || !goesOn(lines.get(i)))
            {
                final int line = i + 1;
                parse(text.toString(), name, line).forEach((key, value) -> put(settings, name, line, key, value));
                text.setLength(0);
            }
        }
        return settings;
    }

    /** Whether a line ends in an odd number of backslashes, and is no comment. */
    private static boolean goesOn(final String line)
    {
        final String text = line.strip();
        int end = text.length();
        while (end > 0 && text.charAt(end - 1) == '\\')
        {
            end--;
        }
        return (text.length() - end) % 2 == 1 && !text.startsWith("#") && !text.startsWith("!");
    }

    private Map<Object, Object> parse(final String text, final String name, final int line)
    {
        final Properties settings = new Properties();
        try
        {
            settings.load(new StringReader(text));
        }
        catch (final IOException | IllegalArgumentException ex)
        {
            throw bad(name, "line " + line + " is no setting (" + ex.getMessage() + ")", ex);
        }
        return settings;
    }

    /** A setting with a typing error would be none, without anybody knowing; of two, one would be none. */
    private void put(
        final Map<String, Setting> settings, final String name, final int line, final Object key, final Object value)
    {
        if (!known.get().contains(key))
        {
            throw bad(name, "line " + line + ": " + lack + key, null);
        }
        final Setting earlier = settings.put(key.toString(), new Setting(value.toString(), line));
        if (null != earlier)
        {
            throw bad(
                name, "line " + line + ": " + key + " is in line " + earlier.line() + " too; leave one out", null);
        }
    }

    private CommandFailedException bad(final String name, final String why, final Exception cause)
    {
        return new CommandFailedException(ExitStatus.BAD_DATA, source + name + ": " + why, cause);
    }
}
