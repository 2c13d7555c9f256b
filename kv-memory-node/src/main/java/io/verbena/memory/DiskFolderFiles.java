package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.protocol.bootstrap.SyncedNames;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** A folder on disk. */
record DiskFolderFiles(Path path) implements FolderFiles
{
    @Override
    public boolean exists(final String name)
    {
        return Files.exists(path.resolve(name));
    }

    @Override
    public byte[] read(final String name) throws IOException
    {
        return Files.readAllBytes(path.resolve(name));
    }

    @Override
    public void write(final String name, final byte[] bytes) throws IOException
    {
        try (FileChannel channel = FileChannel.open(path.resolve(name), StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE))
        {
            final ByteBuffer left = ByteBuffer.wrap(bytes);
            while (left.hasRemaining())
            {
                channel.write(left);
            }
            channel.force(true);
        }
    }

    @Override
    public void rename(final String from, final String to) throws IOException
    {
        Files.move(path.resolve(from), path.resolve(to), StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void syncNames() throws IOException
    {
        SyncedNames.sync(path);
    }

    @Override
    public boolean delete(final String name) throws IOException
    {
        return Files.deleteIfExists(path.resolve(name));
    }

    @Override
    public CheckpointStore openCheckpoint(final String name)
    {
        return CheckpointStore.open(path.resolve(name));
    }
}
