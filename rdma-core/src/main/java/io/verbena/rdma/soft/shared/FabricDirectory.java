package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.agrona.CloseHelper;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The directory that holds a fabric's registered memory.
 *
 * <p>Files: {@code fabric.lock}, held while a fabric is opened or closed; {@code OWNER.lock} for each open fabric,
 * OWNER being 8 random hex digits, locked as long as its process lives; {@code OWNER.N.device} for each device
 * ({@link DeviceFileDescriptor}) and {@code OWNER.N.region} for each region. An owner's lock file that can be locked
 * belongs to a dead process, however it died: its peers and the next opener mark its devices dead, so that nobody who
 * has mapped them goes on, and remove its files. {@code NAME.memory} and {@code NAME.holder} belong to no process, see
 * {@link NamedMemory}. Thread-safe.
 */
public final class FabricDirectory implements AutoCloseable
{
    private static final String LOCK_SUFFIX = ".lock";
    private static final Pattern OWNED_FILE = Pattern.compile("[0-9a-f]{8}\\.(lock|\\d+\\.(region|device))");
    private static final int OWNER_LENGTH = 8;
    private static final long END_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long CLOSE_LOOK_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final SecureRandom RANDOM = new SecureRandom();
    /** POSIX locks do not exclude their own process, and closing any channel of a file drops them: so know our own. */
    private static final Set<String> OWNERS_OF_THIS_PROCESS = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final int ownerId;
    private final String owner;
    private final FileChannel ownerLock;
    private final AtomicLong lastRegion = new AtomicLong();
    private final Thread shutdownHook = new Thread(this::leaveAtEnd, "verbena-soft-fabric-cleanup");
    private final boolean hasShutdownHook;
    private final boolean hugePages;
    /** Lock files of other owners, open; guarded by {@link #OWNERS_OF_THIS_PROCESS}. */
    private final Map<Integer, FileChannel> probes = new HashMap<>();
    private boolean hasLeft;
    private volatile boolean isClosed;
    private volatile boolean isEnding;
    private volatile long closeTimeoutNs;

    private FabricDirectory(final Path path, final boolean hugePages) throws IOException
    {
        this.path = path;
        this.hugePages = hugePages;
        int id;
        do
        {
            id = RANDOM.nextInt();
        }
        while (!OWNERS_OF_THIS_PROCESS.add(ownerName(id)));
        ownerId = id;
        owner = ownerName(id);
        ownerLock = FileChannel.open(path.resolve(owner + LOCK_SUFFIX), SharedFiles.CREATE, SharedFiles.FILE_MODE);
        if (ownerLock.tryLock() == null)
        {
            throw new IOException("lock is taken: " + owner + LOCK_SUFFIX);
        }
        hasShutdownHook = addShutdownHook();
    }

    /** Who opens it while the process ends, to remove what is left, closes it before its end. */
    private boolean addShutdownHook()
    {
        try
        {
            Runtime.getRuntime().addShutdownHook(shutdownHook);
            return true;
        }
        catch (final IllegalStateException ex)
        {
            return false;
        }
    }

    /**
     * Joins the directory, after removing what dead processes left in it.
     *
     * @param path      of the directory.
     * @param hugePages whether regions ask for huge pages.
     * @return this process's part of it, closed by the caller.
     */
    public static FabricDirectory open(final Path path, final boolean hugePages)
    {
        try (DirectoryLock _ = DirectoryLock.acquire(path))
        {
            removeDead(path);
            return new FabricDirectory(path, hugePages);
        }
        catch (final IOException ex)
        {
            throw new RdmaException("cannot use fabric directory " + path + ": " + ex, ex);
        }
    }

    public Path path()
    {
        return path;
    }

    public int ownerId()
    {
        return ownerId;
    }

    /**
     * Makes a zeroed file of allocated blocks and maps it.
     *
     * @param lengthBytes 1 or more.
     * @return the file, closed by the caller.
     */
    public SharedMemoryFile allocate(final long lengthBytes)
    {
        final long number = lastRegion.incrementAndGet();
        final Path file = regionFile(ownerId, number);
        try
        {
            checkSpace(lengthBytes);
            return Uninterrupted.execute(() -> allocate(file, number, lengthBytes));
        }
        catch (final IOException ex)
        {
            throw outOfSpace(lengthBytes, ex);
        }
    }

    private SharedMemoryFile allocate(final Path file, final long number, final long lengthBytes) throws IOException
    {
        try (FileChannel channel = FileChannel.open(file, SharedFiles.CREATE, SharedFiles.FILE_MODE))
        {
            allocateBlocks(channel, file, lengthBytes);
            return SharedMemoryFile.ofOwner(file, number, channel, lengthBytes);
        }
        catch (final IOException ex)
        {
            SharedFiles.deleteQuietly(file);
            throw ex;
        }
    }

    /** A number for a region that was not used in this process. */
    public long nextRegionNumber()
    {
        return lastRegion.incrementAndGet();
    }

    void checkSpace(final long lengthBytes) throws IOException
    {
        if (Files.getFileStore(path).getUsableSpace() < lengthBytes)
        {
            throw outOfSpace(lengthBytes, null);
        }
    }

    @Override
    public void close()
    {
        if (!hasShutdownHook)
        {
            leave();
            return;
        }
        try
        {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        }
        catch (final IllegalStateException ignore)
        {
            // The process is ending and the hook does the same.
            isClosed = true;
            return;
        }
        leave();
    }

    /** How long the end of the process waits for {@link #close}, which the application does in a hook of its own. */
    public void awaitCloseAtExit(final long timeoutNs)
    {
        closeTimeoutNs = timeoutNs;
    }

    /** Whether the process ends; queue pairs that come into a state to send in after this go to ERR. */
    public boolean isEnding()
    {
        return isEnding;
    }

    /**
     * The process ends, and its threads run on meanwhile. Without files and lock others take it for dead and free what
     * its requesters may still write to; so they stop first. Holds no lock until then: other threads may be closing.
     * Where one does not stop, the kernel frees the lock when it is stopped for certain, and others remove the files.
     */
    private void leaveAtEnd()
    {
        final long closedByNs = SystemNanoClock.INSTANCE.nanoTime() + closeTimeoutNs;
        while (!isClosed && SystemNanoClock.INSTANCE.nanoTime() - closedByNs < 0)
        {
            LockSupport.parkNanos(CLOSE_LOOK_NS);
        }
        isEnding = true;
        final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + END_TIMEOUT_NS;
        boolean isOutside = true;
        for (final Path file : deviceFiles(owner + ".*.device"))
        {
            try (DeviceFile device = DeviceFile.attach(file))
            {
                isOutside &= device == null || QueuePairFailure.stopRequesters(device, deadlineNs);
            }
        }
        if (isOutside)
        {
            leave();
        }
    }

    private synchronized void leave()
    {
        if (hasLeft)
        {
            return;
        }
        hasLeft = true;
        try (DirectoryLock lock = DirectoryLock.acquire(path))
        {
            removeFilesOf(Set.of(owner));
            ownerLock.close();
            OWNERS_OF_THIS_PROCESS.remove(owner);
            removeDead(path);
            lock.removeDirectoryIfUnused();
        }
        catch (final IOException | RdmaException ex)
        {
            // Without the lock, then: the files are ours alone.
            removeFilesOf(Set.of(owner));
        }
    }

    private void removeFilesOf(final Set<String> owners)
    {
        removeFilesOf(path, owners);
    }

    /** Allocates all blocks of a new file, zeroed. */
    void allocateBlocks(final FileChannel channel, final Path file, final long lengthBytes) throws IOException
    {
        if (!hugePages || !HugePages.allocate(channel, file, lengthBytes))
        {
            SharedFiles.fill(channel, 0, lengthBytes);
        }
    }

    /** Where the control file of a device lies. */
    public Path deviceFile(final int owner, final int deviceIndex)
    {
        return path.resolve(ownerName(owner) + "." + deviceIndex + ".device");
    }

    /** Where a region lies. */
    public Path regionFile(final int owner, final long number)
    {
        return path.resolve(ownerName(owner) + "." + number + ".region");
    }

    /** The control files of all devices there are. */
    public List<Path> deviceFiles()
    {
        return deviceFiles("*.device");
    }

    private List<Path> deviceFiles(final String glob)
    {
        final List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path, glob))
        {
            files.forEach(found::add);
        }
        catch (final NoSuchFileException ignore)
        {
            // No directory, no devices.
        }
        catch (final IOException | DirectoryIteratorException ex)
        {
            // Not readable now: who looks for requesters must not take that for none.
            throw new RdmaException("cannot list the devices in fabric directory " + path + ": " + ex, ex);
        }
        return found;
    }

    /**
     * Whether an owner's process lives and has its fabric open.
     *
     * @param owner id of it.
     * @return false when certainly not; true also when it is not known.
     */
    public boolean isAlive(final int owner)
    {
        if (OWNERS_OF_THIS_PROCESS.contains(ownerName(owner)))
        {
            return true;
        }
        try
        {
            return probe(owner);
        }
        catch (final NoSuchFileException ex)
        {
            return false;
        }
        catch (final IOException ex)
        {
            return true;
        }
    }

    /** Asked fifty times a second for each owner: the lock file stays open, which is most of what it costs. */
    private boolean probe(final int probedOwner) throws IOException
    {
        synchronized (OWNERS_OF_THIS_PROCESS)
        {
            FileChannel channel = probes.get(probedOwner);
            if (channel == null || !channel.isOpen()) // an interrupt closes it
            {
                channel = FileChannel.open(path.resolve(ownerName(probedOwner) + LOCK_SUFFIX), StandardOpenOption.READ);
                probes.put(probedOwner, channel);
            }
            try (FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true))
            {
                if (lock == null)
                {
                    return true;
                }
            }
            probes.remove(probedOwner);
            channel.close();
            return false;
        }
    }

    /** Closes the lock files of all owners but these. */
    public void probeOnly(final Set<Integer> owners)
    {
        synchronized (OWNERS_OF_THIS_PROCESS)
        {
            final Iterator<Map.Entry<Integer, FileChannel>> all = probes.entrySet().iterator();
            while (all.hasNext())
            {
                final Map.Entry<Integer, FileChannel> probe = all.next();
                if (!owners.contains(probe.getKey()))
                {
                    CloseHelper.quietClose(probe.getValue());
                    all.remove();
                }
            }
        }
    }

    /** Removes the files of an owner that is dead. */
    public void removeFilesOfDead(final int owner)
    {
        removeFilesOfDead(path, Set.of(ownerName(owner)));
    }

    RdmaException outOfSpace(final long lengthBytes, final IOException cause)
    {
        long freeBytes = -1;
        try
        {
            freeBytes = Files.getFileStore(path).getUsableSpace();
        }
        catch (final IOException ignore)
        {
            // The message then says -1.
        }
        return new RdmaException(
            "cannot allocate registered memory: need " + lengthBytes + " bytes, free " + freeBytes + " bytes in " +
            path + (cause == null ? "" : " (" + cause.getMessage() + ")") +
            "; enlarge it (mount -o remount,size=..., or docker run --shm-size=...) or ask for less memory", cause);
    }

    private static void removeDead(final Path path) throws IOException
    {
        final Set<String> dead = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path))
        {
            for (final Path file : files)
            {
                final String name = file.getFileName().toString();
                if (OWNED_FILE.matcher(name).matches())
                {
                    dead.add(name.substring(0, OWNER_LENGTH));
                }
            }
        }
        dead.removeAll(OWNERS_OF_THIS_PROCESS);
        for (final String owner : dead.toArray(new String[0]))
        {
            if (isLocked(path.resolve(owner + LOCK_SUFFIX)))
            {
                dead.remove(owner);
            }
        }
        removeFilesOfDead(path, dead);
    }

    /** Devices are marked first: peers that have mapped them would not find out any more. */
    private static void removeFilesOfDead(final Path path, final Set<String> owners)
    {
        for (final String owner : owners)
        {
            try (DirectoryStream<Path> devices = Files.newDirectoryStream(path, owner + ".*.device"))
            {
                devices.forEach(DeviceFile::markDead);
            }
            catch (final IOException ignore)
            {
                // Somebody else removed the directory.
            }
        }
        removeFilesOf(path, owners);
    }

    private static boolean isLocked(final Path lockFile) throws IOException
    {
        if (!Files.exists(lockFile))
        {
            return false;
        }
        // Shared, so that two who look at the same time do not take each other for the owner. Threads of one process
        // would meet an exception instead of a lock.
        synchronized (OWNERS_OF_THIS_PROCESS)
        {
            try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.READ);
                FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true))
            {
                return lock == null;
            }
            catch (final NoSuchFileException ex)
            {
                return false;
            }
        }
    }

    /** Lock files go last, so that an interrupted removal is found again. */
    private static void removeFilesOf(final Path path, final Set<String> owners)
    {
        for (final String owner : owners)
        {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(path, owner + ".*.{region,device}"))
            {
                files.forEach(SharedFiles::deleteQuietly);
            }
            catch (final IOException ignore)
            {
                // Somebody else removed the directory.
            }
            SharedFiles.deleteQuietly(path.resolve(owner + LOCK_SUFFIX));
        }
    }

    private static String ownerName(final int id)
    {
        // Asked for each peer at each look of the watch, and formatting by a pattern was most of what a look cost.
        return HexFormat.of().toHexDigits(id);
    }
}
