package io.verbena.table.allocation;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.access.BatchCookies;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import java.util.ArrayList;
import java.util.List;
import org.agrona.MutableDirectBuffer;

/**
 * Keeps the view of a memory node's chunks: one READ of the view version, and of the headers when it has changed.
 *
 * <p>What others rely on: a node says that it passed epoch p only when a look that began under epoch p or later is done
 * and the allocator has let go of everything in chunks that were closed then ({@link #epoch}). Owner thread only;
 * closed by its creator, after the port.
 */
public final class ChunkWatch implements AutoCloseable
{
    /** Cookie of its batches. */
    public static final int COOKIE = BatchCookies.CHUNK_WATCH;

    private enum Step
    {
        IDLE, VERSION, HEADERS
    }

    private final EpochTracker epochs;
    /** Of the memory node, and of groups that it is a member of. */
    private final List<BlockAllocator> allocators = new ArrayList<>();
    private final RegionAccess access;
    private OneSidedPort port;
    private Step step = Step.IDLE;
    private Superblock superblock;
    private ChunkView view;
    private ChunkView coming;
    private long version = -1;
    private long comingVersion;
    private long epoch;
    private long comingEpoch;
    /** How often a look was asked for, and how many of these the newest finished one has answered. */
    private long asked;
    private long answered;
    private long comingAnswered;
    private boolean allWhole;
    private long restored;
    private int memoryNodeIncarnation;
    private boolean failed;
    private String failure = "";

    /**
     * @param epochs           of the engine that works on the memory node watched.
     * @param allocator        of the engine there, which is notified.
     * @param protectionDomain that the ports' queue pairs belong to.
     */
    public ChunkWatch(
        final EpochTracker epochs,
        final BlockAllocator allocator,
        final ProtectionDomain protectionDomain)
    {
        this.epochs = epochs;
        allocators.add(allocator);
        access = new RegionAccess(protectionDomain, COOKIE);
    }

    /**
     * Notifies the allocator of a group, too, whose chunks are closed here when they are at all members; as of a look
     * that begins from now on.
     */
    public void add(final BlockAllocator ofGroup)
    {
        ofGroup.onLook();
        allocators.add(ofGroup);
    }

    /** Notifies the allocator of a group no more. */
    public void remove(final BlockAllocator ofGroup)
    {
        allocators.remove(ofGroup);
    }

    /** Begins anew on a new connection: nothing seen before counts. */
    public void connect(final OneSidedPort newPort)
    {
        port = newPort;
        access.cancel();
        step = Step.IDLE;
        failed = false;
        version = -1;
        epoch = 0;
        restored = 0;
        memoryNodeIncarnation = 0;
    }

    /**
     * @param incarnation of this node.
     * @return whether the memory was restored from a checkpoint since this node was registered, as the latest look
     *     shows: nothing that is known of it holds any more, and nothing may be done there before the node is
     *     registered anew.
     */
    public boolean isRestoredSince(final int incarnation)
    {
        return restored > incarnation;
    }

    /** @return incarnation of the memory node, as the latest look shows; 0 before the first on this connection. */
    public int memoryNodeIncarnation()
    {
        return memoryNodeIncarnation;
    }

    /** @return whether at least one look on this connection is done. */
    public boolean isCurrent()
    {
        return epoch > 0;
    }

    /** @return whether the memory cannot be read as a memory node's; {@link #failure()} says why. */
    public boolean hasFailed()
    {
        return failed;
    }

    /** @return why, one line. */
    public String failure()
    {
        return failure;
    }

    /** @return epoch that was known when the newest finished look began; 0 before the first. */
    public long epoch()
    {
        return epoch;
    }

    /** @return the chunks as seen; null before the first look. Replaced by each look that finds changes. */
    public ChunkView view()
    {
        return view;
    }

    /** @return version of what was seen. */
    public long version()
    {
        return version;
    }

    /** Asks for a look whatever the epoch. @return what {@link #hasLooked} takes. */
    public long lookAgain()
    {
        return ++asked;
    }

    /** @return whether a look is done that began after it was asked for. */
    public boolean hasLooked(final long since)
    {
        return answered >= since;
    }

    /** @return whether no look is under way. */
    public boolean isIdle()
    {
        return step == Step.IDLE;
    }

    /** @return whether a look is under way or due. */
    public boolean isBusy()
    {
        return step != Step.IDLE || epochs.epoch() > epoch || answered < asked;
    }

    /** @return what it posts with, for figures. */
    public RegionAccess access()
    {
        return access;
    }

    /** Looks when the epoch has changed, or when it was asked to. @return work done. */
    public int poll()
    {
        if (failed || access.isBusy())
        {
            return access.poll();
        }
        return switch (step)
        {
            case IDLE -> pollIdle();
            case VERSION -> pollVersion();
            case HEADERS -> pollHeaders();
        };
    }

    private int pollIdle()
    {
        if (epochs.epoch() == epoch && answered == asked || !port.isReady())
        {
            return 0;
        }
        allocators.forEach(BlockAllocator::onLook);
        comingEpoch = epochs.epoch();
        comingAnswered = asked;
        superblock = null;
        step = Step.VERSION;
        access.read(port, 0, SuperblockDescriptor.READ_BYTES, this::onSuperblock);
        return 1;
    }

    private void onSuperblock(final MutableDirectBuffer buffer, final int lengthBytes, final long offset)
    {
        try
        {
            comingVersion = SuperblockDescriptor.viewVersion(access.segment());
            restored = SuperblockDescriptor.restored(access.segment());
            superblock = SuperblockDescriptor.read(access.segment());
            memoryNodeIncarnation = superblock.incarnation();
        }
        catch (final FormatException ex)
        {
            failure = ex.getMessage();
            failed = true;
        }
    }

    private int pollVersion()
    {
        if (access.hasFailed() || superblock == null)
        {
            step = Step.IDLE;
            return 1;
        }
        if (comingVersion == version)
        {
            finish();
            return 1;
        }
        coming = new ChunkView(superblock);
        allWhole = true;
        step = Step.HEADERS;
        access.read(
            port,
            superblock.chunkHeadersOffset(),
            (long)superblock.chunkCount() * ChunkDescriptor.HEADER_BYTES,
            this::onHeaders);
        return 1;
    }

    private void onHeaders(final MutableDirectBuffer buffer, final int lengthBytes, final long offset)
    {
        final int first = (int)((offset - superblock.chunkHeadersOffset()) / ChunkDescriptor.HEADER_BYTES);
        for (int i = 0; i < lengthBytes / ChunkDescriptor.HEADER_BYTES; i++)
        {
            allWhole &= coming.read(first + i, buffer, i * ChunkDescriptor.HEADER_BYTES);
        }
    }

    private int pollHeaders()
    {
        if (access.hasFailed() || !allWhole)
        {
            // Caught halfway: once more, from the version on.
            step = Step.IDLE;
            return 1;
        }
        version = comingVersion;
        view = coming;
        letGo();
        finish();
        return 1;
    }

    /** Nothing of a chunk that is closed by now is held on to. */
    private void letGo()
    {
        allocators.forEach((allocator) -> allocator.onView(view));
    }

    private void finish()
    {
        epoch = comingEpoch;
        answered = comingAnswered;
        step = Step.IDLE;
    }

    @Override
    public void close()
    {
        access.close();
    }
}
