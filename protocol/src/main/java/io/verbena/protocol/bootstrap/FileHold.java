package io.verbena.protocol.bootstrap;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * A lock of a file, against other processes and within this one. On Linux a process loses its lock of a file when it
 * closes any descriptor of that file (fcntl(2), F_SETLK), so that a file which this process has locked is never opened
 * again here, by whatever name. Thread-safe. Closed by its opener.
 */
public final class FileHold implements AutoCloseable
{
    /** Device and inode of the files that this process has locked; also the lock of all that is done here. */
    private static final Set<Object> HELD = new HashSet<>();

    private final FileChannel channel;
    private final Object file;
    /** Guarded by {@link #HELD}. The channel says less: an interrupt of a thread that writes closes it, too. */
    private boolean isReleased;

    private FileHold(final FileChannel channel, final Object file)
    {
        this.channel = channel;
        this.file = file;
    }

    /**
     * Locks a file that is there.
     *
     * @param path of the file.
     * @return the lock; null when another process or another part of this one has it.
     * @throws IOException when the file cannot be opened or locked.
     */
    public static FileHold tryLock(final Path path) throws IOException
    {
        return lock(path, READ, WRITE);
    }

    /**
     * Locks a file, and makes it when it is absent.
     *
     * @param path of the file.
     * @return as {@link #tryLock}.
     * @throws IOException when the file cannot be made, opened or locked.
     */
    public static FileHold tryCreate(final Path path) throws IOException
    {
        return lock(path, CREATE, READ, WRITE);
    }

    private static FileHold lock(final Path path, final OpenOption... options) throws IOException
    {
        synchronized (HELD)
        {
            if (isHeldHere(path))
            {
                return null;
            }
            final FileChannel opened = FileChannel.open(path, options);
            FileHold hold = null;
            try
            {
                if (null != opened.tryLock())
                {
                    hold = new FileHold(opened, key(path));
                    HELD.add(hold.file);
                }
            }
            catch (final OverlappingFileLockException ex)
            {
                return null;
            }
            finally
            {
                if (null == hold)
                {
                    opened.close();
                }
            }
            return hold;
        }
    }

    /**
     * @param path of a file.
     * @return whether this process has locked it. Then it must not be opened, not even to be read.
     * @throws IOException when the folder cannot be searched.
     */
    public static boolean isHeldHere(final Path path) throws IOException
    {
        synchronized (HELD)
        {
            return Files.exists(path) && HELD.contains(key(path));
        }
    }

    private static Object key(final Path path) throws IOException
    {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    /**
     * Replaces what is in the file.
     *
     * @param text of ASCII characters.
     * @throws IOException when it cannot be written; the lock is released then.
     */
    public void write(final String text) throws IOException
    {
        try
        {
            channel.truncate(0);
            channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
        }
        catch (final IOException ex)
        {
            close();
            throw ex;
        }
    }

    /** @return whether it has not been closed. */
    public boolean isOpen()
    {
        return channel.isOpen();
    }

    /** Releases the lock; idempotent. The file stays: else two processes could lock two files of one name. */
    @Override
    public void close() throws IOException
    {
        synchronized (HELD)
        {
            if (!isReleased)
            {
                isReleased = true;
                try
                {
                    channel.close();
                }
                finally
                {
                    HELD.remove(file);
                }
            }
        }
    }
}
