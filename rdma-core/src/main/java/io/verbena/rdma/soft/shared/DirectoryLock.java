package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Exclusive access to a fabric directory among threads and processes, for the moments when a fabric is opened or
 * closed. Creates the directory when it is absent; the last fabric to leave removes a directory that was created here.
 */
public final class DirectoryLock implements AutoCloseable
{
    private static final String NAME = "fabric.lock";
    private static final String UID = "unix:uid";
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int MAX_REMOVALS = 1_000;
    /** File locks do not exclude threads of the process that holds them. */
    private static final ReentrantLock THREADS = new ReentrantLock();

    private final Path directory;
    private final FileChannel channel;

    private DirectoryLock(final Path directory, final FileChannel channel)
    {
        this.directory = directory;
        this.channel = channel;
    }

    /**
     * Waits for the lock, up to 30 s.
     *
     * @param directory of the fabric.
     * @return the lock, closed by the caller on the same thread.
     * @throws IOException   when the directory cannot be read or written.
     * @throws RdmaException when it is not private to this user, or the lock cannot be had.
     */
    static DirectoryLock acquire(final Path directory) throws IOException
    {
        THREADS.lock();
        boolean isAcquired = false;
        try
        {
            final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + TIMEOUT_NS;
            boolean isCreator = false;
            do
            {
                isCreator |= createDirectory(directory);
                final FileChannel channel = tryAcquire(directory);
                if (channel != null)
                {
                    if (isCreator)
                    {
                        markAsCreatedHere(channel);
                    }
                    isAcquired = true;
                    return new DirectoryLock(directory, channel);
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
            while (SystemNanoClock.INSTANCE.nanoTime() - deadlineNs < 0);
            throw new RdmaException(
                "fabric directory stays locked: " + directory.resolve(NAME) +
                "; find the process that holds it (fuser)");
        }
        finally
        {
            if (!isAcquired)
            {
                THREADS.unlock();
            }
        }
    }

    /** Removes lock file and directory when nothing else is in it and a fabric created it. */
    void removeDirectoryIfUnused() throws IOException
    {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory))
        {
            for (final Path file : files)
            {
                if (!file.endsWith(NAME))
                {
                    return;
                }
            }
        }
        if (channel.size() > 0)
        {
            removeAtOnce();
        }
        else
        {
            Files.delete(directory.resolve(NAME));
        }
    }

    /**
     * Moved away before it is emptied: one that is emptied in place could be entered by another process between the
     * removal of the lock file and its own, and who created it would be forgotten.
     */
    private void removeAtOnce() throws IOException
    {
        final Path removed = directory.resolveSibling("." + directory.getFileName() + "." + UUID.randomUUID());
        Files.move(directory, removed, StandardCopyOption.ATOMIC_MOVE);
        for (int i = 0; i < MAX_REMOVALS; i++)
        {
            removeFiles(removed);
            try
            {
                Files.delete(removed);
                return;
            }
            catch (final DirectoryNotEmptyException ex)
            {
                // A process that had looked the directory up before the move made a lock file there: it begins again.
            }
        }
    }

    /** Besides the lock file what a thread of this process made while its fabric was left: nobody else is here. */
    private static void removeFiles(final Path removed) throws IOException
    {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(removed))
        {
            for (final Path file : files)
            {
                Files.deleteIfExists(file);
            }
        }
    }

    @Override
    public void close() throws IOException
    {
        try
        {
            channel.close();
        }
        finally
        {
            THREADS.unlock();
        }
    }

    private static FileChannel tryAcquire(final Path directory) throws IOException
    {
        final Path file = directory.resolve(NAME);
        FileChannel channel = null;
        boolean isAcquired = false;
        try
        {
            createFile(file);
            final Object inode = inode(file);
            channel = FileChannel.open(file, EnumSet.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
            isAcquired = channel.tryLock() != null && inode.equals(inode(file));
        }
        catch (final NoSuchFileException ex)
        {
            // The last fabric left and removed it meanwhile: begin again.
            isAcquired = false;
        }
        finally
        {
            if (channel != null && !isAcquired)
            {
                channel.close();
            }
        }
        return isAcquired ? channel : null;
    }

    private static Object inode(final Path file) throws IOException
    {
        return Files.readAttributes(file, PosixFileAttributes.class).fileKey();
    }

    private static void createFile(final Path file) throws IOException
    {
        try
        {
            FileChannel.open(file, SharedFiles.CREATE, SharedFiles.FILE_MODE).close();
        }
        catch (final FileAlreadyExistsException ex)
        {
            // Another process made it, or holds it.
        }
    }

    /**
     * Said by whoever made the directory, however late its turn comes: the lock file may be another's, who made it and
     * took its turn in between.
     */
    private static void markAsCreatedHere(final FileChannel channel) throws IOException
    {
        channel.write(ByteBuffer.wrap(new byte[]{ 1 }), 0);
    }

    private static boolean createDirectory(final Path directory) throws IOException
    {
        final Path parent = directory.toAbsolutePath().getParent();
        if (parent == null || !Files.isDirectory(parent))
        {
            throw new RdmaException(
                "no place for registered memory: " + parent + " is not a directory; mount a tmpfs there " +
                "(mount -t tmpfs -o size=... tmpfs " + parent + ") or name another fabric directory");
        }
        try
        {
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            return true;
        }
        catch (final FileAlreadyExistsException ex)
        {
            checkPrivate(directory, (int)Files.getAttribute(Path.of("/proc/self"), UID));
            return false;
        }
    }

    /**
     * Refuses a directory that somebody else can enter, also one that another user made first under the name of this
     * user's, as is possible in {@code /dev/shm}: a process that runs as root could use it all the same.
     */
    public static void checkPrivate(final Path directory, final int userId) throws IOException
    {
        try
        {
            final PosixFileAttributes attributes =
                Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            final String found = directory + " is " + attributes.owner() + " " +
                PosixFilePermissions.toString(attributes.permissions());
            if (!attributes.isDirectory() || !OWNER_ONLY.containsAll(attributes.permissions()))
            {
                throw new RdmaException("fabric directory is not a directory that only its owner can open: " + found +
                    "; chmod 700 it, or name another one");
            }
            final int ownerId = (int)Files.getAttribute(directory, UID, LinkOption.NOFOLLOW_LINKS);
            if (ownerId != userId)
            {
                throw new RdmaException("fabric directory belongs to another user: " + found + ", and this process " +
                    "runs as user " + userId + "; remove it, or name another one");
            }
        }
        catch (final NoSuchFileException ex)
        {
            // The last fabric left and removed it meanwhile; the caller begins again.
        }
    }
}
