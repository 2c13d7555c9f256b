package io.verbena.cli;

import picocli.CommandLine.IVersionProvider;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/**
 * The version the build wrote into the class path, and the JVM that runs it.
 */
final class VersionProvider implements IVersionProvider
{
    @Override
    public String[] getVersion() throws IOException
    {
        final Properties properties = new Properties();
        try (InputStream stream = VersionProvider.class.getResourceAsStream("version.properties"))
        {
            properties.load(stream);
        }
        return new String[]{
            "verbena " + properties.getProperty("version"),
            "JVM " + Runtime.version() + ", " + System.getProperty("os.name") + " " + System.getProperty("os.arch")};
    }
}
