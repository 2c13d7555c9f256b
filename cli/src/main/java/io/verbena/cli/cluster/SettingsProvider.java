package io.verbena.cli.cluster;

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

    @Override
    public String defaultValue(final ArgSpec argument) throws IOException
    {
        if (!(argument instanceof final OptionSpec option) || option.usageHelp() || option.versionHelp())
        {
            return null;
        }
        final String name = option.longestName().replaceFirst("^-+", "");
        final String variable = environment.get(PREFIX + name.replace('-', '_').toUpperCase(Locale.ROOT));
        return null != variable ? variable : file().getProperty(name);
    }

    private Properties file() throws IOException
    {
        if (null == file)
        {
            file = new Properties();
            final String name = environment.get(FILE_VARIABLE);
            if (null != name && !name.isEmpty())
            {
                try (Reader reader = Files.newBufferedReader(Path.of(name)))
                {
                    file.load(reader);
                }
            }
        }
        return file;
    }
}
