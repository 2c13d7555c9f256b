package io.verbena.protocol.control;

import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.List;

/** Remembers what it was asked, and has 10 chunks. */
final class RecordingMemoryNodeService implements MemoryNodeService
{
    private static final int CHUNKS = 10;
    private static final long MEMORY_BYTES = 1L << 40;

    final List<String> asked = new ArrayList<>();

    @Override
    public ChunkLease leaseChunks(
        final PeerIdentity caller,
        final long requestId,
        final ChunkPurpose purpose,
        final int chunkCount,
        final boolean contiguous)
    {
        asked.add("lease " + requestId + " by " + caller + ' ' + purpose + ' ' + chunkCount + ' ' + contiguous);
        if (chunkCount > CHUNKS)
        {
            throw new ControlException(ControlStatus.EXHAUSTED, chunkCount + " chunks wanted, " + CHUNKS + " free");
        }
        return new ChunkLease(65_536, 9, List.of(new ChunkRun(0, chunkCount)));
    }

    @Override
    public List<ChunkRun> claimChunks(final PeerIdentity caller, final List<ChunkRun> runs)
    {
        asked.add("claim by " + caller + ' ' + runs);
        return runs.subList(0, 1);
    }

    @Override
    public void adoptChunks(final PeerIdentity caller, final List<ChunkRun> runs)
    {
        asked.add("adopt by " + caller + ' ' + runs);
    }

    @Override
    public void returnChunks(final PeerIdentity caller, final List<ChunkRun> runs, final long newestLease)
    {
        asked.add("return by " + caller + ' ' + runs + " of leases up to " + newestLease);
    }

    @Override
    public MirrorAnswer mirrorChunk(
        final PeerIdentity caller,
        final MirrorAction action,
        final MirroredChunk chunk,
        final ChunkPurpose purpose,
        final long requestId)
    {
        asked.add(action + " " + chunk + " by " + caller + ' ' + purpose + ' ' + requestId);
        return new MirrorAnswer(MirrorAnswer.Outcome.TAKEN, 5, 1L << 40);
    }

    @Override
    public void fence(final PeerIdentity caller, final PeerIdentity identity)
    {
        asked.add("fence by " + caller + " of " + identity);
    }

    @Override
    public void closeView(final PeerIdentity caller, final View view)
    {
        asked.add("close by " + caller + " of " + view);
    }

    @Override
    public void fillView(final PeerIdentity caller, final View view)
    {
        asked.add("fill by " + caller + " in " + view);
    }

    @Override
    public List<LeftView> nameViews(final PeerIdentity caller, final List<LeftView> left)
    {
        asked.add("left by " + caller + ": " + left);
        return left.subList(0, 1);
    }

    @Override
    public RemoteRegion reconcilerKey(final PeerIdentity caller, final ViewAttempt attempt)
    {
        asked.add("key for " + caller + " and " + attempt);
        return new RemoteRegion(1L << 40, 1L << 33, 77);
    }

    @Override
    public void releaseLeases(final PeerIdentity caller, final ViewAttempt attempt)
    {
        asked.add("release by " + caller + " for " + attempt);
    }

    @Override
    public void enterLease(final PeerIdentity caller, final ViewAttempt attempt, final EnteredLease lease)
    {
        asked.add("enter by " + caller + " for " + attempt + ": " + lease);
    }

    /** The checksum of a page is its number in the memory, and the complement of that. */
    @Override
    public void pageChecksums(
        final PeerIdentity caller, final long offset, final int lengthBytes, final long seed, final long[] checksums)
    {
        asked.add("checksums by " + caller + " of " + lengthBytes + " bytes at " + offset + " with " + seed);
        if (offset > MEMORY_BYTES - lengthBytes)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "not inside " + MEMORY_BYTES + " bytes");
        }
        for (int i = 0; i < checksums.length; i++)
        {
            final long page = offset / 4_096 + i / 2;
            checksums[i] = i % 2 == 0 ? page : ~page;
        }
    }

    @Override
    public MemoryNodeStat stat()
    {
        return new MemoryNodeStat(1, 2, 3, 4, 5, 6, 7);
    }
}
