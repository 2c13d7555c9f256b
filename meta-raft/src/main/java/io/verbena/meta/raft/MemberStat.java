package io.verbena.meta.raft;

/**
 * A member as it answers who administers the group.
 *
 * @param name          in the group; empty when it does not answer and is not known from the others.
 * @param address       where the others reach it.
 * @param isMember      whether the group has it; else it waits to be added.
 * @param isAnswering   whether it answered; else the figures are -1.
 * @param isLeader      whether its log is the one that is followed.
 * @param term          of its log.
 * @param commitIndex   last entry that it knows to be durable at a majority; -1: it has no entry.
 * @param appliedIndex  last entry that it has applied.
 * @param snapshotIndex last entry in its latest snapshot; -1: there is none.
 * @param lastIndex     last entry in its log.
 */
public record MemberStat(
    String name, String address, boolean isMember, boolean isAnswering, boolean isLeader, long term, long commitIndex,
    long appliedIndex, long snapshotIndex, long lastIndex)
{
}
