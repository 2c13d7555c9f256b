package io.verbena.memory;

import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

import static io.verbena.table.format.ChunkDescriptor.STATE_BLOCKS;
import static io.verbena.table.format.ChunkDescriptor.STATE_FREE;
import static io.verbena.table.format.ChunkDescriptor.STATE_INDEX;
import static io.verbena.table.format.ChunkDescriptor.STATE_ORPHAN;
import static io.verbena.table.format.ChunkDescriptor.STATE_QUARANTINED;

/**
 * Who has which chunk. Lives in the node's own memory, out of clients' reach; each change is shown to them by the chunk
 * headers before the call that made it returns. One thread.
 *
 * <p>What is reclaimed, exactly: a chunk is free again when it is returned, by its owner if it was leased for blocks,
 * by anybody if it was leased for an index. The one who returns it answers for it that nothing in it can be reached
 * any more. Chunks of an owner that left or was fenced are <em>orphans</em>: published blocks in them live on, and
 * which ones is not known here. A node that claims orphans finds that out and returns or adopts them; it may do the
 * same with chunks of its own.
 */
final class ChunkTable
{
    private static final int STATES = STATE_QUARANTINED + 1;
    /** More than leases of one chunk, so that the number of a lease that cannot be read any more is not given again. */
    private static final long UNREAD_LEASES = 1L << 40;
    private final ChunkLayout layout;
    private final byte[] states;
    private final PeerIdentity[] owners;
    private final PeerIdentity[] reapers;
    private final long[] leaseNumbers;
    private final ChunkHeaders headers;
    private final LeaseAnswers answers = new LeaseAnswers();
    private final int[] counts = new int[STATES];
    /** Headers that could not be read, as they were found. */
    private final Map<Integer, byte[]> damaged = new TreeMap<>();
    private final long[] requestIds;
    private final FreeChunks free;
    private final LeaseNames leaseNames;
    private long newestLease;
    private int hint;

    /**
     * @param chunksOffset     where the first chunk begins in the region.
     * @param chunkLengthBytes of each.
     * @param chunkCount       1 or more, all free.
     * @param headers          show it to clients.
     */
    ChunkTable(
        final long chunksOffset, final int chunkLengthBytes, final int chunkCount, final ChunkHeaders headers)
    {
        this(chunksOffset, chunkLengthBytes, headers, chunkCount);
        counts[STATE_FREE] = chunkCount;
        for (int i = 0; i < chunkCount; i++)
        {
            set(i, STATE_FREE, null, null);
        }
        headers.publish();
    }

    private ChunkTable(
        final long chunksOffset, final int chunkLengthBytes, final ChunkHeaders headers, final int chunkCount)
    {
        layout = new ChunkLayout(chunksOffset, chunkLengthBytes, chunkCount);
        states = new byte[chunkCount];
        owners = new PeerIdentity[chunkCount];
        reapers = new PeerIdentity[chunkCount];
        leaseNumbers = new long[chunkCount];
        requestIds = new long[chunkCount];
        free = new FreeChunks(states);
        leaseNames = new LeaseNames(chunkCount);
        this.headers = headers;
    }

    /**
     * Takes the table up where the headers say that the process before left it. They say by which requests chunks were
     * had, too: one that comes again gets the same ones.
     *
     * @param chunksOffset     where the first chunk begins in the region.
     * @param chunkLengthBytes of each.
     * @param chunkCount       1 or more.
     * @param headers          of the process before.
     * @param acceptsDamage    whether chunks with damaged headers are quarantined.
     * @return the table.
     * @throws io.verbena.table.format.FormatException when a header is damaged, and that is not accepted.
     */
    static ChunkTable restore(
        final long chunksOffset, final int chunkLengthBytes, final int chunkCount, final ChunkHeaders headers,
        final boolean acceptsDamage)
    {
        final ChunkTable table = new ChunkTable(chunksOffset, chunkLengthBytes, headers, chunkCount);
        headers.redo();
        for (int i = 0; i < chunkCount; i++)
        {
            if (acceptsDamage && headers.isDamaged(i))
            {
                table.damaged.put(i, headers.bytes(i));
                table.states[i] = STATE_QUARANTINED;
                table.counts[STATE_QUARANTINED]++;
                continue;
            }

            final UnsafeBuffer header = headers.read(i);
            table.states[i] = (byte)ChunkDescriptor.state(header, 0);
            table.owners[i] = ChunkHeaders.owner(header);
            table.reapers[i] = ChunkHeaders.reaper(header);
            table.leaseNumbers[i] = ChunkDescriptor.leaseNumber(header, 0);
            table.requestIds[i] = ChunkDescriptor.requestId(header, 0);
            table.leaseNames.restore(i, header);
            table.newestLease = Math.max(table.newestLease, table.leaseNumbers[i]);
            table.counts[table.states[i]]++;
        }

        table.recallAnswers();
        table.quarantineDamaged();
        headers.publish();
        return table;
    }

    private void quarantineDamaged()
    {
        newestLease += damaged.isEmpty() ? 0 : UNREAD_LEASES;
        for (final int index : damaged.keySet())
        {
            leaseNumbers[index] = newestLease;
            leaseNames.unread(index);
            set(index, STATE_QUARANTINED, null, null);
        }
    }

    /**
     * Ends what a start with damaged headers has begun: a quarantined chunk in which a table has a subtable is that
     * table's index, so that it goes back when the table is dropped.
     *
     * @param indexes quarantined chunks with a subtable.
     */
    void acceptDamaged(final BitSet indexes)
    {
        indexes.stream().forEach((index) -> set(index, STATE_INDEX, null, null));
        damaged.clear();
        headers.publish();
    }

    /** Leaves damaged headers as they were found: the node does not start. */
    void refuseDamaged()
    {
        damaged.forEach(headers::putBack);
        damaged.clear();
    }

    /** @return headers that were damaged when the node started, and were accepted or are not judged yet. */
    int damagedCount()
    {
        return damaged.size();
    }

    /** @return chunks that nobody gets because their headers were damaged. */
    int quarantinedCount()
    {
        return counts[STATE_QUARANTINED];
    }

    private void recallAnswers()
    {
        final Map<Long, List<Integer>> byLease = new TreeMap<>();

        for (int i = 0; i < states.length; i++)
        {
            final boolean isLeased = STATE_BLOCKS == states[i] || STATE_INDEX == states[i];
            if (isLeased && 0 != requestIds[i] && null != owners[i] && !leaseNames.isMirrored(i))
            {
                byLease.computeIfAbsent(leaseNumbers[i], (number) -> new ArrayList<>()).add(i);
            }
        }

        byLease.values().forEach((chunks) -> answers.put(
            owners[chunks.getFirst()], requestIds[chunks.getFirst()],
            layout.runs(chunks.stream().mapToInt(Integer::intValue).toArray())));
    }

    /**
     * Leases chunks, all or none. A request that comes again, because its answer was lost, gets the same ones.
     *
     * @param owner      of the chunks.
     * @param requestId  of the request, or 0 when it will not come again.
     * @param purpose    what for.
     * @param chunkCount 1 or more.
     * @param contiguous whether they must be neighbours.
     * @return ascending runs, at most {@link ChunkLease#MAX_RUNS}.
     * @throws ControlException EXHAUSTED when there are not enough; nothing is leased then.
     */
    List<ChunkRun> lease(
        final PeerIdentity owner, final long requestId, final ChunkPurpose purpose, final int chunkCount,
        final boolean contiguous)
    {
        final List<ChunkRun> answer = answers.get(owner, requestId);

        if (null != answer && chunkCount == answer.stream().mapToInt(ChunkRun::chunkCount).sum())
        {
            return answer;
        }

        if (null != answer)
        {
            freeHalfLeased(owner, requestId);
        }

        final List<ChunkRun> runs = leaseNew(owner, requestId, purpose, chunkCount, contiguous);
        answers.put(owner, requestId, runs);
        return runs;
    }

    /** The process before was killed while it leased them: it had answered nobody. */
    private void freeHalfLeased(final PeerIdentity owner, final long requestId)
    {
        for (int i = 0; i < states.length; i++)
        {
            final boolean isLeased = STATE_BLOCKS == states[i] || STATE_INDEX == states[i];
            if (isLeased && !leaseNames.isMirrored(i) && requestId == requestIds[i] && owner.equals(owners[i]))
            {
                set(i, STATE_FREE, null, null);
            }
        }
    }

    private List<ChunkRun> leaseNew(
        final PeerIdentity owner, final long requestId, final ChunkPurpose purpose, final int chunkCount,
        final boolean contiguous)
    {
        if (chunkCount < 1)
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST, "chunkCount=" + chunkCount + " must be 1 or more");
        }

        final boolean fits = chunkCount <= counts[STATE_FREE];
        final int[] indexes = !fits ? null : contiguous ? free.neighbours(chunkCount) : free.any(chunkCount, hint);
        final List<ChunkRun> runs = null == indexes ? null : layout.runs(indexes);

        if (null == runs || runs.size() > ChunkLease.MAX_RUNS)
        {
            throw new ControlException(
                ControlStatus.EXHAUSTED,
                "no memory: " + chunkCount + (contiguous ? " neighbouring" : "") + " chunks of " +
                layout.chunkLengthBytes() + " bytes wanted, " + counts[STATE_FREE] + " of " + states.length +
                " are free" + (null == runs ? "" : ", in too many pieces for one lease") +
                "; drop tables, add a memory node or give it more memory");
        }

        newestLease++;
        for (final int index : indexes)
        {
            leaseNumbers[index] = newestLease;
            requestIds[index] = requestId;
            set(index, ChunkPurpose.INDEX == purpose ? STATE_INDEX : STATE_BLOCKS, owner, null);
        }

        headers.publish();
        hint = (indexes[indexes.length - 1] + 1) % states.length;
        return runs;
    }

    /** @return the number of the newest lease, 0 before the first; they count up, through restarts of the process. */
    long newestLease()
    {
        return newestLease;
    }

    /**
     * Takes chunks back, all or none.
     *
     * @param caller who returns them.
     * @param runs   what.
     * @param upTo   number of a lease: what is free, or was leased later, was taken back already, by the same call as
     *               this; 0 when it is not made again.
     * @throws ControlException INVALID_REQUEST when one of them is not the caller's to return; then none is.
     */
    void takeBack(final PeerIdentity caller, final List<ChunkRun> runs, final long upTo)
    {
        final BitSet returned = new BitSet(states.length);

        for (final ChunkRun run : runs)
        {
            final int first = layout.index(run);

            for (int i = first; i < first + run.chunkCount(); i++)
            {
                if (0 != upTo && (STATE_FREE == states[i] || leaseNumbers[i] > upTo))
                {
                    continue;
                }

                final boolean isCallers = STATE_INDEX == states[i] || isOwn(caller, i) || isClaimed(caller, i);

                if (!isCallers || returned.get(i) || leaseNames.isMirrored(i))
                {
                    throw new ControlException(
                        ControlStatus.INVALID_REQUEST,
                        "chunk at offset " + layout.offset(i) + " is not " + caller + "'s to return (again)");
                }

                returned.set(i);
            }
        }

        returned.stream().forEach((i) -> set(i, STATE_FREE, null, null));
        headers.publish();
    }

    /**
     * Closes chunks for reclamation: orphans that nobody else claims, and chunks that the caller owns.
     *
     * @param caller the reaper from now on, until it returns or adopts them, or ends.
     * @param runs   what it asks for.
     * @return what it got, ascending, at most {@link ChunkLease#MAX_RUNS} runs.
     */
    List<ChunkRun> claim(final PeerIdentity caller, final List<ChunkRun> runs)
    {
        final BitSet claimed = new BitSet(states.length);

        for (final ChunkRun run : runs)
        {
            final int first = layout.index(run);

            for (int i = first; i < first + run.chunkCount(); i++)
            {
                if (!leaseNames.isMirrored(i) && isClaimable(caller, i))
                {
                    claimed.set(i);
                }
            }
        }

        final List<ChunkRun> got = layout.runs(claimed.stream().toArray());
        final List<ChunkRun> answer = got.subList(0, Math.min(got.size(), ChunkLease.MAX_RUNS));

        for (final ChunkRun run : answer)
        {
            final int first = layout.index(run);

            for (int i = first; i < first + run.chunkCount(); i++)
            {
                set(i, STATE_ORPHAN, owners[i], caller);
            }
        }

        headers.publish();
        return answer;
    }

    /**
     * Gives claimed chunks to their reaper, as if it had leased them; all or none.
     *
     * @param caller the reaper.
     * @param runs   what; chunks that are its own already count as done.
     * @throws ControlException INVALID_REQUEST when the caller has not claimed one of them.
     */
    void adopt(final PeerIdentity caller, final List<ChunkRun> runs)
    {
        final BitSet adopted = new BitSet(states.length);

        for (final ChunkRun run : runs)
        {
            final int first = layout.index(run);

            for (int i = first; i < first + run.chunkCount(); i++)
            {
                if (!isOwn(caller, i) && !isClaimed(caller, i) || leaseNames.isMirrored(i))
                {
                    throw new ControlException(
                        ControlStatus.INVALID_REQUEST,
                        "chunk at offset " + layout.offset(i) + " is not claimed by " + caller + ": claim it first");
                }

                adopted.set(i);
            }
        }

        adopted.stream().forEach((i) -> set(i, STATE_BLOCKS, caller, null));
        headers.publish();
    }

    /**
     * Makes orphans of the block chunks of a node that left or was fenced, and of its earlier lives; what it claimed is
     * claimed no more, and indexes that it leased have no owner.
     *
     * @param identity of the node, which reaches nothing here any more.
     */
    void orphan(final PeerIdentity identity)
    {
        answers.forget((owner) -> isLifeOf(owner, identity));
        for (int i = 0; i < states.length; i++)
        {
            final PeerIdentity reaper = isLifeOf(reapers[i], identity) ? null : reapers[i];
            final boolean isOwners = isLifeOf(owners[i], identity);
            if (STATE_BLOCKS == states[i] && isOwners)
            {
                set(i, STATE_ORPHAN, owners[i], null);
            }
            else if (STATE_INDEX == states[i] && isOwners)
            {
                set(i, STATE_INDEX, null, null);
            }
            else if (reaper != reapers[i])
            {
                set(i, states[i], owners[i], null);
            }
        }

        headers.publish();
    }

    /**
     * Makes orphans of the chunks of all nodes that ended while this node did not hear of it.
     *
     * @param isMember whether a node may still reach this one.
     */
    void orphanUnless(final Predicate<PeerIdentity> isMember)
    {
        final Set<PeerIdentity> holders = new HashSet<>(answers.owners());
        holders.addAll(Arrays.asList(owners));
        holders.addAll(Arrays.asList(reapers));
        holders.remove(null);
        holders.stream().filter(isMember.negate()).forEach(this::orphan);
    }

    private static boolean isLifeOf(final PeerIdentity holder, final PeerIdentity identity)
    {
        return null != holder && holder.nodeId() == identity.nodeId() &&
            holder.incarnation() <= identity.incarnation();
    }

    boolean isOwn(final PeerIdentity caller, final int index)
    {
        return STATE_BLOCKS == states[index] && caller.equals(owners[index]);
    }

    boolean isClaimed(final PeerIdentity caller, final int index)
    {
        return STATE_ORPHAN == states[index] && caller.equals(reapers[index]);
    }

    /** @return whether a node may close a chunk, or has: it is its own, or an orphan that nobody else has claimed. */
    boolean isClaimable(final PeerIdentity caller, final int index)
    {
        return isOwn(caller, index) || isClaimed(caller, index) ||
            STATE_ORPHAN == states[index] && null == reapers[index];
    }

    LeaseNames leaseNames()
    {
        return leaseNames;
    }

    int nextFree(final int from)
    {
        return free.next(from);
    }

    /** Says that an index was restored into a free chunk. */
    void restoredIndex(final int index)
    {
        countAsLeased(index);
        set(index, STATE_INDEX, null, null);
    }

    /** Says that blocks were restored into a free chunk: nobody's, so that a reaper finds what is free in it. */
    void restoredBlocks(final int index)
    {
        countAsLeased(index);
        set(index, STATE_ORPHAN, null, null);
    }

    /** So that whoever has it sees a lease number, which is never 0. */
    private void countAsLeased(final int index)
    {
        newestLease = Math.max(1, newestLease);
        leaseNumbers[index] = newestLease;
    }

    /** @return chunks in all. */
    int chunkCount()
    {
        return states.length;
    }

    int freeCount()
    {
        return counts[STATE_FREE];
    }

    int blockCount()
    {
        return counts[STATE_BLOCKS];
    }

    int indexCount()
    {
        return counts[STATE_INDEX];
    }

    int orphanCount()
    {
        return counts[STATE_ORPHAN];
    }

    /** @return chunks leased for blocks by owner, orphans included under their last one. */
    Map<PeerIdentity, Integer> blockChunksByOwner()
    {
        final Map<PeerIdentity, Integer> chunks = new HashMap<>();

        for (int i = 0; i < states.length; i++)
        {
            if (STATE_BLOCKS == states[i] || STATE_ORPHAN == states[i])
            {
                chunks.merge(owners[i], 1, Integer::sum);
            }
        }

        return chunks;
    }

    /** Gives a chunk, free or the group's, to a lease of a group; {@link #change} shows it. */
    void leaseToGroup(
        final int index, final int state, final PeerIdentity owner, final PeerIdentity reaper, final long requestId)
    {
        leaseNumbers[index] = ++newestLease;
        requestIds[index] = requestId;
        change(index, state, owner, reaper);
    }

    /** Changes one chunk, and shows it. */
    void change(final int index, final int state, final PeerIdentity owner, final PeerIdentity reaper)
    {
        set(index, state, owner, reaper);
        headers.publish();
    }

    /** Frees a chunk that nobody uses, whose subtable looks as if it counted. */
    void discard(final int index)
    {
        headers.clearSubtable(layout.offset(index));
        change(index, STATE_FREE, null, null);
    }

    int state(final int index)
    {
        return states[index];
    }

    /** @return the last owner, or null. */
    PeerIdentity owner(final int index)
    {
        return owners[index];
    }

    PeerIdentity reaper(final int index)
    {
        return reapers[index];
    }

    long requestId(final int index)
    {
        return requestIds[index];
    }

    private void set(final int index, final int state, final PeerIdentity owner, final PeerIdentity reaper)
    {
        if (STATE_FREE == state)
        {
            leaseNames.clear(index);
        }
        counts[states[index]]--;
        counts[state]++;
        states[index] = (byte)state;
        requestIds[index] = STATE_ORPHAN == state ? 0 : requestIds[index]; // who adopts it did not ask by that number
        owners[index] = owner;
        reapers[index] = reaper;
        headers.write(index, state, owner, reaper, leaseNumbers[index], requestIds[index], leaseNames.group(index),
            leaseNames.view(index), leaseNames.count(index));
    }
}
