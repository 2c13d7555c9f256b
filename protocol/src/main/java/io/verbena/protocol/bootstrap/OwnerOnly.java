package io.verbena.protocol.bootstrap;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Folders whose files hold records, or say who runs a cluster: nobody but their owner looks in. Stateless. */
public final class OwnerOnly
{
    private static final Set<PosixFilePermission> FOLDER_MODE = PosixFilePermissions.fromString("rwx------");

    private OwnerOnly()
    {
    }

    /**
     * Makes a folder, and those above it that are missing, with mode 0700; one that is there gets that mode. The names
     * of those made are on disk when this returns: what is synced in a folder is lost with the name of the folder.
     *
     * @param path of the folder.
     * @throws IOException when it cannot be made.
     */
    public static void createFolder(final Path path) throws IOException
    {
        if (!Files.isDirectory(path))
        {
            final Path present = nearestFolder(path.toAbsolutePath());
            Files.createDirectories(path, PosixFilePermissions.asFileAttribute(FOLDER_MODE));
            for (Path made = path.toAbsolutePath(); !made.equals(present); made = made.getParent())
            {
                SyncedNames.sync(made.getParent());
            }
        }
        else if (!FOLDER_MODE.containsAll(Files.getPosixFilePermissions(path)))
        {
            close(path);
        }
    }

    private static Path nearestFolder(final Path path)
    {
        Path nearest = path;
        while (null != nearest.getParent() && !Files.exists(nearest))
        {
            nearest = nearest.getParent();
        }
        return nearest;
    }

    private static void close(final Path path) throws IOException
    {
        try
        {
            Files.setPosixFilePermissions(path, FOLDER_MODE);
        }
        catch (final FileSystemException ex)
        {
            // Another user's folder that this one may write, or a read-only one: it is as open as its owner made it.
        }
    }
}
