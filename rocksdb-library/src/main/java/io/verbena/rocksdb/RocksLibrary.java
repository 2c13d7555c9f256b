package io.verbena.rocksdb;

import org.rocksdb.NativeLibraryLoader;
import org.rocksdb.RocksDB;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Loads the database's native library, which comes in its jar and has to be a file for that, 17 MB long. By itself it
 * would be a temporary file of the system, removed at the end of the process, and never when that is killed: here it is
 * removed as soon as it is mapped. Thread-safe.
 */
public final class RocksLibrary
{
    private static boolean isLoaded;

    private RocksLibrary()
    {
    }

    /**
     * Loads the library, once a process.
     *
     * @param folder made for it, and removed; what an earlier process left there is removed too.
     */
    public static synchronized void load(final Path folder)
    {
        if (!isLoaded && !isLoadedFrom(folder))
        {
            // No room there, or no right to execute: as it would have been.
            RocksDB.loadLibrary();
        }

        isLoaded = true;
    }

    private static boolean isLoadedFrom(final Path folder)
    {
        try
        {
            Files.createDirectories(folder);
            NativeLibraryLoader.getInstance().loadLibrary(folder.toString());
            return true;
        }
        catch (final IOException | RuntimeException | UnsatisfiedLinkError ex)
        {
            return false;
        }
        finally
        {
            remove(folder);
        }
    }

    private static void remove(final Path folder)
    {
        try (Stream<Path> files = Files.list(folder))
        {
            for (final Path file : files.toList())
            {
                Files.delete(file);
            }

            Files.delete(folder);
        }
        catch (final IOException ignore)
        {
            // The next process tries again.
        }
    }
}
