package io.verbena.rdma.soft;

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

/**
 * A mapped region file. Its owner unlinks it on close and never truncates it: truncating a file that somebody maps ends
 * that process at its next access. Peers map it for themselves, and keep their mapping when the owner's is gone; peers
 * in the owner's process use the owner's mapping, which the key that leads to it outlives for nobody.
 */
final class SharedMemoryFile implements AutoCloseable
{
    private static final Map<Path, SharedMemoryFile> OWN = new ConcurrentHashMap<>();

    private final Path path;
    private final long number;
    private final boolean isOwner;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    private SharedMemoryFile(
        final Path path, final long number, final FileChannel channel, final long lengthBytes, final boolean isOwner)
        throws IOException
    {
        this.path = path;
        this.number = number;
        this.isOwner = isOwner;
        segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, lengthBytes, arena);
    }

    /** Maps a file of this process, whose blocks are all allocated. */
    static SharedMemoryFile ofOwner(
        final Path path, final long number, final FileChannel channel, final long lengthBytes) throws IOException
    {
        final SharedMemoryFile file = new SharedMemoryFile(path, number, channel, lengthBytes, true);
        OWN.put(path, file);
        return file;
    }

    /** The owner's mapping, or null when the file is another process's. */
    static SharedMemoryFile findOwn(final Path path)
    {
        return OWN.get(path);
    }

    /** Maps another process's file as far as it reaches. */
    static SharedMemoryFile ofPeer(final Path path) throws IOException
    {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            return new SharedMemoryFile(path, 0, channel, channel.size(), false);
        }
    }

    MemorySegment segment()
    {
        return segment;
    }

    long number()
    {
        return number;
    }

    @Override
    public void close()
    {
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
            arena.close();
        }
    }
}
