/**
 * A group of meta servers: the replicated log ({@code RaftMember}, the only class that knows the Raft library), who
 * leads and for how long it may act on that ({@code Leadership}), and the store that a leading meta server writes to.
 * Must not know what the records mean.
 */
package io.verbena.meta.raft;
