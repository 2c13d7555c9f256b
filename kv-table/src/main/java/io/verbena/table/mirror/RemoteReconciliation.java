package io.verbena.table.mirror;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.TableDescriptor;
import org.agrona.CloseHelper;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Makes the surviving copies of all tables of a group equal, over the network: {@link SubtableReconciliation} of one
 * after another on {@link RemoteCopy}s. Whoever runs this alone has access to the survivors. One thread.
 *
 * <p>A memory node may come in: before words are compared, what it has otherwise in chunks of the group is copied there
 * from the source, byte by byte. Then equal words say equal blocks. Without that they do not: what a returning node has
 * from before may be an old record under a word that has come back since.
 */
public final class RemoteReconciliation implements AutoCloseable
{
    /** Words in one poll: some tens of microseconds. */
    private static final int WORDS_PER_POLL = 1_000;

    /** By member, then who comes in; null for a member that is lost. */
    private final RemoteCopy[] copies;
    /** null: nobody comes in. */
    private final ChunkCopy chunks;
    private final SlotReconciliation words;
    private final int source;
    private final List<SubtableReconciliation> tables = new ArrayList<>();
    private int table;

    /**
     * @param protectionDomain that the ports' queue pairs belong to.
     * @param group            whose tables they are.
     * @param descriptors      newest of each table of which a subtable may lie in the group.
     * @param members          of the view that is over, in its order: head first, primary last; null for one that is
     *                         lost. Used by nobody else; their completions go to {@link #onComplete}.
     */
    public RemoteReconciliation(
        final ProtectionDomain protectionDomain, final int group, final List<TableDescriptor> descriptors,
        final OneSidedPort[] members)
    {
        this(protectionDomain, group, descriptors, members, null, ByteRanges.NONE);
    }

    /**
     * As the other one, and one more memory node comes in.
     *
     * @param entering         port to who comes in, used by nobody else, whose completions go to {@link #onComplete}
     *                         as those of member {@code members.length}; null: nobody does.
     * @param differing        all bytes, in chunks that the group has leased, blocks and indexes, that may differ at
     *                         the source and at who comes in; at the same offsets in both regions. Not regarded where
     *                         nobody comes in.
     */
    public RemoteReconciliation(
        final ProtectionDomain protectionDomain, final int group, final List<TableDescriptor> descriptors,
        final OneSidedPort[] members, final OneSidedPort entering, final ByteRanges differing)
    {
        final boolean[] survivors = new boolean[members.length];
        copies = new RemoteCopy[members.length + (entering == null ? 0 : 1)];
        for (int member = 0; member < members.length; member++)
        {
            survivors[member] = members[member] != null;
            copies[member] = survivors[member] ? new RemoteCopy(protectionDomain, members[member]) : null;
        }
        source = SlotReconciliation.sourceOf(survivors);
        if (entering != null)
        {
            copies[members.length] = new RemoteCopy(protectionDomain, entering);
        }
        chunks = entering == null ? null :
            new ChunkCopy(protectionDomain, members[source], entering, differing, ChunkCopy.PIECE_BYTES,
            ChunkCopy.RING_PIECES);
        // Views of the array: members that are lost are null.
        final List<SlotReconciliation.Copy> all = Arrays.asList(copies);
        words = new SlotReconciliation(
            all.subList(0, members.length), survivors, all.subList(members.length, copies.length));
        for (final TableDescriptor descriptor : descriptors)
        {
            final List<Subtable> named = Subtable.of(descriptor).stream()
                .filter(subtable -> subtable.memoryNodeId() == group).toList();
            if (!named.isEmpty())
            {
                tables.add(new SubtableReconciliation(words, named, descriptor.groupCount()));
            }
        }
    }

    /** @return whether all copies are equal, and nothing is under way; never when a request has failed. */
    public boolean isDone()
    {
        // A copy whose last request has failed has nothing under way either.
        boolean isDone = areBytesCopied() && table == tables.size() && !hasFailed();
        for (final RemoteCopy copy : copies)
        {
            isDone &= copy == null || copy.isIdle();
        }
        return isDone;
    }

    /** @return whether a request has failed: then what became of it may be unknown. */
    public boolean hasFailed()
    {
        boolean hasFailed = chunks != null && chunks.hasFailed();
        for (final RemoteCopy copy : copies)
        {
            hasFailed |= copy != null && copy.hasFailed();
        }
        return hasFailed;
    }

    /** Nothing of the ports is under way then. Stays so. */
    private boolean areBytesCopied()
    {
        return chunks == null || chunks.isDone();
    }

    /** Goes on. @return work done. */
    public int poll()
    {
        int workCount = areBytesCopied() ? compareWords() : chunks.poll();
        // While bytes are copied, too: nothing is due there, but a port that fails is noticed.
        for (final RemoteCopy copy : copies)
        {
            workCount += copy == null ? 0 : copy.poll();
        }
        return workCount;
    }

    private int compareWords()
    {
        int workCount = 0;
        for (int i = 0; i < WORDS_PER_POLL && table < tables.size(); i++)
        {
            final SubtableReconciliation current = tables.get(table);
            final long offset = current.nextOffset();
            if (offset < 0)
            {
                table++;
            }
            else if (isPresent(current, offset))
            {
                current.goOn();
                workCount++;
            }
            else
            {
                break;
            }
        }
        return workCount;
    }

    private boolean isPresent(final SubtableReconciliation current, final long offset)
    {
        if (!isPresent(offset, Long.BYTES))
        {
            return false;
        }
        final long word = current.isSlotNext() ? words.blockToProve(offset) : 0;
        return word == 0 ||
            isPresent(SlotWord.blockOffset(word), SizeClasses.lengthBytes(SlotWord.sizeClass(word)));
    }

    /** All copies are asked, so that their pages come at the same time. */
    private boolean isPresent(final long offset, final int lengthBytes)
    {
        boolean isPresent = true;
        for (final RemoteCopy copy : copies)
        {
            isPresent &= copy == null || copy.isPresent(offset, lengthBytes);
        }
        return isPresent;
    }

    /**
     * Takes the completion of a batch; of each port in the order in which they were posted.
     *
     * @param member by its place in the view; behind the last one: who comes in.
     */
    public void onComplete(final int member, final int status)
    {
        if (areBytesCopied())
        {
            copies[member].onComplete(status);
        }
        else if (member == source)
        {
            chunks.onRead(status);
        }
        else
        {
            chunks.onWritten(status);
        }
    }

    /** @return bytes that were copied to who comes in before words were compared. */
    public long bytesCopied()
    {
        return chunks == null ? 0 : chunks.bytesCopied();
    }

    /** @return words that were changed. */
    public long wordsChanged()
    {
        return words.wordsChanged();
    }

    /** @return blocks that were copied. */
    public long blocksCopied()
    {
        return words.blocksCopied();
    }

    /** Gives local memory back, when no request touches it any more. */
    @Override
    public void close()
    {
        CloseHelper.close(chunks);
        for (final RemoteCopy copy : copies)
        {
            CloseHelper.close(copy);
        }
    }

    @Override
    public String toString()
    {
        return "RemoteReconciliation{bytes=" + bytesCopied() + " tables=" + table + " of " + tables.size() +
            " source=" + source + " words=" + wordsChanged() + " blocks=" + blocksCopied() + '}';
    }
}
