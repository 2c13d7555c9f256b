package io.verbena.meta;

import io.verbena.protocol.control.PendingNotification;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Who would hear of compute nodes that come, go or are activated: clients, which else look once a second. Used by the
 * server's thread.
 */
final class NodeNotifier
{
    /** Those that wait at most; further ones look by themselves. */
    static final int MOST_WAITING = 65_536;

    private final NodeDirectory directory;
    private final List<PendingNotification> waiting = new ArrayList<>();
    private final ArrayDeque<PendingNotification> due = new ArrayDeque<>();
    private long seenChanges;
    /** When so many wait, those whose connections have ended are taken out. */
    private int nextPurge = 64;

    NodeNotifier(final NodeDirectory directory)
    {
        this.directory = directory;
    }

    /**
     * Takes a request.
     *
     * @param answer puts the answer off.
     * @throws ControlException UNAVAILABLE when as many wait as may.
     */
    void await(final Supplier<PendingNotification> answer)
    {
        if (waiting.size() >= nextPurge)
        {
            waiting.removeIf(PendingNotification::isOver);
            nextPurge = Math.clamp(2L * waiting.size(), 64, MOST_WAITING);
        }
        if (waiting.size() >= MOST_WAITING)
        {
            throw new ControlException(
                ControlStatus.UNAVAILABLE, waiting.size() + " wait for news of nodes already: list them now and then");
        }
        waiting.add(answer.get());
    }

    /** @return whether answers wait for room to be sent. */
    boolean isBusy()
    {
        return !due.isEmpty();
    }

    /** Behind what changes nodes; returns work done. */
    int poll()
    {
        if (seenChanges != directory.computeChanges())
        {
            seenChanges = directory.computeChanges();
            waiting.stream().filter((answer) -> !answer.isOver()).forEach(due::add);
            waiting.clear();
        }
        return ChangeNotifier.give(due, PendingNotification::give);
    }
}
