package io.verbena.protocol.control;

import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.PageChecksumsDescriptor;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

/**
 * What a memory node answers; {@link MemoryNodeDispatcher} decodes and encodes. Called by the node's thread; answers at
 * once. Says no by {@link ControlException}; any other exception reaches the caller as a refusal.
 */
public interface MemoryNodeService
{
    /**
     * Leases chunks to the caller.
     *
     * @param caller     the owner.
     * @param requestId  the same request of the same caller gets the same answer, however often it comes; 0 for a
     *                   request that will not be repeated.
     * @param purpose    what for.
     * @param chunkCount 1 or more.
     * @param contiguous whether they must be neighbours.
     * @return all of them.
     */
    ChunkLease leaseChunks(
        PeerIdentity caller, long requestId, ChunkPurpose purpose, int chunkCount, boolean contiguous);

    /**
     * Closes chunks for reclamation by the caller, as many of them as can be: orphans that nobody else claims, and the
     * caller's own. From then on nobody may take a block of them; those who have some let go of them.
     *
     * @param caller the reaper.
     * @param runs   what it asks for.
     * @return what it got, maybe nothing.
     */
    List<ChunkRun> claimChunks(PeerIdentity caller, List<ChunkRun> runs);

    /**
     * Gives claimed chunks to their reaper, open to all again. Repeated without harm.
     *
     * @param caller the reaper, who knows what is free in them.
     * @param runs   what.
     */
    void adoptChunks(PeerIdentity caller, List<ChunkRun> runs);

    /**
     * Takes chunks back.
     *
     * @param caller who returns them: the owner for blocks, the reaper for claimed ones, anyone for an index.
     * @param runs   what.
     * @param newestLease of the leases that the caller means, so that the call can be made again: chunks that are free,
     *     or were leased later, are left as they are. 0 when it is not made again.
     */
    void returnChunks(PeerIdentity caller, List<ChunkRun> runs, long newestLease);

    /**
     * Does one step of a lease that all members of a group record. Repeated without harm.
     *
     * @param caller    who asks.
     * @param action    what to do.
     * @param chunk     whose lease it is about.
     * @param purpose   of the lease, for RECORD.
     * @param requestId of the lease, for RECORD: what is recorded already for it counts as done; for RETURN, if not 0:
     *                  the chunk stays another request's, and that counts as done.
     * @return what came of it.
     */
    MirrorAnswer mirrorChunk(
        PeerIdentity caller, MirrorAction action, MirroredChunk chunk, ChunkPurpose purpose, long requestId);

    /**
     * Fences one life of a node: before it returns, that node's queue pairs are closed.
     *
     * @param caller   who asks.
     * @param identity whom.
     */
    void fence(PeerIdentity caller, PeerIdentity identity);

    /**
     * Closes a view of a group, or an earlier attempt to end it: before it returns, nothing lands any more with a key
     * that was used under it. Repeated without harm. Refused as UNAVAILABLE when a later one is closed here, or a
     * requester does not leave the memory: to be asked again.
     *
     * @param caller who asks.
     * @param view   closing.
     */
    void closeView(PeerIdentity caller, View view);

    /**
     * Says who fills this memory node while a view of a group that it is to come into is active: that compute node may
     * enter leases, and release none. Repeated without harm. Refused as UNAVAILABLE when a later record of the group is
     * known here.
     *
     * @param caller who asks.
     * @param view   filling.
     */
    void fillView(PeerIdentity caller, View view);

    /**
     * A node names the newest view of each group that it has left, before it gets a key to the region.
     *
     * @param caller who.
     * @param left   what it has left.
     * @return views that are closed here and that it has not left: empty, it gets a key when it connects again.
     */
    List<LeftView> nameViews(PeerIdentity caller, List<LeftView> left);

    /**
     * Gives the key with which one compute node makes the copies of a group equal; refused as UNAVAILABLE to others,
     * and while the view is not closed here.
     *
     * @param caller  who asks.
     * @param attempt for which it was named.
     * @return the region, under a key for this attempt alone.
     */
    RemoteRegion reconcilerKey(PeerIdentity caller, ViewAttempt attempt);

    /**
     * Frees each chunk that a lease of a group has here, unless {@link #enterLease} was called for it in this attempt:
     * this memory node comes into the group, and what stands there is from an earlier membership or attempt. Called
     * when all leases are entered, so that no chunk of the group is free in between. Refused as UNAVAILABLE to others
     * than {@link #reconcilerKey} is for, and when the next view or a later attempt has begun here. Repeated without
     * harm while none has.
     *
     * @param caller  who asks.
     * @param attempt for which it was named.
     */
    void releaseLeases(PeerIdentity caller, ViewAttempt attempt);

    /**
     * Records a lease that a group has, which this memory node comes into, for whoever has it; another lease of that
     * group in the chunk is replaced in one step. Refused as UNAVAILABLE like {@link #releaseLeases}, but not to who
     * {@link #fillView fills} it, and as EXHAUSTED when something else stands in the chunk. Repeated without harm.
     *
     * @param caller  who asks.
     * @param attempt for which it was named.
     * @param lease   of the attempt's group.
     */
    void enterLease(PeerIdentity caller, ViewAttempt attempt, EnteredLease lease);

    /**
     * Calculates checksums of pages of the memory as it is now: XXH3 of 128 bits, low half and high half. What is
     * changed meanwhile may count or not. Refused as INVALID_REQUEST when the range is not inside the memory.
     *
     * @param caller      who asks.
     * @param offset      of the first page, in bytes from where the memory begins: a multiple of {@link
     *                    PageChecksumsDescriptor#PAGE_BYTES}.
     * @param lengthBytes 1 to {@link PageChecksumsDescriptor#MAX_LENGTH_BYTES}; the last page may be short.
     * @param seed        of the function.
     * @param checksums   is filled: two words for each page, from the first one on; of two words for each page of the
     *                    longest range. The caller's.
     */
    void pageChecksums(PeerIdentity caller, long offset, int lengthBytes, long seed, long[] checksums);

    /** @return the state of this memory node. */
    MemoryNodeStat stat();
}
