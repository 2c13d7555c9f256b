package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * A file of the fabric directory that outlives the process which registers it: {@code NAME.memory}. Whoever registers
 * it holds the lock of {@code NAME.holder}, which also says under which device it was reached last; peers find it as
 * any other region, by a hard link with the owner's name, which goes with the owner.
 *
 * <p>Peers of the holder before may have mapped the same bytes. So before they are given to a new holder, everybody is
 * cut off from the old device, as closing it would have done: its queue pairs are marked gone, and requesters that are
 * marked inside are waited for. Held by one thread at a time.
 */
public final class NamedMemory implements AutoCloseable
{
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,63}");
    private static final Set<StandardOpenOption> OPEN =
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    /** Holder files; one that is held here is not opened again, as closing any channel of a file drops its lock. */
    private static final Set<Path> HELD_BY_THIS_PROCESS = ConcurrentHashMap.newKeySet();

    private final FabricDirectory files;
    private final Path memory;
    private final Path holderFile;
    private final FileChannel holder;

    private NamedMemory(
        final FabricDirectory files, final String name, final Path holderFile, final FileChannel holder)
    {
        this.files = files;
        this.holder = holder;
        memory = memoryFile(files, name);
        this.holderFile = holderFile;
    }

    /** Whether the memory is there, held or not. */
    public static boolean exists(final FabricDirectory files, final String name)
    {
        return Files.exists(memoryFile(files, name));
    }

    private static Path memoryFile(final FabricDirectory files, final String name)
    {
        return files.path().resolve(name + ".memory");
    }

    /** One path for one file, however the fabric's directory is spelled. */
    private static Path holderFile(final FabricDirectory files, final String name)
    {
        try
        {
            return files.path().toRealPath().resolve(name + ".holder");
        }
        catch (final IOException ex)
        {
            throw new RdmaException("memory " + name + " in " + files.path() + " cannot be had: " + ex, ex);
        }
    }

    /**
     * Takes the name, and cuts everybody off from the device that it was reached under before.
     *
     * @param files   the fabric's directory.
     * @param name    1 to 64 lower-case letters, digits and dashes.
     * @param outside waits for requesters.
     * @return the name's holder, closed by the caller when nothing of the memory is mapped any more.
     * @throws RdmaException when it is held, here or by another process, or somebody does not leave it.
     */
    public static NamedMemory hold(final FabricDirectory files, final String name, final OutsideWait outside)
    {
        if (!NAME.matcher(name).matches())
        {
            throw new RdmaException("not a name for memory: '" + name + "'; use a-z, 0-9 and dashes, at most 64");
        }
        final Path file = holderFile(files, name);
        if (!HELD_BY_THIS_PROCESS.add(file))
        {
            throw new RdmaException(
                "memory " + name + " in " + files.path() + " is held by this process: close it, or use another name");
        }
        FileChannel channel = null;
        boolean isHeld = false;
        try
        {
            channel = FileChannel.open(file, OPEN,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            if (tryLock(channel) == null)
            {
                throw new RdmaException("memory " + name + " in " + files.path() +
                    " is held by another process that lives: end that one, or use another name");
            }
            final NamedMemory held = new NamedMemory(files, name, file, channel);
            held.cutOffBefore(outside);
            isHeld = true;
            return held;
        }
        catch (final IOException ex)
        {
            throw new RdmaException("memory " + name + " in " + files.path() + " cannot be had: " + ex, ex);
        }
        finally
        {
            if (!isHeld)
            {
                release(file, channel);
            }
        }
    }

    private static FileLock tryLock(final FileChannel channel) throws IOException
    {
        try
        {
            return channel.tryLock();
        }
        catch (final OverlappingFileLockException ex)
        {
            return null;
        }
    }

    private void cutOffBefore(final OutsideWait outside) throws IOException
    {
        final ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (holder.read(bytes, 0) < Long.BYTES)
        {
            return;
        }
        final long before = bytes.getLong(0);
        final int owner = (int)(before >>> Integer.SIZE);
        if (!files.isAlive(owner))
        {
            // Not there any more: who removed it has marked it dead.
            DeviceFile.markDead(files.deviceFile(owner, (int)before));
        }
        for (final Path path : files.deviceFiles())
        {
            try (DeviceFile requester = DeviceFile.attachToRevoke(path))
            {
                if (requester != null)
                {
                    outside.awaitOutside(requester, before);
                }
            }
        }
    }

    /**
     * Maps the memory as a region of this process; zeroed when it is new.
     *
     * @param lengthBytes  of it.
     * @param regionNumber under which peers find it.
     * @param interfaceId  low half of the GID of the device that registers it.
     * @return the file, closed by the caller before this.
     * @throws RdmaException when it is there with another length, or there is no room.
     */
    public SharedMemoryFile map(final long lengthBytes, final long regionNumber, final long interfaceId)
    {
        final Path link = files.regionFile(files.ownerId(), regionNumber);
        try
        {
            if (!Files.exists(memory))
            {
                make(lengthBytes);
            }
            if (Files.size(memory) != lengthBytes)
            {
                throw new RdmaException("memory " + memory + " is there already with " + Files.size(memory) +
                    " bytes, asked for are " + lengthBytes + ": ask for as many");
            }
            holder.write(
                ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(0, interfaceId), 0);
            Files.createLink(link, memory);
            try (FileChannel channel = FileChannel.open(link, StandardOpenOption.READ, StandardOpenOption.WRITE))
            {
                return SharedMemoryFile.ofOwner(link, regionNumber, channel, lengthBytes);
            }
        }
        catch (final IOException ex)
        {
            SharedFiles.deleteQuietly(link);
            throw files.outOfSpace(lengthBytes, ex);
        }
    }

    /** Under another name until it is whole: one that is half made is not there. */
    private void make(final long lengthBytes) throws IOException
    {
        final Path unfinished = memory.resolveSibling(memory.getFileName() + "-unfinished");
        SharedFiles.deleteQuietly(unfinished);
        boolean isMade = false;
        try
        {
            files.checkSpace(lengthBytes);
            try (FileChannel channel = FileChannel.open(unfinished, SharedFiles.CREATE, SharedFiles.FILE_MODE))
            {
                files.allocateBlocks(channel, unfinished, lengthBytes);
            }
            Files.move(unfinished, memory, StandardCopyOption.ATOMIC_MOVE);
            isMade = true;
        }
        finally
        {
            if (!isMade)
            {
                SharedFiles.deleteQuietly(unfinished);
            }
        }
    }

    /**
     * Removes the memory; nothing of it may be mapped here.
     *
     * @return whether it was there.
     */
    public boolean discard()
    {
        try
        {
            final boolean wasThere = Files.deleteIfExists(memory);
            SharedFiles.deleteQuietly(memory.resolveSibling(memory.getFileName() + "-unfinished"));
            SharedFiles.deleteQuietly(holderFile);
            return wasThere;
        }
        catch (final IOException ex)
        {
            throw new RdmaException("memory " + memory + " cannot be removed: " + ex, ex);
        }
    }

    /** Gives the name up. */
    @Override
    public void close()
    {
        if (holder.isOpen())
        {
            release(holderFile, holder);
        }
    }

    /** The lock goes first: who finds the name free here must not meet the lock of this process. */
    private static void release(final Path file, final FileChannel channel)
    {
        try
        {
            if (channel != null)
            {
                channel.close();
            }
        }
        catch (final IOException ignore)
        {
            // Nothing was buffered.
        }
        finally
        {
            HELD_BY_THIS_PROCESS.remove(file);
        }
    }
}
