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
        copies = new RemoteCopy[members.length];
        survivors = new boolean[members.length];
        for (int member = 0; member < members.length; member++)
        {
            survivors[member] = members[member] != null;
            copies[member] = survivors[member] ? new RemoteCopy(protectionDomain, members[member]) : null;
        }
        source = SlotReconciliation.sourceOf(survivors);
        // A view of the array: members that are lost are null.
        words = new SlotReconciliation(Arrays.asList(copies), survivors);
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
        boolean isDone = table == tables.size();
        for (final RemoteCopy copy : copies)
        {
            isDone &= copy == null || copy.isIdle();
        }
        return isDone;
    }

    /** @return whether a request has failed: then what became of it may be unknown. */
    public boolean hasFailed()
    {
        boolean hasFailed = false;
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

    /** Takes the completion of a member's batch. */
    public void onComplete(final int member, final int status)
    {
        copies[member].onComplete(status);
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
        for (final RemoteCopy copy : copies)
        {
            CloseHelper.close(copy);
        }
    }

    @Override
    public String toString()
    {
        return "RemoteReconciliation{tables=" + table + " of " + tables.size() + " source=" + source +
            " words=" + wordsChanged() + " blocks=" + blocksCopied() + '}';
    }
}
