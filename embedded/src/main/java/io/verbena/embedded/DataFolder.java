package io.verbena.embedded;

import io.verbena.protocol.bootstrap.FileHold;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
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

    private final Path path;
    private final FileHold lock;

    private DataFolder(final Path path, final FileHold lock)
    {
        this.path = path;
        this.lock = lock;
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
            final FileHold lock = FileHold.tryCreate(unnamed);
            if (null == lock)
            {
                throw new IOException("a new folder is locked already: " + path);
            }
            try
            {
                Files.move(unnamed, path.resolve(LOCK_NAME));
            }
            catch (final IOException ex)
            {
                lock.close();
                throw ex;
            }
            return new DataFolder(path, lock);
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
                if (isAbandoned(folder))
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
        try (FileHold lock = FileHold.tryLock(lockFile))
        {
            return null != lock;
        }
        catch (final IOException ex)
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
        if (null != lock && lock.isOpen())
        {
            delete(path);
            try
            {
                lock.close();
            }
            catch (final IOException ex)
            {
                throw new EmbeddedClusterException("cannot release temporary folder " + path + ": " + reason(ex), ex);
            }
        }
    }
}
