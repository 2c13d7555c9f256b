package io.verbena.rdma.soft;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A mapped file of the fabric directory. It is unlinked on close, never truncated: truncating a file that somebody maps
 * ends that process at its next access.
 */
final class SharedMemoryFile implements AutoCloseable
{
    private final Path path;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    /** Maps a file whose blocks are all allocated. */
    SharedMemoryFile(final Path path, final FileChannel channel, final long lengthBytes) throws IOException
    {
        this.path = path;
        segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, lengthBytes, arena);
    }

    MemorySegment segment()
    {
        return segment;
    }

    @Override
    public void close()
    {
        try
        {
            Files.deleteIfExists(path);
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
