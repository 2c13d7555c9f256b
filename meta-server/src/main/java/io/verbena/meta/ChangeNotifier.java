package io.verbena.meta;

import io.verbena.meta.membership.MembershipConductor;
import io.verbena.protocol.control.PendingNotification;
import io.verbena.protocol.message.NotificationRequest;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Who rests and would hear of news: at most one request of each node. A request holds nothing up and says nothing of
 * the node; it only lets this server have its next heartbeat sooner. Used by the server's thread.
 */
final class ChangeNotifier
{
    private record Waiting(NotificationRequest request, PendingNotification answer)
    {
    }

    private final MembershipConductor conductor;
    private final NodeDirectory directory;
    private final ActivationDelay delay = new ActivationDelay();
    private final Int2ObjectHashMap<Waiting> waiting = new Int2ObjectHashMap<>();
    private final List<Waiting> looked = new ArrayList<>();
    private final ArrayDeque<PendingNotification> due = new ArrayDeque<>();
    private boolean isNew;
    private long seenEpoch;
    private long seenVersion;
    private boolean seenWanted;
    private long seenActivations;

    ChangeNotifier(final MembershipConductor conductor, final NodeDirectory directory)
    {
        this.conductor = conductor;
        this.directory = directory;
    }

    /** Takes a request; a node's earlier one is over, and its answer gives back what it holds of the connection. */
    void await(final NotificationRequest request, final PendingNotification answer)
    {
        final Waiting earlier = waiting.put(request.nodeId(), new Waiting(request, answer));
        if (null != earlier)
        {
            due.add(earlier.answer);
        }
        isNew = true;
    }

    /** @return how long nothing is due here; 0 also while answers wait for room to be sent. */
    long idleNs(final long nowNs)
    {
        return !due.isEmpty() || isNew && !delay.isUnderWay() ? 0 : delay.leftNs(nowNs);
    }

    /** After heartbeats and epochs: answers whom there are news for; returns work done. */
    int poll(final long nowNs)
    {
        if ((isNew || hasChanged()) && isDue(nowNs))
        {
            isNew = false;
            seenEpoch = conductor.epoch();
            seenVersion = conductor.table().version();
            seenWanted = conductor.isEpochWanted();
            seenActivations = directory.activations();
            lookThrough();
        }
        return give(due, PendingNotification::give);
    }

    /**
     * Tries each once. What finds no room stays, in order, and delays nobody else: each node has a connection of its
     * own.
     *
     * @param due   answers.
     * @param giver says whether it was sent, or is over.
     * @return how many were.
     */
    static <T> int give(final ArrayDeque<T> due, final Predicate<T> giver)
    {
        int given = 0;
        for (int left = due.size(); left > 0; left--)
        {
            final T answer = due.remove();
            if (giver.test(answer))
            {
                given++;
            }
            else
            {
                due.add(answer);
            }
        }
        return given;
    }

    private boolean isDue(final long nowNs)
    {
        return delay.isOver(conductor.table().version() - seenVersion, directory.activations() - seenActivations,
            seenEpoch != conductor.epoch() || conductor.isEpochWanted(), nowNs);
    }

    private boolean hasChanged()
    {
        return seenEpoch != conductor.epoch() || seenVersion != conductor.table().version() ||
            seenWanted != conductor.isEpochWanted();
    }

    private void lookThrough()
    {
        looked.addAll(waiting.values());
        for (final Waiting each : looked)
        {
            final NotificationRequest request = each.request;
            final boolean isOver = each.answer.isOver();
            if (isOver || conductor.hasChanges(
                request.nodeId(), request.incarnation(), request.epoch(), request.membershipVersion()))
            {
                waiting.remove(request.nodeId());
                if (!isOver)
                {
                    due.add(each.answer);
                }
            }
        }
        looked.clear();
    }
}
