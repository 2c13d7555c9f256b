package io.verbena.rdma.soft.shared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongFunction;

/**
 * A mapped region file. Its owner unlinks it on close and never truncates it: truncating a file that somebody maps ends
 * that process at its next access. Peers map it for themselves, and keep their mapping when the owner's is gone; peers
 * in the owner's process use the owner's mapping, which the key that leads to it outlives for nobody.
 */
public final class SharedMemoryFile implements AutoCloseable
{
    private static final Map<Path, SharedMemoryFile> OWN = new ConcurrentHashMap<>();

    private final Path path;
    private final long number;
    private final boolean isOwner;
    private final MemorySegment segment;
    private final Runnable unmap;
    private Runnable whenClosed;
    private int users = 1;

    private SharedMemoryFile(
        final Path path,
        final long number,
        final boolean isOwner,
        final MemorySegment segment,
        final Runnable unmap)
    {
        this.path = path;
        this.number = number;
        this.isOwner = isOwner;
        this.segment = segment;
        this.unmap = unmap;
    }

    private static SharedMemoryFile map(
        final Path path, final long number, final FileChannel channel, final long lengthBytes, final boolean isOwner)
        throws IOException
    {
        final Arena arena = Arena.ofShared();
        final MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, lengthBytes, arena);
        return new SharedMemoryFile(path, number, isOwner, mapped, arena::close);
    }

    /** Maps a file of this process, whose blocks are all allocated. */
    static SharedMemoryFile ofOwner(
        final Path path, final long number, final FileChannel channel, final long lengthBytes) throws IOException
    {
        final SharedMemoryFile file = map(path, number, channel, lengthBytes, true);
        OWN.put(path, file);
        return file;
    }

    /**
     * A file of this process that is mapped at memory of the caller.
     *
     * @param unmap gives the caller's memory back.
     */
    static SharedMemoryFile ofCaller(
        final Path path, final long number, final MemorySegment segment, final Runnable unmap)
    {
        final SharedMemoryFile file = new SharedMemoryFile(path, number, true, segment, unmap);
        OWN.put(path, file);
        return file;
    }

    /**
     * A file of this process that a segment lies in.
     *
     * @param regionFile the file of a region by its number, on the fabric that it must be of.
     * @param segment    native.
     * @return the file, for one more user; null when there is none.
     */
    public static SharedMemoryFile useContaining(final LongFunction<Path> regionFile, final MemorySegment segment)
    {
        for (final SharedMemoryFile file : OWN.values())
        {
            final long offset = segment.address() - file.segment.address();
            if (offset >= 0 && offset <= file.segment.byteSize() - segment.byteSize() &&
                file.path.equals(regionFile.apply(file.number)) && file.use())
            {
                return file;
            }
        }
        return null;
    }

    private synchronized boolean use()
    {
        if (users > 0)
        {
            users++;
        }
        return users > 0;
    }

    /** The owner's mapping, or null when the file is another process's. */
    static SharedMemoryFile findOwn(final Path path)
    {
        return OWN.get(path);
    }

    /** Maps another process's file as far as it reaches. */
    public static SharedMemoryFile ofPeer(final Path path) throws IOException
    {
        return Uninterrupted.execute(() -> mapPeer(path));
    }

    private static SharedMemoryFile mapPeer(final Path path) throws IOException
    {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            return map(path, 0, channel, channel.size(), false);
        }
    }

    public MemorySegment segment()
    {
        return segment;
    }

    public long number()
    {
        return number;
    }

    /** What the last user's {@link #close} does at the end. */
    public void whenClosed(final Runnable action)
    {
        whenClosed = action;
    }

    /** One user less; unmaps with the last one. */
    @Override
    public synchronized void close()
    {
        if (--users > 0)
        {
            return;
        }
        try
        {
            if (isOwner)
            {
                OWN.remove(path);
                Files.deleteIfExists(path);
            }
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("cannot unlink " + path, ex);
        }
        finally
        {
            unmap.run();
            if (whenClosed != null)
            {
                whenClosed.run();
            }
        }
    }
}
