package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNodeException;
import io.verbena.protocol.bootstrap.OwnerOnly;
import io.verbena.protocol.bootstrap.SyncedNames;
import io.verbena.server.MetaGroupRole;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
public record ClusterFolder(Path path)
{
    /** Environment variable that names the folder where the command line does not. */
    static final String VARIABLE = "VERBENA_DATA";
    private static final String ADDRESS = "address";
    private static final String FABRIC = "fabric";
    private static final String ENCRYPTED = "encrypted";
    private static final String PEERS = "peers";
    private static final String GROUP_MADE = "group_made";

    /** The folder given, or the user's default one. */
    public static ClusterFolder of(final Path given)
    {
        return of(given, System.getenv("HOME"));
    }

    /** As for the shell, HOME says where the user's folders are; without it, what the system knows of the user. */
    static ClusterFolder of(final Path given, final String home)
    {
        final Path folder = Path.of(null == home || home.isEmpty() ? System.getProperty("user.home") : home);
        final Path path = null == given ? folder.resolve(Path.of(".verbena", "cluster")) : given;
        return new ClusterFolder(path.toAbsolutePath().normalize());
    }

    /** Locked by the command that changes the cluster; the first file that is made here. */
    Path lock()
    {
        return path.resolve("up.lock");
    }

    /** A folder in which something else is stays as it is. */
    void refuseForeign()
    {
        if (!Files.isDirectory(path) || Files.exists(lock()) || Files.exists(token()))
        {
            return;
        }
        try (Stream<Path> files = Files.list(path))
        {
            files.map((file) -> file.getFileName().toString()).filter((name) -> !name.equals("lost+found")).sorted()
                .findFirst().ifPresent((name) ->
                {
                    throw new CommandFailedException(ExitStatus.CANNOT_CREATE, "folder " + path +
                        " holds something else ('" + name + "'), and no cluster: give --data another one", null);
                });
        }
        catch (final IOException ex)
        {
            throw failed("folder of the cluster " + path + " cannot be read", ex);
        }
    }

    public Path token()
    {
        return path.resolve("token");
    }

    /** Whether the cluster was made so that clients have to encrypt. */
    public boolean isEncrypted()
    {
        return Files.exists(path.resolve(ENCRYPTED));
    }

    /** Has clients encrypt, of what is started from now on. */
    public void encrypt()
    {
        try
        {
            OwnerOnly.createFolder(path);
            Files.writeString(path.resolve(ENCRYPTED), "");
        }
        catch (final IOException ex)
        {
            throw failed("folder of the cluster " + path + " cannot be written", ex);
        }
    }

    public Path processes()
    {
        return path.resolve("processes");
    }

    Path logs()
    {
        return path.resolve("logs");
    }

    /** Folder of a memory node. */
    public Path memoryNode(final String name)
    {
        return path.resolve(name);
    }

    /** Folder of a meta server of a group; the first has that of a single one. */
    Path metaServer(final int member)
    {
        return 1 == member ? path : path.resolve("meta-server-" + member);
    }

    /** Names of the memory nodes whose memory is to be found again. */
    public List<String> memoryNodes()
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

    /** Memory of a memory node; 0 for what is none, or has none any more. */
    long memoryLengthBytes(final String name)
    {
        try
        {
            return MemoryFolder.regionLengthBytes(memoryNode(name));
        }
        catch (final MemoryNodeException ex)
        {
            return 0; // who opens the folder says what is wrong with it
        }
    }

    /** The next cluster of the folder encrypts if that is asked for again. */
    void encryptNoMore()
    {
        try
        {
            Files.deleteIfExists(path.resolve(ENCRYPTED));
        }
        catch (final IOException ex)
        {
            throw failed("cannot remove " + path.resolve(ENCRYPTED), ex);
        }
    }

    private static CommandFailedException failed(final String what, final IOException ex)
    {
        return new CommandFailedException(ExitStatus.CANNOT_CREATE, what + ": " + FileErrors.reason(ex), ex);
    }

    /** Says that the records are given up, before the first of them is removed; on disk when this returns. */
    void beginDiscard()
    {
        try (FileChannel mark = FileChannel.open(discard(), StandardOpenOption.CREATE, StandardOpenOption.WRITE))
        {
            mark.force(true);
            SyncedNames.sync(path);
        }
        catch (final IOException ex)
        {
            throw failed("cannot write " + discard(), ex);
        }
    }

    /** Whether records are given up, and not all of them may be removed. */
    boolean isDiscarding()
    {
        return Files.exists(discard());
    }

    /** Says that all of them are removed. */
    void endDiscard()
    {
        try
        {
            SyncedNames.sync(path);
            Files.deleteIfExists(discard());
        }
        catch (final IOException ex)
        {
            throw failed("cannot remove " + discard(), ex);
        }
    }

    private Path discard()
    {
        return path.resolve("discard.unfinished");
    }

    /** Forgets a memory node, whose memory is gone; it is one until all else is removed. */
    void removeMemoryNode(final String name)
    {
        try (Stream<Path> files = Files.walk(memoryNode(name)))
        {
            final List<Path> all = files.sorted(Comparator.reverseOrder()).toList();
            for (final Path file : all)
            {
                if (!MemoryFolder.saysWhoItIs(file) && !file.equals(memoryNode(name)))
                {
                    Files.delete(file);
                }
            }
            for (final Path file : all)
            {
                Files.deleteIfExists(file);
            }
        }
        catch (final IOException ex)
        {
            throw failed("cannot remove " + memoryNode(name), ex);
        }
    }

    /** Removes what a group of meta servers knew, of all its members. */
    void removeGroup()
    {
        for (int member = 1; Files.isDirectory(metaServer(member)); member++)
        {
            final Path log = metaServer(member).resolve(MetaGroupRole.FOLDER);
            if (Files.exists(log))
            {
                try (Stream<Path> files = Files.walk(log))
                {
                    for (final Path file : files.sorted(Comparator.reverseOrder()).toList())
                    {
                        Files.delete(file);
                    }
                }
                catch (final IOException ex)
                {
                    throw failed("cannot remove " + log, ex);
                }
            }
        }
    }

    /** Where the cluster is found. */
    public String address()
    {
        return read().getProperty(ADDRESS);
    }

    /** Fabric of the cluster, or null when none was ever up here. */
    String fabric()
    {
        return Files.exists(properties()) ? read().getProperty(FABRIC) : null;
    }

    /** Where the meta servers of a group reach each other; null: there is one meta server, or none was ever up here. */
    public String peers()
    {
        return Files.exists(properties()) ? read().getProperty(PEERS) : null;
    }

    /** Whether each meta server of the group was started: from then on one without its folder has lost it. */
    boolean isGroupMade()
    {
        return Boolean.parseBoolean(read().getProperty(GROUP_MADE));
    }

    void write(final String address, final String fabric)
    {
        write(address, fabric, null, false);
    }

    /** With where the meta servers of a group reach each other, and whether each was started; null: there is one. */
    void write(final String address, final String fabric, final String peers, final boolean isGroupMade)
    {
        final Properties properties = new Properties();
        if (null != peers)
        {
            properties.setProperty(PEERS, peers);
            properties.setProperty(GROUP_MADE, Boolean.toString(isGroupMade));
        }
        properties.setProperty(ADDRESS, address);
        properties.setProperty(FABRIC, fabric);
        try (Writer writer = Files.newBufferedWriter(properties()))
        {
            properties.store(writer, null);
        }
        catch (final IOException ex)
        {
            throw failed("cannot write " + properties(), ex);
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
