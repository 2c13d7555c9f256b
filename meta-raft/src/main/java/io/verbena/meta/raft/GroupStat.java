package io.verbena.meta.raft;

import java.util.List;

/**
 * What a member knows of its group.
 *
 * @param leader        name of the member whose log it follows; empty when it knows none.
 * @param term          of the log.
 * @param commitIndex   last entry that it knows to be durable at a majority.
 * @param appliedIndex  last entry that it has applied.
 * @param snapshotIndex last entry in its latest snapshot; -1: there is none.
 * @param members       how many the group has; 0 for who joins and was not added yet.
 * @param unreachable   names of members that a leader does not reach.
 * @param behind        names of members that answer a leader and are far behind in the log.
 */
public record GroupStat(
    String leader, long term, long commitIndex, long appliedIndex, long snapshotIndex, int members,
    List<String> unreachable, List<String> behind)
{
}
