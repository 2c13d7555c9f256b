package io.verbena.cli.cluster;

import io.verbena.cli.CommandFailedException;
import io.verbena.cli.ExitStatus;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNodeException;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * The folder of a cluster of processes on this host: {@code token}, {@code cluster.properties} with its address and
 * fabric, {@code processes/} with a file for each process, {@code logs/}, {@code meta/} of the meta server.
 *
 * @param path of the folder.
 */
record ClusterFolder(Path path)
{
    /** Environment variable that names the folder where the command line does not. */
    static final String VARIABLE = "VERBENA_DATA";
    private static final String ADDRESS = "address";
    private static final String FABRIC = "fabric";

    /** The folder given, or the user's default one. */
    static ClusterFolder of(final Path given)
    {
        final Path path = null == given ? Path.of(System.getProperty("user.home"), ".verbena", "cluster") : given;
        return new ClusterFolder(path.toAbsolutePath().normalize());
    }

    Path token()
    {
        return path.resolve("token");
    }

    Path processes()
    {
        return path.resolve("processes");
    }

    Path logs()
    {
        return path.resolve("logs");
    }

    /** Folder of a memory node. */
    Path memoryNode(final String name)
    {
        return path.resolve(name);
    }

    /** Names of the memory nodes whose memory is to be found again. */
    List<String> memoryNodes()
    {
        if (!Files.isDirectory(path))
        {
            return List.of();
        }
        try (Stream<Path> files = Files.list(path))
        {
            return files.filter((file) -> null != MemoryFolder.memoryName(file))
                .map((file) -> file.getFileName().toString())
                .sorted(Comparator.comparing(String::length).thenComparing(Comparator.naturalOrder())).toList();
        }
        catch (final IOException | MemoryNodeException ex)
        {
            throw new CommandFailedException(ExitStatus.BAD_DATA, "folder of the cluster: " + ex.getMessage(), ex);
        }
    }

    /** Forgets a memory node, whose memory is gone. */
    void removeMemoryNode(final String name)
    {
        try (Stream<Path> files = Files.walk(memoryNode(name)))
        {
            for (final Path file : files.sorted(Comparator.reverseOrder()).toList())
            {
                Files.delete(file);
            }
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.CANNOT_CREATE, "cannot remove " + memoryNode(name) + ": " + ex, ex);
        }
    }

    /** Where the cluster is found. */
    String address()
    {
        return read().getProperty(ADDRESS);
    }

    /** Fabric of the cluster, or null when none was ever up here. */
    String fabric()
    {
        return Files.exists(properties()) ? read().getProperty(FABRIC) : null;
    }

    void write(final String address, final String fabric)
    {
        final Properties properties = new Properties();
        properties.setProperty(ADDRESS, address);
        properties.setProperty(FABRIC, fabric);
        try (Writer writer = Files.newBufferedWriter(properties()))
        {
            properties.store(writer, null);
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.CANNOT_CREATE, "cannot write " + properties() + ": " + ex, ex);
        }
    }

    private Path properties()
    {
        return path.resolve("cluster.properties");
    }

    private Properties read()
    {
        final Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(properties()))
        {
            properties.load(reader);
            return properties;
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, "no cluster in " + path +
                ": start one with 'verbena up', or give --cluster and --token-file", ex);
        }
    }
}
