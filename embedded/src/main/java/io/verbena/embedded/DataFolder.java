package io.verbena.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Where a cluster keeps its files: a folder of the user's, left alone, or a temporary one, deleted on close. A
 * temporary folder is held by a file lock, which ends with its process however that ends, so the next cluster can see
 * what dead ones left behind, and deletes it.
 */
final class DataFolder implements AutoCloseable
{
    private static final String PREFIX = "verbena-embedded-";
    private static final String LOCK_NAME = "owner.lock";
    /**
     * Temporary folders of this process. Their lock files are not even opened to be looked at: on Linux a process loses
     * its lock of a file when it closes any descriptor of it.
     */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel lockChannel;

    private DataFolder(final Path path, final FileChannel lockChannel)
    {
        this.path = path;
        this.lockChannel = lockChannel;
    }

    /**
     * @param chosen the user's folder, or null.
     * @return the folder, made and writable.
     */
    static DataFolder open(final Path chosen)
    {
        return null == chosen ?
            openTemporary(temporaryParent()) : openChosen(chosen.toAbsolutePath());
    }

    /** In memory where there is such a place: what is thrown away on close need not wait for a disk at each write. */
    private static Path temporaryParent()
    {
        final Path memory = Path.of("/dev/shm");
        return Files.isWritable(memory) ? memory : Path.of(System.getProperty("java.io.tmpdir"));
    }

    Path path()
    {
        return path;
    }

    static DataFolder openTemporary(final Path parent)
    {
        try
        {
            deleteLeftovers(parent);
            final Path path = Files.createTempDirectory(parent, PREFIX);
            // Locked before it has the name that others look for: nobody can take a new folder for an abandoned one.
            final Path unnamed = path.resolve(LOCK_NAME + ".new");
            final FileChannel channel =
                FileChannel.open(unnamed, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            if (null == channel.tryLock())
            {
                throw new IOException("a new folder is locked already: " + path);
            }
            HELD.add(path);
            Files.move(unnamed, path.resolve(LOCK_NAME));
            return new DataFolder(path, channel);
        }
        catch (final IOException ex)
        {
            throw new EmbeddedClusterException("cannot make a temporary folder in " + parent + ": " + reason(ex) +
                "; free space there, or give a data directory", ex);
        }
    }

    private static DataFolder openChosen(final Path path)
    {
        try
        {
            Files.createDirectories(path);
        }
        catch (final IOException ex)
        {
            throw new EmbeddedClusterException("data directory cannot be used: " + path + ": " + reason(ex) +
                "; give a directory that can be written", ex);
        }
        if (!Files.isWritable(path))
        {
            throw new EmbeddedClusterException(
                "data directory cannot be written: " + path + "; give one that can, or change its rights");
        }
        return new DataFolder(path, null);
    }

    private static void deleteLeftovers(final Path parent) throws IOException
    {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, PREFIX + "*"))
        {
            for (final Path folder : folders)
            {
                if (!HELD.contains(folder) && isAbandoned(folder))
                {
                    delete(folder);
                }
            }
        }
    }

    /** A folder without a lock file is being made, or is being deleted by someone else: not ours to judge. */
    private static boolean isAbandoned(final Path folder)
    {
        final Path lockFile = folder.resolve(LOCK_NAME);
        if (!Files.isWritable(lockFile))
        {
            return false;
        }
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock())
        {
            return null != lock;
        }
        catch (final IOException | OverlappingFileLockException ex)
        {
            return false;
        }
    }

    private static void delete(final Path folder)
    {
        try (Stream<Path> files = Files.walk(folder))
        {
            final List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (final Path file : deepestFirst)
            {
                Files.deleteIfExists(file);
            }
        }
        catch (final IOException | UncheckedIOException ex)
        {
            throw new EmbeddedClusterException("cannot delete temporary folder " + folder + ": " + ex.getMessage() +
                "; delete it by hand", ex);
        }
    }

    private static String reason(final IOException ex)
    {
        return ex.getClass().getSimpleName() + ' ' + ex.getMessage();
    }

    @Override
    public void close()
    {
        if (null != lockChannel && lockChannel.isOpen())
        {
            delete(path);
            try
            {
                lockChannel.close();
            }
            catch (final IOException ex)
            {
                throw new EmbeddedClusterException("cannot release temporary folder " + path + ": " + reason(ex), ex);
            }
            HELD.remove(path);
        }
    }
}
