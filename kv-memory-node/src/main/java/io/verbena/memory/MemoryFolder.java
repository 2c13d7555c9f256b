package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.protocol.bootstrap.FileHold;
import io.verbena.protocol.bootstrap.OwnerOnly;
import io.verbena.protocol.message.FailureDomain;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The data folder of a memory node: who it is, so that its next process is the same node. {@code node.properties} says
 * that, {@code node.lock} is locked while a process has the folder, {@code checkpoint} is the database of its
 * checkpoints, {@code checkpoint-group-N} that of a group of memory nodes, {@code checkpoint.properties} says how the
 * last one went, {@code checkpoint.request} asks for one, {@code restored.properties} says which groups were restored.
 * Not thread-safe, but another thread makes checkpoints and reports them. Closed by its opener, after the node.
 */
public final class MemoryFolder implements AutoCloseable
{
    /** Format of {@code node.properties}. */
    public static final int FORMAT_VERSION = 1;
    private static final String PROPERTIES = "node.properties";
    /** Behind the name of a file that is written: each has its own, since two threads write. */
    private static final String UNFINISHED = ".unfinished";
    private static final String LOCK = "node.lock";
    static final String CHECKPOINT = FolderFiles.CHECKPOINT;
    private static final String REPORT = "checkpoint.properties";
    private static final String REQUEST = "checkpoint.request";
    static final String RESTORED = "restored.properties";
    private static final Set<String> OURS = Set.of(PROPERTIES, PROPERTIES + UNFINISHED, LOCK, CHECKPOINT,
        CHECKPOINT + CheckpointStore.LIBRARY_SUFFIX, REPORT, REPORT + UNFINISHED, REQUEST, RESTORED,
        RESTORED + UNFINISHED, "lost+found");
    /** Memory is walked, restored or saved at this pace at least, on a slow machine too. */
    private static final long WALKED_BYTES_PER_S = 16 << 20;
    private static final int HEX = 16;

    private final Path path;
    private final FolderFiles files;
    private final FileHold lock;
    private final long memoryId;
    private long regionLengthBytes;
    private long writtenLengthBytes;
    private int nodeId;
    private long clusterId;
    private int incarnation;
    private String failureDomain;

    private MemoryFolder(
        final Path path, final FolderFiles files, final FileHold lock, final Properties properties)
    {
        this.path = path;
        this.files = files;
        this.lock = lock;
        memoryId = Long.parseUnsignedLong(properties.getProperty("memory_id"), HEX);
        regionLengthBytes = Long.parseLong(properties.getProperty("region_length_bytes"));
        writtenLengthBytes = regionLengthBytes;
        nodeId = Integer.parseInt(properties.getProperty("node_id"));
        clusterId = Long.parseUnsignedLong(properties.getProperty("cluster_id"), HEX);
        incarnation = Integer.parseInt(properties.getProperty("incarnation", "0"));
        failureDomain = properties.getProperty("failure_domain", FailureDomain.NONE);
    }

    /**
     * Locks a folder, and makes it when it is absent or empty.
     *
     * @param path              of the folder.
     * @param regionLengthBytes of the node's memory; 0: as it is there, or {@code defaultLengthBytes} when it is new;
     *                          more than there was, when a checkpoint is to be restored into it.
     * @param defaultLengthBytes of a new node's memory.
     * @return the folder.
     * @throws MemoryNodeException when it cannot be used; one line that says why.
     */
    public static MemoryFolder open(final Path path, final long regionLengthBytes, final long defaultLengthBytes)
    {
        refuseForeign(path);
        FileHold lock = null;
        boolean isOpen = false;

        try
        {
            OwnerOnly.createFolder(path);
            lock = FileHold.tryCreate(path.resolve(LOCK));

            if (null == lock)
            {
                throw new MemoryNodeException(
                    "data folder " + path + " is in use by another memory node: stop it, or use another folder", null);
            }

            final MemoryFolder folder = open(
                path, new DiskFolderFiles(path), lock, regionLengthBytes, defaultLengthBytes,
                new SecureRandom().nextLong(1, Long.MAX_VALUE));
            isOpen = true;
            return folder;
        }
        catch (final IOException ex)
        {
            throw unusable(path, ex);
        }
        finally
        {
            if (!isOpen)
            {
                closeQuietly(lock);
            }
        }
    }

    /** A folder that nobody else has, in files of any kind; the path is for messages only. */
    static MemoryFolder open(
        final Path path,
        final FolderFiles files,
        final FileHold lock,
        final long regionLengthBytes,
        final long defaultLengthBytes,
        final long newMemoryId)
    {
        if (!files.exists(PROPERTIES))
        {
            write(path, files, newMemoryId, 0 == regionLengthBytes ? defaultLengthBytes : regionLengthBytes, 0, 0, 0,
                FailureDomain.NONE);
        }

        final MemoryFolder folder = new MemoryFolder(path, files, lock, read(path, files));

        if (0 != regionLengthBytes)
        {
            folder.askFor(regionLengthBytes);
        }

        return folder;
    }

    /** Memory can grow when it is restored, and its size is asked for again where it is there. */
    private void askFor(final long lengthBytes)
    {
        if (lengthBytes < regionLengthBytes || lengthBytes > regionLengthBytes && !hasCheckpoint() &&
            groupCheckpoints().isEmpty())
        {
            throw new MemoryNodeException("memory node of " + path + " has " + regionLengthBytes +
                " bytes, asked for are " + lengthBytes + ": its memory cannot change its size, only grow when a " +
                "checkpoint is restored", null);
        }

        regionLengthBytes = lengthBytes;
    }

    /**
     * Refuses to go on in another cluster; before the memory is looked at, which another cluster's tables do not fit.
     *
     * @param joinedClusterId of the cluster that the node is about to join.
     * @throws MemoryNodeException when the folder belongs to another one; it is closed then, and as it was.
     */
    public void requireCluster(final long joinedClusterId)
    {
        if (0 != clusterId && joinedClusterId != clusterId)
        {
            close();
            throw new MemoryNodeException("data folder " + path + " belongs to cluster " + Long.toHexString(clusterId) +
                ", and the one to join is cluster " + Long.toHexString(joinedClusterId) +
                ": join the folder's own cluster, or use the folder that was here, or an empty one", null);
        }
    }

    /** Writes down the length that was asked for, when memory of that length holds what is restored. */
    void keepLength()
    {
        if (regionLengthBytes != writtenLengthBytes)
        {
            write(path, files, memoryId, regionLengthBytes, nodeId, clusterId, incarnation, failureDomain);
            writtenLengthBytes = regionLengthBytes;
        }
    }

    /** @return label of the node's failure domain, as it was given last; NONE for a domain of its own. */
    public String failureDomain()
    {
        return failureDomain;
    }

    /** Writes down in which failure domain the node is from now on; a later process of it is there, too. */
    public void failureDomain(final String label)
    {
        if (!label.equals(failureDomain))
        {
            write(path, files, memoryId, writtenLengthBytes, nodeId, clusterId, incarnation, label);
            failureDomain = label;
        }
    }

    /**
     * @param path of a folder, which another process may have open.
     * @return name of its memory on the fabric; null when the folder is none of a memory node.
     */
    public static String memoryName(final Path path)
    {
        return Files.exists(path.resolve(PROPERTIES)) ?
            memoryName(Long.parseUnsignedLong(read(path).getProperty("memory_id"), HEX)) : null;
    }

    /** @return whether a folder with this file in it is one of a memory node. */
    public static boolean saysWhoItIs(final Path file)
    {
        return file.endsWith(PROPERTIES);
    }

    private static String memoryName(final long memoryId)
    {
        return "memory-" + Long.toHexString(memoryId);
    }

    /** @return name of its memory on the fabric. */
    String memoryName()
    {
        return memoryName(memoryId);
    }

    /** @return where it is. */
    public Path path()
    {
        return path;
    }

    long memoryId()
    {
        return memoryId;
    }

    /** @return length of the node's memory. */
    public long regionLengthBytes()
    {
        return regionLengthBytes;
    }

    /**
     * @param lengthBytes of a node's memory.
     * @return how long it may take at most to check it, to restore it, or to make a checkpoint of it.
     */
    public static long walkTimeoutNs(final long lengthBytes)
    {
        return TimeUnit.SECONDS.toNanos(Math.ceilDiv(lengthBytes, WALKED_BYTES_PER_S));
    }

    /**
     * @param path of a folder, which another process may have open.
     * @return length of the node's memory; 0 when the folder is none of a memory node.
     */
    public static long regionLengthBytes(final Path path)
    {
        return Files.exists(path.resolve(PROPERTIES)) ?
            Long.parseLong(read(path).getProperty("region_length_bytes")) : 0;
    }

    /** @return its id, 0 as long as it was never a member. */
    int nodeId()
    {
        return nodeId;
    }

    /** @return the cluster that it belongs to, 0 as long as it was never a member. */
    long clusterId()
    {
        return clusterId;
    }

    /** @return incarnation that the node had last; memory of an older one is not the node's any more. */
    int incarnation()
    {
        return incarnation;
    }

    /** @return where its checkpoints are. */
    Path checkpoint()
    {
        return path.resolve(CHECKPOINT);
    }

    /** @return where its checkpoints of the tables of a group are. */
    Path checkpoint(final int group)
    {
        return path.resolve(FolderFiles.GROUP_CHECKPOINT + group);
    }

    /** @return its checkpoints, closed by the caller. */
    CheckpointStore openCheckpoint()
    {
        return files.openCheckpoint(CHECKPOINT);
    }

    /** @return its checkpoints of the tables of a group, made when absent; closed by the caller. */
    CheckpointStore openCheckpoint(final int group)
    {
        return files.openCheckpoint(FolderFiles.GROUP_CHECKPOINT + group);
    }

    /** @return whether a checkpoint of the tables of a group was ever begun. */
    boolean hasCheckpoint(final int group)
    {
        return files.exists(FolderFiles.GROUP_CHECKPOINT + group);
    }

    /** @return groups of which a checkpoint was ever begun here; a new set, ascending. */
    Set<Integer> groupCheckpoints()
    {
        try
        {
            return files.groupCheckpoints();
        }
        catch (final IOException ex)
        {
            throw unusable(path, ex);
        }
    }

    /** Removes the checkpoint of the tables of a group, which nobody has open. */
    void removeCheckpoint(final int group)
    {
        try
        {
            files.removeCheckpoint(FolderFiles.GROUP_CHECKPOINT + group);
        }
        catch (final IOException ex)
        {
            throw unusable(path, ex);
        }
    }

    /**
     * @return whether a checkpoint of the node was ever completed. The database itself is asked: the report is written
     *     behind it, and a node may die in between.
     */
    boolean hasCheckpoint()
    {
        if (!files.exists(CHECKPOINT))
        {
            return false;
        }

        try (CheckpointStore store = openCheckpoint())
        {
            return !store.state().isEmpty();
        }
    }

    /** @return whether somebody asks for a checkpoint; asked once. */
    boolean takeCheckpointRequest()
    {
        try
        {
            return files.delete(REQUEST);
        }
        catch (final IOException ex)
        {
            throw unusable(path, ex);
        }
    }

    /** Says how the last complete checkpoint went, or why one was not made. */
    void reportCheckpoint(final Properties report)
    {
        write(path, files, REPORT, report);
    }

    /** What {@link #reportCheckpoint} said last. */
    Properties lastCheckpoint()
    {
        return lastCheckpoint(path, files);
    }

    /** Says which groups were restored; on disk when this returns. */
    void keepRestoredGroups(final Properties groups)
    {
        write(path, files, RESTORED, groups);
    }

    /** What {@link #keepRestoredGroups} said last. */
    Properties restoredGroups()
    {
        return properties(path, files, RESTORED);
    }

    /**
     * Asks the node of a folder for a checkpoint; {@link #lastCheckpoint} says when it is done.
     *
     * @param path of the folder.
     */
    public static void requestCheckpoint(final Path path)
    {
        try
        {
            Files.write(path.resolve(REQUEST), new byte[0]);
        }
        catch (final IOException ex)
        {
            throw unusable(path, ex);
        }
    }

    /**
     * @param path of a folder.
     * @return {@code started_ms}, {@code finished_ms} (since 1970), {@code records}, {@code changed_records},
     *     {@code written_bytes} of the last checkpoint that was complete, {@code groups_left_out} of it, whose tables
     *     are in no checkpoint of that time, {@code failed_ms} and {@code failure} of an attempt since; empty when
     *     there was none.
     */
    public static Properties lastCheckpoint(final Path path)
    {
        return lastCheckpoint(path, new DiskFolderFiles(path));
    }

    private static Properties lastCheckpoint(final Path path, final FolderFiles files)
    {
        return properties(path, files, REPORT);
    }

    private static Properties properties(final Path path, final FolderFiles files, final String name)
    {
        final Properties report = new Properties();

        if (files.exists(name))
        {
            try
            {
                report.load(new ByteArrayInputStream(files.read(name)));
            }
            catch (final IOException | IllegalArgumentException ex)
            {
                throw unusable(path, ex);
            }
        }

        return report;
    }

    /** Writes down who the node has become; on disk when this returns. */
    void joined(final int newNodeId, final long newClusterId, final int newIncarnation)
    {
        if (newNodeId != nodeId || newClusterId != clusterId || newIncarnation != incarnation)
        {
            write(path, files, memoryId, regionLengthBytes, newNodeId, newClusterId, newIncarnation, failureDomain);
            nodeId = newNodeId;
            clusterId = newClusterId;
            incarnation = newIncarnation;
        }
    }

    private static void write(
        final Path path,
        final FolderFiles files,
        final long memoryId,
        final long regionLengthBytes,
        final int nodeId,
        final long clusterId,
        final int incarnation,
        final String failureDomain)
    {
        final Properties properties = new Properties();
        properties.setProperty("format_version", Integer.toString(FORMAT_VERSION));
        properties.setProperty("memory_id", Long.toHexString(memoryId));
        properties.setProperty("region_length_bytes", Long.toString(regionLengthBytes));
        properties.setProperty("node_id", Integer.toString(nodeId));
        properties.setProperty("cluster_id", Long.toHexString(clusterId));
        properties.setProperty("incarnation", Integer.toString(incarnation));
        if (!FailureDomain.NONE.equals(failureDomain))
        {
            properties.setProperty("failure_domain", failureDomain);
        }
        write(path, files, PROPERTIES, properties);
    }

    /** All of it or nothing, and on disk. */
    private static void write(
        final Path path, final FolderFiles files, final String name, final Properties properties)
    {
        try
        {
            final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            properties.store(bytes, "memory node: do not change, do not copy to a second node");
            files.write(name + UNFINISHED, bytes.toByteArray());
            files.rename(name + UNFINISHED, name);
            files.syncNames();
        }
        catch (final IOException ex)
        {
            throw unusable(path, ex);
        }
    }

    private static Properties read(final Path path)
    {
        return read(path, new DiskFolderFiles(path));
    }

    private static Properties read(final Path path, final FolderFiles files)
    {
        final Properties properties = new Properties();

        try
        {
            properties.load(new ByteArrayInputStream(files.read(PROPERTIES)));
        }
        catch (final IOException | IllegalArgumentException ex)
        {
            throw unusable(path, ex);
        }

        final String version = properties.getProperty("format_version", "none");

        if (!Integer.toString(FORMAT_VERSION).equals(version))
        {
            throw new MemoryNodeException("data folder " + path + " has format version " + version +
                ", this build knows version " + FORMAT_VERSION + ": use the build that wrote it", null);
        }

        for (final String name : List.of("memory_id", "region_length_bytes", "node_id", "cluster_id"))
        {
            if (!properties.getProperty(name, "").matches("[0-9a-f]{1,19}"))
            {
                throw new MemoryNodeException("data folder " + path + " is damaged: " + PROPERTIES + " has no " + name +
                    "; restore it from a copy, or start the node with an empty folder", null);
            }
        }

        return properties;
    }

    private static void refuseForeign(final Path path)
    {
        if (Files.exists(path) && !Files.isDirectory(path))
        {
            throw new MemoryNodeException("data folder " + path + " is not a folder: use another path", null);
        }

        if (!Files.isDirectory(path))
        {
            return;
        }

        try (Stream<Path> entries = Files.list(path))
        {
            final List<String> foreign =
                entries.map((e) -> e.getFileName().toString()).filter((n) -> !isOurs(n)).sorted().toList();

            if (!foreign.isEmpty())
            {
                throw new MemoryNodeException("data folder " + path + " holds something else ('" + foreign.getFirst() +
                    "'): use an empty folder or one made by a memory node", null);
            }
        }
        catch (final IOException | UncheckedIOException ex)
        {
            throw unusable(path, ex);
        }
    }

    private static boolean isOurs(final String name)
    {
        return OURS.contains(name) || name.startsWith(FolderFiles.GROUP_CHECKPOINT);
    }

    private static MemoryNodeException unusable(final Path path, final Exception ex)
    {
        return new MemoryNodeException("data folder " + path + " cannot be read and written (" + ex +
            "): give this user the rights, or use another folder", ex);
    }

    private static void closeQuietly(final FileHold lock)
    {
        try
        {
            if (null != lock)
            {
                lock.close();
            }
        }
        catch (final IOException ignore)
        {
            // Nothing was buffered.
        }
    }

    /** Gives the folder up; idempotent. */
    @Override
    public void close()
    {
        closeQuietly(lock);
    }
}
