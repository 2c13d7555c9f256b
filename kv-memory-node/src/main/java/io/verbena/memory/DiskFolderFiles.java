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
import java.util.Comparator;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A folder on disk. */
record DiskFolderFiles(Path path) implements FolderFiles
{
    private static final Pattern GROUP = Pattern.compile(GROUP_CHECKPOINT + "([0-9]{1,9})");
    private static final String REMOVED = ".removed";

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

    @Override
    public Set<Integer> groupCheckpoints() throws IOException
    {
        try (Stream<Path> entries = Files.list(path))
        {
            return entries.map((entry) -> GROUP.matcher(entry.getFileName().toString())).filter(Matcher::matches)
                .map((name) -> Integer.parseInt(name.group(1))).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /** Under another name first: a database of which a part is gone could be taken for one. */
    @Override
    public void removeCheckpoint(final String name) throws IOException
    {
        final Path removed = path.resolve(name + REMOVED);
        removeAll(removed);
        Files.move(path.resolve(name), removed, StandardCopyOption.ATOMIC_MOVE);
        syncNames();
        removeAll(removed);
    }

    private static void removeAll(final Path folder) throws IOException
    {
        if (Files.exists(folder))
        {
            try (Stream<Path> entries = Files.walk(folder))
            {
                for (final Path entry : entries.sorted(Comparator.reverseOrder()).toList())
                {
                    Files.delete(entry);
                }
            }
        }
    }
}
