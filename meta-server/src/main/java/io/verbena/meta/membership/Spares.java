package io.verbena.meta.membership;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.StoredNode;
import io.verbena.meta.store.StoredNodeState;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Identities of compute nodes that may come, on disk as {@link StoredNodeState#SPARE}, and those that were assigned
 * since without a write: they are on disk as spares still. One thread.
 */
final class Spares
{
    private final ArrayDeque<StoredNode> free = new ArrayDeque<>();
    private final List<Member> unrecorded = new ArrayList<>();
    /** Are nobody's and will not be assigned, but are on disk still. */
    private final List<StoredNode> givenUp = new ArrayList<>();

    /** Keeps one that is on disk. */
    void add(final StoredNode spare)
    {
        free.add(spare);
    }

    /** Takes the oldest; there is one. */
    StoredNode take()
    {
        return free.remove();
    }

    int count()
    {
        return free.size();
    }

    /** Oldest first; a copy. */
    List<StoredNode> list()
    {
        return List.copyOf(free);
    }

    void onAssigned(final Member member)
    {
        unrecorded.add(member);
    }

    /** From now on none of those that are there is assigned. */
    void giveUp()
    {
        givenUp.addAll(free);
        free.clear();
    }

    boolean hasUnrecorded()
    {
        return !unrecorded.isEmpty() || !givenUp.isEmpty();
    }

    /**
     * Adds to a batch what is known of those assigned, one that has ended was written then; and removes those given up.
     *
     * @return those given up: their numbers are free once this batch is complete.
     */
    List<StoredNode> record(final MetaBatch batch)
    {
        for (final Member member : unrecorded)
        {
            if (member.isLive())
            {
                batch.node(member.node());
            }
        }
        unrecorded.clear();
        final List<StoredNode> removed = List.copyOf(givenUp);
        givenUp.clear();
        removed.forEach((spare) -> batch.removeNode(spare.nodeId()));
        return removed;
    }
}
