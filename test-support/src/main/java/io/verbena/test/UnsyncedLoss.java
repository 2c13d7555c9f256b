package io.verbena.test;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * A folder of a real file system, and what is left of it when the host loses its power and everything that was not
 * synced: the bytes that a file had when it was last synced, under the names that its folder had when that was last
 * synced. Takes whole files into memory: for small ones.
 */
public final class UnsyncedLoss
{
    private static final class Inode
    {
        private final boolean isFolder;
        private byte[] bytes = {};
        private final Map<String, Inode> names = new TreeMap<>();

        private Inode(final boolean isFolder)
        {
            this.isFolder = isFolder;
        }
    }

    private final Path root;
    private final Map<Object, Inode> inodes = new HashMap<>();
    /** An inode that is open is not used again for another file. */
    private final List<FileChannel> open = new ArrayList<>();
    private final List<Path> synced = new ArrayList<>();
    private Path failing;

    /**
     * @param root of what is watched; empty.
     * @throws IOException when it cannot be read.
     */
    public UnsyncedLoss(final Path root) throws IOException
    {
        this.root = root.toRealPath();
        inode(this.root);
    }

    /**
     * Runs something; what it has synced below the root is not lost.
     *
     * @param body on a thread of its own.
     * @param <T>  what it returns.
     * @return what the body returned.
     * @throws Exception that it threw.
     */
    public <T> T run(final Callable<T> body) throws Exception
    {
        return SyncCalls.watch(this::onSync, body);
    }

    /** From now on each sync of a file or folder whose path begins like this fails with EIO; null: none does. */
    public synchronized void fail(final Path path)
    {
        failing = path;
    }

    /** @return what was synced below the root so far, in order; a copy. */
    public synchronized List<Path> synced()
    {
        return List.copyOf(synced);
    }

    /**
     * Writes down what is left when power is lost now.
     *
     * @param target empty folder.
     * @throws IOException when it cannot be written.
     */
    public synchronized void loseHost(final Path target) throws IOException
    {
        write(inode(root), target);
    }

    private static void write(final Inode folder, final Path target) throws IOException
    {
        Files.createDirectories(target);
        for (final Map.Entry<String, Inode> entry : folder.names.entrySet())
        {
            final Path path = target.resolve(entry.getKey());
            if (entry.getValue().isFolder)
            {
                write(entry.getValue(), path);
            }
            else
            {
                Files.write(path, entry.getValue().bytes);
            }
        }
    }

    private synchronized boolean onSync(final int descriptor, final Path path) throws IOException
    {
        if (!path.startsWith(root))
        {
            return true;
        }
        if (null != failing && path.toString().startsWith(failing.toString()))
        {
            return false;
        }
        final Path opened = Path.of("/proc/self/fd/" + descriptor);
        final Inode inode = inode(opened);
        if (inode.isFolder)
        {
            inode.names.clear();
            try (Stream<Path> entries = Files.list(path))
            {
                for (final Path entry : entries.toList())
                {
                    inode.names.put(entry.getFileName().toString(), inode(entry));
                }
            }
        }
        else
        {
            inode.bytes = Files.readAllBytes(opened);
        }
        synced.add(path);
        return true;
    }

    private Inode inode(final Path path) throws IOException
    {
        final Object key = Files.getAttribute(path, "unix:ino");
        final Inode known = inodes.get(key);
        if (null != known)
        {
            return known;
        }
        final Inode inode = new Inode(Files.isDirectory(path));
        open.add(FileChannel.open(path, StandardOpenOption.READ));
        inodes.put(key, inode);
        return inode;
    }
}
