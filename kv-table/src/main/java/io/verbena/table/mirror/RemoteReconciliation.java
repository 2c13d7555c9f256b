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
 * <p>A memory node that comes into the group gets the bytes of the group's chunks first, and is made equal as one more
 * copy. Its words alone would not do: where it was a member before, a word that stands there may be that of the source by
 * chance, since it has 8 bits of its record's version, and the block behind it an old one.
 */
public final class RemoteReconciliation implements AutoCloseable
{
    /** Words in one poll: some tens of microseconds. */
    private static final int WORDS_PER_POLL = 1_000;

    private final RemoteCopy[] copies;
    private final boolean[] survivors;
    private final SlotReconciliation words;
    private final int source;
    private final List<SubtableReconciliation> tables = new ArrayList<>();
    /** To who comes in; null when it has all chunks, or nobody comes in. */
    private ChunkCopy chunks;
    private long bytesCopied;
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
        this(protectionDomain, group, descriptors, members, null, new long[0], 0);
    }

    /**
     * As the other one, with a memory node that comes in.
     *
     * @param protectionDomain that the ports' queue pairs belong to.
     * @param group            whose tables they are.
     * @param descriptors      newest of each table of which a subtable may lie in the group.
     * @param members          of the view that is over; null for one that is lost.
     * @param entering         the memory node that comes in, which has recorded the leases of the chunks; its
     *                         completions go to {@link #onComplete} as those of the member behind the last one. Null
     *                         for none.
     * @param chunkOffsets     where the chunks begin that the group has leased.
     * @param chunkLengthBytes of each.
     */
    public RemoteReconciliation(
        final ProtectionDomain protectionDomain, final int group, final List<TableDescriptor> descriptors,
        final OneSidedPort[] members, final OneSidedPort entering, final long[] chunkOffsets,
        final int chunkLengthBytes)
    {
        copies = new RemoteCopy[members.length + (entering == null ? 0 : 1)];
        survivors = new boolean[members.length];
        for (int member = 0; member < members.length; member++)
        {
            survivors[member] = members[member] != null;
            copies[member] = survivors[member] ? new RemoteCopy(protectionDomain, members[member]) : null;
        }
        source = SlotReconciliation.sourceOf(survivors);
        if (entering != null)
        {
            copies[members.length] = new RemoteCopy(protectionDomain, entering);
            chunks = new ChunkCopy(protectionDomain, members[source], entering, chunkOffsets, chunkLengthBytes);
        }
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

    /** @return whether all copies are equal, and nothing is under way. */
    public boolean isDone()
    {
        boolean isDone = chunks == null && table == tables.size();
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

    /** Goes on. @return work done. */
    public int poll()
    {
        int workCount = 0;
        if (chunks != null)
        {
            workCount += chunks.poll();
            bytesCopied = chunks.bytesCopied();
            if (!chunks.isDone())
            {
                return workCount;
            }
            chunks.close();
            chunks = null;
        }
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
        for (final RemoteCopy copy : copies)
        {
            workCount += copy == null ? 0 : copy.poll();
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
     * Takes the completion of a batch.
     *
     * @param member by its place; who comes in has that behind the last one.
     * @param cookie of the batch.
     * @param status of its completion.
     */
    public void onComplete(final int member, final int cookie, final int status)
    {
        if (chunks == null)
        {
            copies[member].onComplete(status);
        }
        else if (member == survivors.length)
        {
            chunks.onWritten(cookie, status);
        }
        else
        {
            chunks.onRead(cookie, status);
        }
    }

    /** @return bytes that were copied to who comes in, before words were compared. */
    public long bytesCopied()
    {
        return bytesCopied;
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
        CloseHelper.closeAll(copies);
    }

    @Override
    public String toString()
    {
        return "RemoteReconciliation{tables=" + table + " of " + tables.size() + " source=" + source +
            " words=" + wordsChanged() + " blocks=" + blocksCopied() + " bytes=" + bytesCopied + '}';
    }
}
