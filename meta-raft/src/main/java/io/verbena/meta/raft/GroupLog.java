package io.verbena.meta.raft;

import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.ReplicatedState;

import java.util.concurrent.CompletableFuture;

/** The log of a group of meta servers, as one member sees it. Thread-safe; nothing here blocks. */
public interface GroupLog
{
    /** @return whether this member may try to lead: others follow it, as far as it knows. */
    boolean mayLead();

    /**
     * Appends a command.
     *
     * @param command to be replicated.
     * @return ends when the command is durable at a majority and applied to {@link #state()}: with whether it had an
     *     effect. Ends with an error, or never, when that is not known; it may be applied later, or be lost.
     */
    CompletableFuture<Boolean> append(MetaCommand command);

    /**
     * Asks the group, not this member alone.
     *
     * @return number of the leadership that was the latest at some moment between this call and its end.
     */
    CompletableFuture<Long> latestLeadership();

    /** @return what the log has led to at this member. */
    ReplicatedState state();
}
