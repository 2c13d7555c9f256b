package io.verbena.load.ycsb;

import io.verbena.load.LoadException;
import site.ycsb.Client;
import site.ycsb.workloads.CoreWorkload;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

/**
 * Properties of a YCSB core workload, from the ones built in or from a file, checked for what this store can do.
 */
public final class WorkloadProperties
{
    /** Names of the workloads built in; e is missing because it scans. */
    public static final List<String> NAMES = List.of("a", "b", "c", "d", "f");

    private static final List<String> PROPORTIONS = List.of(
        CoreWorkload.READ_PROPORTION_PROPERTY,
        CoreWorkload.UPDATE_PROPORTION_PROPERTY,
        CoreWorkload.INSERT_PROPORTION_PROPERTY,
        CoreWorkload.SCAN_PROPORTION_PROPERTY,
        CoreWorkload.READMODIFYWRITE_PROPORTION_PROPERTY);

    private WorkloadProperties()
    {
    }

    /**
     * A workload built in.
     *
     * @param name one of {@link #NAMES}.
     * @return its properties, the caller's own.
     * @throws LoadException when there is none of this name.
     */
    public static Properties named(final String name)
    {
        if (name.equals("e"))
        {
            throw new LoadException(LoadException.Reason.USAGE,
                "workload e scans, which this store cannot do yet: choose one of " + String.join(", ", NAMES));
        }
        if (!NAMES.contains(name))
        {
            throw new LoadException(LoadException.Reason.USAGE,
                "unknown workload '" + name + "': choose one of " + String.join(", ", NAMES) + ", or -P FILE");
        }
        final Properties properties = new Properties();
        try (InputStream stream = WorkloadProperties.class.getResourceAsStream("workload" + name + ".properties"))
        {
            properties.load(stream);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        return properties;
    }

    /**
     * A workload from a YCSB property file.
     *
     * @param file to read.
     * @return its properties, the caller's own.
     * @throws LoadException when it cannot be read, or asks for what this store or the core workload cannot do.
     */
    public static Properties read(final Path file)
    {
        final Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8))
        {
            properties.load(reader);
        }
        catch (final NoSuchFileException ex)
        {
            throw badFile(file, "no such file", ex);
        }
        catch (final IOException | IllegalArgumentException ex)
        {
            throw badFile(file, Files.isDirectory(file) ? "is a folder" : "cannot be read: " + ex.getMessage(), ex);
        }
        check(file, properties);
        return properties;
    }

    /**
     * Number of records to load.
     *
     * @param properties of a workload.
     * @return property {@code recordcount}, or the standard workloads' 100,000 where the file has none.
     */
    public static long recordCount(final Properties properties)
    {
        return Long.parseLong(properties.getProperty(Client.RECORD_COUNT_PROPERTY, "100000").trim());
    }

    private static void check(final Path file, final Properties properties)
    {
        final String workload = properties.getProperty(Client.WORKLOAD_PROPERTY, CoreWorkload.class.getName());
        if (!workload.equals(CoreWorkload.class.getName()) && !workload.equals("com.yahoo.ycsb.workloads.CoreWorkload"))
        {
            throw badFile(file, "workload=" + workload + " is not the core workload", null);
        }
        for (final String name : List.of(Client.RECORD_COUNT_PROPERTY, CoreWorkload.FIELD_COUNT_PROPERTY,
            CoreWorkload.FIELD_LENGTH_PROPERTY))
        {
            checkNumber(file, name, properties.getProperty(name, "1"), 1, Integer.MAX_VALUE);
        }
        for (final String name : PROPORTIONS)
        {
            checkNumber(file, name, properties.getProperty(name, "0"), 0, 1);
        }
        if (Double.parseDouble(properties.getProperty(CoreWorkload.SCAN_PROPORTION_PROPERTY, "0")) > 0)
        {
            throw badFile(file, "scanproportion=" + properties.getProperty(CoreWorkload.SCAN_PROPORTION_PROPERTY) +
                ", but this store cannot scan yet", null);
        }
    }

    private static void checkNumber(
        final Path file, final String name, final String value, final double least, final double most)
    {
        try
        {
            final double number = Double.parseDouble(value);
            if (number >= least && number <= most)
            {
                return;
            }
        }
        catch (final NumberFormatException ex)
        {
            throw badFile(file, name + "=" + value + " is not a number", ex);
        }
        throw badFile(file, name + "=" + value + " is out of range", null);
    }

    private static LoadException badFile(final Path file, final String why, final Throwable cause)
    {
        return new LoadException(LoadException.Reason.BAD_DATA, "property file " + file + ": " + why, cause);
    }
}
