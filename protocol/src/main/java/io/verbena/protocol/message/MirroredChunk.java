package io.verbena.protocol.message;

/**
 * One lease of one chunk by a group of memory nodes, as every member of the group names it. No two leases of an index
 * by a group have the same count; a later one has a larger count.
 *
 * @param group            of memory nodes, 1 to 65,535.
 * @param view             of the group, in which it was leased; 1 or more.
 * @param index            of the chunk among those of each member, 0 or more.
 * @param chunkLengthBytes of each chunk of each member.
 * @param count            which lease of this index it is, 1 or more; 0 in a request for an index.
 */
public record MirroredChunk(int group, long view, int index, int chunkLengthBytes, long count)
{
    /** Largest number of a group. */
    public static final int MAX_GROUP = 65_535;

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
