package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import static io.verbena.rdma.soft.shared.DeviceFileDescriptor.*;

/**
 * A mapped control file, of an own device or of another's. One mapping for all users in this process, kept until the
 * last one lets go. Thread-safe.
 */
public final class DeviceFile implements AutoCloseable
{
    private static final Map<Path, DeviceFile> MAPPED = new HashMap<>();

    private final Path path;
    private final Arena arena = Arena.ofShared();
    private final long base;
    private int users = 1;

    private DeviceFile(final Path path, final FileChannel channel) throws IOException
    {
        this.path = path;
        base = channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH, arena).address();
    }

    /**
     * Makes the file of a device of this process, not open yet.
     *
     * @param path of the file, absent.
     * @return the file, closed by the caller.
     */
    public static DeviceFile create(final Path path)
    {
        try
        {
            final DeviceFile file = Uninterrupted.execute(() -> make(path));
            synchronized (MAPPED)
            {
                MAPPED.put(path, file);
            }
            return file;
        }
        catch (final IOException ex)
        {
            throw new RdmaException("cannot make the device file " + path + ": " + ex, ex);
        }
    }

    private static DeviceFile make(final Path path) throws IOException
    {
        boolean isMade = false;
        try (FileChannel channel = FileChannel.open(path, SharedFiles.CREATE, SharedFiles.FILE_MODE))
        {
            try
            {
                SharedFiles.fill(channel, 0, KEYS_OFFSET);
                final DeviceFile file = new DeviceFile(path, channel);
                isMade = true;
                return file;
            }
            finally
            {
                if (!isMade)
                {
                    SharedFiles.deleteQuietly(path);
                }
            }
        }
    }

    /**
     * Maps a file for one more user.
     *
     * @param path of the file.
     * @return the file, closed by the caller; null when it is not there, not open yet or any more, or cannot be mapped.
     * @throws RdmaException when the file is of another format.
     */
    public static DeviceFile attach(final Path path)
    {
        try
        {
            return find(path);
        }
        catch (final IOException ex)
        {
            return null;
        }
    }

    /**
     * As {@link #attach}, for who frees memory that the device's requesters may be inside of: a device that only cannot
     * be looked at does not count as gone.
     *
     * @param path of the file.
     * @return the file, closed by the caller; null when it is not there, or not open yet or any more.
     * @throws RdmaException when the file cannot be mapped, or is of another format.
     */
    public static DeviceFile attachToRevoke(final Path path)
    {
        try
        {
            return find(path);
        }
        catch (final IOException ex)
        {
            throw new RdmaException(
                "cannot see whether a requester is inside the memory being closed, so nothing was freed: device file " +
                path + " cannot be mapped: " + ex + "; close again when it can (open files, vm.max_map_count)", ex);
        }
    }

    private static DeviceFile find(final Path path) throws IOException
    {
        synchronized (MAPPED)
        {
            DeviceFile file = MAPPED.get(path);
            if (file != null)
            {
                if (!file.isOpen())
                {
                    return null;
                }
                file.users++;
                return file;
            }
            file = Uninterrupted.execute(() -> map(path));
            if (file != null)
            {
                MAPPED.put(path, file);
            }
            return file;
        }
    }

    private static DeviceFile map(final Path path) throws IOException
    {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            // One that is being made is shorter: mapping must not lengthen it, reading it must not meet a hole.
            if (channel.size() < LENGTH)
            {
                return null;
            }
            final DeviceFile file = new DeviceFile(path, channel);
            if (file.isOpen() && file.hasKnownFormat())
            {
                return file;
            }
            file.arena.close();
            return null;
        }
        catch (final NoSuchFileException ex)
        {
            return null;
        }
    }

    private boolean hasKnownFormat()
    {
        final int version = SharedWords.getInt(base + VERSION_OFFSET);
        if (SharedWords.getLong(base + MAGIC_OFFSET) != MAGIC || version != FORMAT_VERSION)
        {
            arena.close();
            throw new RdmaException(
                "device file of another format: " + path + ", version " + version + ", this program knows version " +
                FORMAT_VERSION + "; run the same release in all processes of a fabric directory");
        }
        return true;
    }

    public long base()
    {
        return base;
    }

    public Path path()
    {
        return path;
    }

    public boolean isOpen()
    {
        return SharedWords.getIntAcquire(base + STATE_OFFSET) == STATE_OPEN;
    }

    public long interfaceId()
    {
        return SharedWords.getLong(base + GID_LOW_OFFSET);
    }

    public int ownerId()
    {
        return SharedWords.getInt(base + OWNER_OFFSET);
    }

    boolean isNode()
    {
        return (SharedWords.getInt(base + FLAGS_OFFSET) & FLAG_NODE) != 0;
    }

    public String name()
    {
        final byte[] bytes = new byte[Math.min(SharedWords.getInt(base + NAME_LENGTH_OFFSET), MAX_NAME_BYTES)];
        SharedWords.getBytes(base + NAME_OFFSET, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Owner: address of a queue pair's entry. Peer: only below the queue pair limit. */
    public long queuePairEntry(final int number)
    {
        return base + QUEUE_PAIRS_OFFSET + (long)(number & MAX_QUEUE_PAIRS - 1) * QueuePairEntry.LENGTH;
    }

    /** Peer: address of a queue pair's entry, or 0 when there was never one. */
    public long findQueuePairEntry(final int number)
    {
        final int limit = SharedWords.getIntAcquire(base + QUEUE_PAIR_LIMIT_OFFSET);
        return (number & MAX_QUEUE_PAIRS - 1) < limit ? queuePairEntry(number) : 0;
    }

    /** Its address on a network; null when it has none. */
    public DeviceAddress networkAddress()
    {
        final long locator = SharedWords.getLong(base + NETWORK_ADDRESS_OFFSET + 2 * Long.BYTES);
        return locator == 0 ? null : new DeviceAddress(
            SharedWords.getLong(base + NETWORK_ADDRESS_OFFSET),
            SharedWords.getLong(base + NETWORK_ADDRESS_OFFSET + Long.BYTES), locator);
    }

    /** Owner: writes the header; the state makes it visible. No network, no second address: null. */
    public void open(
        final DeviceAddress address,
        final DeviceAddress network,
        final int deviceIndex,
        final String name,
        final boolean isNode,
        final int dcContexts)
    {
        final ProcessIdentity self = ProcessIdentity.own();
        final byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
        final byte[] shortName = Arrays.copyOf(nameBytes, Math.min(nameBytes.length, MAX_NAME_BYTES));
        SharedWords.putLong(base + MAGIC_OFFSET, MAGIC);
        SharedWords.putInt(base + VERSION_OFFSET, FORMAT_VERSION);
        SharedWords.putInt(base + OWNER_OFFSET, (int)(address.gidLow() >>> Integer.SIZE));
        SharedWords.putInt(base + DEVICE_OFFSET, deviceIndex);
        SharedWords.putLong(base + PID_OFFSET, self.pid());
        SharedWords.putLong(base + STARTED_OFFSET, self.startedTicks());
        SharedWords.putLong(base + PID_NAMESPACE_OFFSET, self.pidNamespace());
        SharedWords.putLong(base + NETWORK_NAMESPACE_OFFSET, self.networkNamespace());
        SharedWords.putInt(base + FLAGS_OFFSET, isNode ? FLAG_NODE : 0);
        SharedWords.putLong(base + GID_HIGH_OFFSET, address.gidHigh());
        SharedWords.putLong(base + GID_LOW_OFFSET, address.gidLow());
        if (network != null)
        {
            SharedWords.putLong(base + NETWORK_ADDRESS_OFFSET, network.gidHigh());
            SharedWords.putLong(base + NETWORK_ADDRESS_OFFSET + Long.BYTES, network.gidLow());
            SharedWords.putLong(base + NETWORK_ADDRESS_OFFSET + 2 * Long.BYTES, network.serviceLocator());
        }
        SharedWords.putInt(base + VISITOR_LIMIT_OFFSET, 1);
        SharedWords.putInt(base + DC_CONTEXT_LIMIT_OFFSET, dcContexts);
        SharedWords.putInt(base + NAME_LENGTH_OFFSET, shortName.length);
        SharedWords.putBytes(base + NAME_OFFSET, shortName);
        SharedWords.putIntRelease(base + STATE_OFFSET, STATE_OPEN);
    }

    /**
     * Owner: allocates the blocks of a part of the file, so that touching them never fails. By a channel of its own:
     * one that stayed open would be closed for good by the first interrupt that meets a write.
     */
    public void commit(final long offset, final long lengthBytes)
    {
        try
        {
            Uninterrupted.execute(() -> fill(offset, lengthBytes));
        }
        catch (final IOException ex)
        {
            throw new RdmaException(
                "cannot allocate " + lengthBytes + " bytes for queues in " + path + " (" + ex.getMessage() +
                "); enlarge the memory file system (mount -o remount,size=..., or docker run --shm-size=...)", ex);
        }
    }

    private Void fill(final long offset, final long lengthBytes) throws IOException
    {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE))
        {
            SharedFiles.fill(channel, offset, lengthBytes);
        }
        return null;
    }

    /** As {@link #markDead()}; without effect when the file is not there, or was never open. */
    public static void markDead(final Path path)
    {
        try
        {
            Uninterrupted.execute(() -> mapAndMarkDead(path));
        }
        catch (final IOException | RdmaException ignore)
        {
            // Gone, or of another release, with whose processes nobody here has ever exchanged anything.
        }
    }

    private static Void mapAndMarkDead(final Path path) throws IOException
    {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            if (channel.size() >= LENGTH)
            {
                final DeviceFile file = new DeviceFile(path, channel);
                if (file.hasKnownFormat())
                {
                    file.markDead();
                    file.arena.close();
                }
            }
        }
        return null;
    }

    /**
     * Anybody: its process is dead. Requests to it fail from here on; nobody distinguishes what it had any more. It
     * is so when this returns, also when another process began with it.
     */
    public void markDead()
    {
        SharedWords.compareAndSetInt(base + STATE_OFFSET, STATE_OPEN, STATE_DEAD);
        if (SharedWords.getIntAcquire(base + STATE_OFFSET) == STATE_DEAD)
        {
            final int limit = SharedWords.getIntAcquire(base + QUEUE_PAIR_LIMIT_OFFSET);
            for (int i = 0; i < limit; i++)
            {
                final long state = queuePairEntry(i) + QueuePairEntry.STATE_OFFSET;
                SharedWords.putLongVolatile(state, SharedWords.getLong(state) | QueuePairEntry.GONE);
            }
        }
    }

    /** One user less; the owner says {@link #disown} before. */
    @Override
    public void close()
    {
        synchronized (MAPPED)
        {
            if (--users == 0)
            {
                MAPPED.remove(path, this);
                arena.close();
            }
        }
    }

    /** Owner: closed for everybody; the file itself is unlinked by the caller. */
    public void disown()
    {
        SharedWords.putIntVolatile(base + STATE_OFFSET, STATE_CLOSED);
    }
}
