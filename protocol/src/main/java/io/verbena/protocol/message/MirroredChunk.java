package io.verbena.protocol.message;

/**
 * One lease of one chunk by a group of memory nodes, as every member of the group names it. No two leases that a member
 * has recorded have the same name: a later one of an index has a larger count. Requests may, until one of them is
 * recorded: choosing an index reserves nothing.
 *
 * @param group            of memory nodes, 1 to 65,535.
 * @param view             of the group, in which it was leased; 1 to {@link #MAX_VIEW}.
 * @param index            of the chunk among those of each member, 0 or more.
 * @param chunkLengthBytes of each chunk of each member.
 * @param count            which lease of this index it is, 1 to {@link #MAX_COUNT}; 0 in a request for an index.
 */
public record MirroredChunk(int group, long view, int index, int chunkLengthBytes, long count)
{
    /** Largest number of a group. */
    public static final int MAX_GROUP = 65_535;
    /** Largest view: one more is a number, too. */
    public static final long MAX_VIEW = (1L << 62) - 1;
    /** Largest count: one more is a number, too. */
    public static final long MAX_COUNT = (1L << 62) - 1;

    /** @return the lease of an index under this count, by the same group and in the same view. */
    public MirroredChunk at(final int newIndex, final long newCount)
    {
        return new MirroredChunk(group, view, newIndex, chunkLengthBytes, newCount);
    }

    @Override
    public String toString()
    {
        return "lease " + count + " of chunk " + index + " by group " + group + " in view " + view;
    }
}
