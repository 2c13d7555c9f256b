package io.verbena.meta.store;

import io.verbena.protocol.bootstrap.FileHold;
import io.verbena.protocol.bootstrap.OwnerOnly;
import io.verbena.protocol.bootstrap.SyncedNames;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import static io.verbena.meta.store.MetaStoreException.Category.FOREIGN;
import static io.verbena.meta.store.MetaStoreException.Category.LOCKED;
import static io.verbena.meta.store.MetaStoreException.Category.READ_ONLY;

/**
 * The meta server's data folder, locked for this process until closed: {@code meta.lock} holds the lock and, for
 * people, the process id; {@code rocksdb} is the database; {@code rocksdb.unfinished} is one whose making was
 * interrupted, {@code rocksdb.library} a library that is being loaded.
 */
final class MetaDataFolder implements AutoCloseable
{
    private static final String LOCK_FILE = "meta.lock";
    private static final String DATABASE = "rocksdb";
    private static final String UNFINISHED_DATABASE = "rocksdb.unfinished";
    private static final String LIBRARY = "rocksdb.library";
    private static final Set<String> OURS = Set.of(LOCK_FILE, DATABASE, UNFINISHED_DATABASE, LIBRARY, "lost+found");

    private final Path path;
    private final FileHold lock;

    private MetaDataFolder(final Path path, final FileHold lock)
    {
        this.path = path;
        this.lock = lock;
    }

    static MetaDataFolder lock(final Path path)
    {
        refuseForeign(path);

        try
        {
            OwnerOnly.createFolder(path);
            final Path lockFile = path.resolve(LOCK_FILE);
            final FileHold lock = FileHold.tryCreate(lockFile);

            if (null == lock)
            {
                throw new MetaStoreException(
                    LOCKED,
                    "data folder " + path + " is in use by another meta server (process " + owner(lockFile) +
                    "): stop it, or use another folder",
                    null);
            }

            lock.write(Long.toString(ProcessHandle.current().pid()));
            return new MetaDataFolder(path, lock);
        }
        catch (final IOException ex)
        {
            throw readOnly(path, ex);
        }
    }

    Path path()
    {
        return path;
    }

    boolean hasDatabase()
    {
        return Files.exists(path.resolve(DATABASE));
    }

    /** Where the database's library is unpacked, and removed at once. */
    Path library()
    {
        return path.resolve(LIBRARY);
    }

    String database()
    {
        return path.resolve(DATABASE).toString();
    }

    String unfinishedDatabase()
    {
        return path.resolve(UNFINISHED_DATABASE).toString();
    }

    void discardUnfinishedDatabase()
    {
        final Path unfinished = path.resolve(UNFINISHED_DATABASE);

        if (!Files.exists(unfinished))
        {
            return;
        }

        try (Stream<Path> entries = Files.walk(unfinished))
        {
            for (final Path entry : entries.sorted(Comparator.reverseOrder()).toList())
            {
                Files.delete(entry);
            }
        }
        catch (final IOException | UncheckedIOException ex)
        {
            throw readOnly(path, ex);
        }
    }

    void publishDatabase()
    {
        try
        {
            Files.move(path.resolve(UNFINISHED_DATABASE), path.resolve(DATABASE), StandardCopyOption.ATOMIC_MOVE);

            // The rename itself must survive a power failure, or a restart would begin a new cluster.
            SyncedNames.sync(path);
        }
        catch (final IOException ex)
        {
            throw readOnly(path, ex);
        }
    }

    /**
     * Releases the lock; idempotent. The file stays: removing it would let two processes lock two files of one name.
     */
    @Override
    public void close()
    {
        try
        {
            lock.close();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    private static void refuseForeign(final Path path)
    {
        if (Files.exists(path) && !Files.isDirectory(path))
        {
            throw new MetaStoreException(FOREIGN, "data folder " + path + " is not a folder: use another path", null);
        }

        if (!Files.isDirectory(path))
        {
            return;
        }

        try (Stream<Path> entries = Files.list(path))
        {
            final List<String> foreign =
                entries.map((e) -> e.getFileName().toString()).filter((n) -> !OURS.contains(n)).sorted().toList();

            if (!foreign.isEmpty())
            {
                throw new MetaStoreException(
                    FOREIGN,
                    "data folder " + path + " holds something else ('" + foreign.getFirst() +
                    "'): use an empty folder or one made by a meta server",
                    null);
            }
        }
        catch (final IOException | UncheckedIOException ex)
        {
            throw readOnly(path, ex);
        }
    }

    private static String owner(final Path lockFile) throws IOException
    {
        return FileHold.isHeldHere(lockFile) ?
            Long.toString(ProcessHandle.current().pid()) : Files.readString(lockFile, StandardCharsets.US_ASCII);
    }

    private static MetaStoreException readOnly(final Path path, final Exception ex)
    {
        return new MetaStoreException(
            READ_ONLY,
            "data folder " + path + " cannot be read and written (" + ex +
            "): give this user the rights, or use another folder",
            ex);
    }
}
