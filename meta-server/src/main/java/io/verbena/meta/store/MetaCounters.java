package io.verbena.meta.store;

/**
 * The numbers that must never go back, across any restart.
 *
 * @param clusterId         random number given once when the data folder is created; never 0.
 * @param nextIncarnation   the next registration's incarnation, 1 or more.
 * @param nextNodeId        where the search for a free node id begins, 1 to 65,535.
 * @param nextWriterNumber  where the search for a free writer number begins, 1 to 65,535.
 * @param epochCeiling      every epoch ever announced is below it.
 * @param membershipVersion grows by one with each change of the set of nodes. What is stored may be less than what was
 *                          announced, by one for each spare that was assigned since.
 * @param nextTableId       the next table's number, 1 or more.
 */
public record MetaCounters(
    long clusterId,
    int nextIncarnation,
    int nextNodeId,
    int nextWriterNumber,
    long epochCeiling,
    long membershipVersion,
    int nextTableId)
{
    /** More than may be given while two members of three lag behind or are lost. */
    private static final int LOST_NUMBERS = 1_000_000;
    private static final int LOST_PLACES = 8_192;

    /**
     * @param clusterId of a new cluster.
     * @return where a new cluster begins.
     */
    public static MetaCounters initial(final long clusterId)
    {
        return new MetaCounters(clusterId, 1, 1, 1, 1, 0, 1);
    }

    /**
     * @param newEpochCeiling replaces the present one.
     * @return a copy.
     */
    public MetaCounters withEpochCeiling(final long newEpochCeiling)
    {
        return new MetaCounters(
            clusterId, nextIncarnation, nextNodeId, nextWriterNumber, newEpochCeiling, membershipVersion, nextTableId);
    }

    /** @return a copy whose membership version is the next one. */
    public MetaCounters withNextMembershipVersion()
    {
        return withLaterMembershipVersion(1);
    }

    /**
     * @param changes of the set of nodes since.
     * @return a copy whose membership version is later by as much.
     */
    public MetaCounters withLaterMembershipVersion(final int changes)
    {
        return new MetaCounters(
            clusterId, nextIncarnation, nextNodeId, nextWriterNumber, epochCeiling, membershipVersion + changes,
            nextTableId);
    }

    /** @return a copy whose next table number is the one after the present. */
    public MetaCounters withNextTableId()
    {
        return new MetaCounters(
            clusterId, nextIncarnation, nextNodeId, nextWriterNumber, epochCeiling, membershipVersion, nextTableId + 1);
    }

    /**
     * The counters after a registration took a number of each kind.
     *
     * @param nodeId       just given out, or 0 when the node kept the one it had.
     * @param writerNumber just given out, or 0 when the registration needed none.
     * @return a copy.
     */
    public MetaCounters afterRegistration(final int nodeId, final int writerNumber)
    {
        return afterSpare(nodeId, writerNumber).withNextMembershipVersion();
    }

    /**
     * The counters after a spare took a number of each kind: no node has joined.
     *
     * @param nodeId       just taken, or 0.
     * @param writerNumber just taken, or 0.
     * @return a copy.
     */
    public MetaCounters afterSpare(final int nodeId, final int writerNumber)
    {
        return new MetaCounters(
            clusterId,
            nextIncarnation + 1,
            0 == nodeId ? nextNodeId : following(nodeId),
            0 == writerNumber ? nextWriterNumber : following(writerNumber),
            epochCeiling,
            membershipVersion,
            nextTableId);
    }

    /**
     * The counters after a group of memory nodes took a node id as its number.
     *
     * @param group that number.
     * @return a copy.
     */
    public MetaCounters afterGroup(final int group)
    {
        return new MetaCounters(clusterId, nextIncarnation, following(group), nextWriterNumber, epochCeiling,
            membershipVersion, nextTableId);
    }

    /**
     * The counters of a state behind which changes were lost: so far ahead that nothing given since comes again. Nodes
     * whose registrations were lost may run still, under node ids and writer numbers behind the present ones.
     *
     * @return a copy.
     */
    public MetaCounters behindLostChanges()
    {
        return new MetaCounters(
            clusterId, later(nextIncarnation), leap(nextNodeId), leap(nextWriterNumber), epochCeiling + LOST_NUMBERS,
            membershipVersion + LOST_NUMBERS, later(nextTableId));
    }

    private static int later(final int number)
    {
        return (int)Math.min((long)number + LOST_NUMBERS, Integer.MAX_VALUE);
    }

    private static int leap(final int number)
    {
        return (number - 1 + LOST_PLACES) % 0xFFFF + 1;
    }

    /**
     * The number after this one in the ring 1 to 65,535.
     *
     * @param number 1 to 65,535.
     * @return 1 to 65,535.
     */
    public static int following(final int number)
    {
        return 0xFFFF == number ? 1 : number + 1;
    }
}
