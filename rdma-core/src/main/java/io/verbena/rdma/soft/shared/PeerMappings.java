package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The region files of one other process that are mapped here, each once, for the region and all windows on it. Guarded
 * by its {@code SoftPeer}.
 */
public final class PeerMappings
{
    private final FabricDirectory files;
    private final int ownerId;
    private final Map<Long, Mapping> mappings = new HashMap<>();
    private final List<SharedMemoryFile> unused = new ArrayList<>();

    /** One mapping, and how many keys lead to it. */
    public static final class Mapping
    {
        private final long fileNumber;
        private final SharedMemoryFile file;
        private int users;

        private Mapping(final long fileNumber, final SharedMemoryFile file)
        {
            this.fileNumber = fileNumber;
            this.file = file;
        }

        public MemorySegment segment()
        {
            return file.segment();
        }
    }

    public PeerMappings(final FabricDirectory files, final int ownerId)
    {
        this.files = files;
        this.ownerId = ownerId;
    }

    /** The owner's own mapping when that is this process, else null. */
    public SharedMemoryFile findOwn(final long fileNumber)
    {
        return SharedMemoryFile.findOwn(path(fileNumber));
    }

    /** A file's mapping, for one more user; null when its owner is dead and was cleaned up. */
    public Mapping use(final long fileNumber)
    {
        Mapping mapping = mappings.get(fileNumber);
        if (mapping == null)
        {
            final SharedMemoryFile file = map(path(fileNumber));
            if (file == null)
            {
                return null;
            }
            mapping = new Mapping(fileNumber, file);
            mappings.put(fileNumber, mapping);
        }
        mapping.users++;
        return mapping;
    }

    /** One user less; null is nobody's. */
    public void unuse(final Mapping mapping)
    {
        if (mapping != null && --mapping.users == 0)
        {
            mappings.remove(mapping.fileNumber);
            unused.add(mapping.file);
        }
    }

    /** What nobody uses any more, to be closed when no requester can be using it still. */
    public List<SharedMemoryFile> takeUnused()
    {
        final List<SharedMemoryFile> taken = new ArrayList<>(unused);
        unused.clear();
        return taken;
    }

    /** With no requester about. */
    public void close()
    {
        mappings.values().forEach(mapping -> mapping.file.close());
        mappings.clear();
        unused.forEach(SharedMemoryFile::close);
        unused.clear();
    }

    private Path path(final long fileNumber)
    {
        return files.regionFile(ownerId, fileNumber);
    }

    private static SharedMemoryFile map(final Path path)
    {
        try
        {
            return SharedMemoryFile.ofPeer(path);
        }
        catch (final NoSuchFileException ex)
        {
            return null;
        }
        catch (final IOException ex)
        {
            throw new RdmaException("cannot map a peer's region: " + path + ": " + ex, ex);
        }
    }
}
