package io.verbena.table.mirror;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.access.GroupPort;
import io.verbena.table.access.SlotRound;

/**
 * The port of a view with one member: requests go to it as they are, since one compare-and-swap decides and commits
 * there. Says that the memory is that of a group, whose earlier views had more members. Owner thread of the engine
 * only; nothing to close.
 */
public final class LastMemberPort implements GroupPort
{
    private final OneSidedPort member;

    /** @param member whose completions go to the engine. */
    public LastMemberPort(final OneSidedPort member)
    {
        this.member = member;
    }

    @Override
    public boolean isReady()
    {
        return member.isReady();
    }

    @Override
    public boolean isFailed()
    {
        return member.isFailed();
    }

    @Override
    public int space()
    {
        return member.space();
    }

    @Override
    public long regionLengthBytes()
    {
        return member.regionLengthBytes();
    }

    @Override
    public void preload(final long remoteOffset, final int lengthBytes)
    {
        member.preload(remoteOffset, lengthBytes);
    }

    @Override
    public void begin()
    {
        member.begin();
    }

    @Override
    public void abort()
    {
        member.abort();
    }

    @Override
    public void read(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        member.read(local, localOffset, lengthBytes, remoteOffset);
    }

    @Override
    public void write(final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset)
    {
        member.write(local, localOffset, lengthBytes, remoteOffset);
    }

    @Override
    public void compareSwap(
        final MemoryRegion local,
        final long localOffset,
        final long remoteOffset,
        final long expected,
        final long desired)
    {
        SlotRound.propose(member, local, localOffset, remoteOffset, expected, desired);
    }

    @Override
    public void fenceNext()
    {
        member.fenceNext();
    }

    @Override
    public int complete(final int cookie)
    {
        return member.complete(cookie);
    }

    @Override
    public String toString()
    {
        return "LastMemberPort{" + member + '}';
    }
}
