package io.verbena.raas;

import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The DC initiators of a context: made when they are first needed, few, and used again. A path that finds none free
 * waits its turn: whoever has waited longest is next, with all that waits of it.
 */
final class DcTransportPool implements DcTransport.Owner
{
    private final ContextResources resources;
    private final DcTransport.BatchCompletions batches;
    private final int maxOpen;
    private final int depth;
    private final List<DcTransport> open = new ArrayList<>();
    /** Those of which nothing is under way; the one that was used last comes last. */
    private final List<DcTransport> idle = new ArrayList<>();
    private final ArrayDeque<DcTransport.Path> waiting = new ArrayDeque<>();
    private final VerbCounters closedCounters = new VerbCounters();

    DcTransportPool(final ContextResources resources, final DcTransport.BatchCompletions batches)
    {
        this.resources = resources;
        this.batches = batches;
        maxOpen = resources.device().attributes().supports(DeviceCapability.DC) ?
            resources.configuration().dcInitiators() : 0;
        depth = resources.configuration().maxBatchRequests();
    }

    /**
     * A path on which a peer is read until its queue pair is connected; null when each initiator is another path's,
     * there is no room, or there is no DC.
     */
    DcTransport.Path readFirst(final DcTransport.User user, final ReadTargetAddress target)
    {
        if (!target.isThere() || !canLead())
        {
            return null;
        }
        final DcTransport transport = unled();
        try
        {
            final DcTransport.Path path = new DcTransport.Path(resources, this, batches, user, target, depth, false);
            path.carry(transport);
            return path;
        }
        catch (final RdmaException ex)
        {
            // It is only quicker with it: the peer is reached when its queue pair is connected.
            onFailed(ex);
            return null;
        }
    }

    /** A path on which a peer stays; null when there is no initiator, and no room for one. */
    DcTransport.Path stay(final DcTransport.User user, final ReadTargetAddress target)
    {
        if (!target.carriesWrites() || open.isEmpty() && !canLead())
        {
            return null;
        }
        try
        {
            return new DcTransport.Path(resources, this, batches, user, target, depth, true);
        }
        catch (final RdmaException ex)
        {
            onFailed(ex);
            return null;
        }
    }

    /** Whether there is an initiator that no path has; makes one where there is room. */
    private boolean canLead()
    {
        if (unled() == null && open.size() < maxOpen && resources.completions().reserve(depth, 0))
        {
            try
            {
                final DcTransport made = new DcTransport(resources, this, depth);
                open.add(made);
                idle.add(made);
            }
            catch (final RdmaException ex)
            {
                onFailed(ex);
            }
        }
        return unled() != null;
    }

    private DcTransport unled()
    {
        for (int i = idle.size() - 1; i >= 0; i--)
        {
            if (!idle.get(i).isLed())
            {
                return idle.get(i);
            }
        }
        return null;
    }

    @Override
    public DcTransport lend(final DcTransport.Path path)
    {
        final DcTransport transport = canLead() ? unled() : idle.isEmpty() ? null : idle.getFirst();
        if (transport == null)
        {
            waiting.add(path);
            if (open.isEmpty())
            {
                // Nobody would ever give it one.
                resources.doorbells().add(() -> path.breakDown(
                    WorkCompletionStatus.WR_FLUSH_ERR, "there is no room for a DC initiator"));
            }
            return null;
        }
        transport.leave();
        idle.remove(transport);
        return transport;
    }

    @Override
    public void onBusy(final DcTransport transport)
    {
        idle.remove(transport);
    }

    @Override
    public void onIdle(final DcTransport transport)
    {
        final DcTransport.Path next = next();
        if (next == null)
        {
            if (!idle.contains(transport))
            {
                idle.add(transport);
            }
            return;
        }
        final DcTransport.Path before = transport.path();
        transport.leave();
        if (before != null && before.isWaiting())
        {
            waiting.add(before);
        }
        next.carry(transport);
    }

    private DcTransport.Path next()
    {
        DcTransport.Path path = waiting.poll();
        while (path != null && !path.isWaiting())
        {
            path = waiting.poll();
        }
        return path;
    }

    @Override
    public boolean isAwaited()
    {
        return !waiting.isEmpty();
    }

    @Override
    public void forget(final DcTransport.Path path)
    {
        waiting.remove(path);
    }

    @Override
    public void onFailed(final RdmaException failure)
    {
        resources.configuration().dcFailureHandler().onError(failure);
    }

    /** Gives the room of initiators of which nothing is under way back, but for some; false when there are none. */
    boolean closeIdle(final int left)
    {
        boolean isClosed = false;
        while (!idle.isEmpty() && open.size() > left)
        {
            idle.getFirst().close();
            isClosed = true;
        }
        return isClosed;
    }

    @Override
    public void onClosed(final DcTransport transport)
    {
        open.remove(transport);
        idle.remove(transport);
        closedCounters.add(transport.counters());
        if (open.isEmpty() && !waiting.isEmpty())
        {
            // Those that wait would wait for ever.
            resources.doorbells().add(this::serveWaiting);
        }
    }

    private void serveWaiting()
    {
        for (int left = waiting.size(); left > 0 && !waiting.isEmpty(); left--)
        {
            final DcTransport.Path path = waiting.poll();
            if (path.isWaiting())
            {
                path.carry(lend(path));
            }
        }
    }

    void addCounters(final VerbCounters sum)
    {
        sum.add(closedCounters);
        open.forEach(transport -> sum.add(transport.counters()));
    }

    /** Initiators that there are. */
    int size()
    {
        return open.size();
    }

    void close()
    {
        while (!open.isEmpty())
        {
            open.getLast().close();
        }
    }

    /**
     * Peers that are used seldom and so stay on DC, and who of them gets a queue pair: whoever makes calls, whose DC is
     * broken, or who is used often. Room is made by whoever is used least; for one that is only used often, by one that
     * is used four times less. None is on both: it goes over when nothing is under way.
     */
    static final class Peers
    {
        /** Makes and closes queue pairs. */
        interface Owner
        {
            /** Takes room for a queue pair; where there is none, makes some if that is wanted. */
            boolean reserve(boolean isMakingRoom);

            /** Begins to connect one whose room is taken; false when its queue pair cannot be made. */
            boolean connect(ClientChannel channel, long timeoutNs);

            /** One for the same peer that has no room for a queue pair. */
            ClientChannel withoutRoom(ClientChannel old);

            /** Another one carries the virtual queue pairs from now on. */
            void goOver(ClientChannel old, ClientChannel channel);

            /** Those of one fail. */
            void failReady(ClientChannel channel, String reason);
        }

        /** Between looks at how much peers are used, after each of which that counts half. */
        private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(1);
        /** After a queue pair could not be had. */
        private static final long BACKOFF_NS = TimeUnit.MILLISECONDS.toNanos(100);
        static final int USES_TO_GET = 32;
        static final int USES_TO_KEEP = USES_TO_GET / 4;

        private final ContextResources resources;
        private final Owner owner;
        private final DcTransportPool transports;
        private final Map<PeerAddress, ClientChannel> byPeer;
        private final List<Channel> open;
        private final List<ClientChannel> staying = new ArrayList<>();
        /** Those that cannot do without. */
        private final List<ClientChannel> wanting = new ArrayList<>();
        private ClientChannel leaving;
        private long nextLookNs;
        private long notBeforeNs;

        /**
         * @param byPeer the one to each peer.
         * @param open   those that have queue pairs.
         */
        Peers(
            final ContextResources resources, final Owner owner, final DcTransportPool transports,
            final Map<PeerAddress, ClientChannel> byPeer, final List<Channel> open, final long nowNs)
        {
            this.resources = resources;
            this.owner = owner;
            this.transports = transports;
            this.byPeer = byPeer;
            this.open = open;
            nextLookNs = nowNs;
            notBeforeNs = nowNs;
        }

        boolean isActive()
        {
            return leaving != null || !staying.isEmpty();
        }

        List<ClientChannel> staying()
        {
            return staying;
        }

        /** No queue pair could be had, or was refused: it goes on over DC, and the next attempt waits. */
        void onNotPromoted(final ClientChannel channel, final long nowNs)
        {
            notBeforeNs = nowNs + BACKOFF_NS;
            stay(channel, channel.takePath());
        }

        /** One needs a queue pair: for calls, or because DC is broken. */
        void want(final ClientChannel channel)
        {
            if (!isCurrent(channel))
            {
                owner.failReady(channel, channel.peer() + ": over DC, and this node has another identity by now");
            }
            else if (!wanting.contains(channel))
            {
                wanting.add(channel);
            }
        }

        private void stay(final ClientChannel old, final DcTransport.Path path)
        {
            final ClientChannel channel = owner.withoutRoom(old);
            channel.stay(old, path);
            owner.goOver(old, channel);
            staying.add(channel);
        }

        /** Whether it is the one to its peer still. */
        private boolean isCurrent(final ClientChannel channel)
        {
            return byPeer.get(channel.peer()) == channel;
        }

        /** Closes the queue pair of one of which nothing is under way; false when it cannot be closed. */
        private boolean demote(final ClientChannel channel)
        {
            final DcTransport.Path path = transports.stay(channel, channel.target());
            if (path == null)
            {
                return false;
            }
            try
            {
                channel.close();
            }
            catch (final RdmaException ex)
            {
                path.close();
                resources.deferError(ex);
                return false;
            }
            stay(channel, path);
            return true;
        }

        /** Has the one that is used least go over to DC; false when none can, or one is about to. */
        boolean makeRoom()
        {
            if (leaving != null)
            {
                return false;
            }
            final ClientChannel coldest = coldest();
            if (coldest == null)
            {
                return false;
            }
            if (coldest.isDrained())
            {
                return demote(coldest);
            }
            leaving = coldest;
            leaving.leave(true);
            return false;
        }

        private ClientChannel coldest()
        {
            ClientChannel coldest = null;
            for (int i = 0; i < open.size(); i++)
            {
                if (open.get(i) instanceof final ClientChannel channel && channel.canStay() &&
                    isCurrent(channel) && (coldest == null || channel.uses() < coldest.uses()))
                {
                    coldest = channel;
                }
            }
            return coldest;
        }

        int poll(final long nowNs)
        {
            int work = leave();
            for (int i = wanting.size() - 1; i >= 0; i--)
            {
                work += serve(wanting.get(i), nowNs) ? 1 : 0;
            }
            if (nextLookNs - nowNs <= 0)
            {
                nextLookNs = nowNs + INTERVAL_NS;
                look(nowNs);
            }
            return work;
        }

        private int leave()
        {
            if (leaving == null || !leaving.isClosed() && leaving.canLeave() && !leaving.isDrained())
            {
                return 0;
            }
            final ClientChannel channel = leaving;
            leaving = null;
            channel.leave(false);
            return !channel.isClosed() && channel.canStay() && demote(channel) ? 1 : 0;
        }

        /** Gives one a queue pair that cannot do without; false when there is no room yet. */
        private boolean serve(final ClientChannel channel, final long nowNs)
        {
            if (!staying.contains(channel) || channel.isClosed())
            {
                wanting.remove(channel);
                return true;
            }
            if (channel.isReplayOverdue(nowNs))
            {
                wanting.remove(channel);
                channel.endReplay("DC broke, and there was no room for a queue pair in time");
                return true;
            }
            return (channel.hasPath() && notBeforeNs - nowNs > 0 || !isCurrent(channel)) ? false :
                promote(channel, nowNs, true);
        }

        private boolean promote(final ClientChannel channel, final long nowNs, final boolean isMakingRoom)
        {
            if (!owner.reserve(isMakingRoom))
            {
                return false;
            }
            wanting.remove(channel);
            staying.remove(channel);
            channel.takeRoom();
            owner.connect(channel, Math.max(1,
                channel.hasPath() ? resources.replayTimeoutNs() : channel.replayDeadlineNs() - nowNs));
            return true;
        }

        private void look(final long nowNs)
        {
            final ClientChannel coldest = coldest();
            final boolean isMakingRoom = coldest != null && coldest.uses() <= USES_TO_KEEP;
            for (int i = staying.size() - 1; i >= 0; i--)
            {
                final ClientChannel channel = staying.get(i);
                if (channel.isUnused())
                {
                    staying.remove(i);
                    byPeer.remove(channel.peer(), channel);
                    channel.close();
                }
                else if (channel.uses() >= USES_TO_GET && notBeforeNs - nowNs <= 0 && isCurrent(channel) &&
                    promote(channel, nowNs, isMakingRoom))
                {
                    // It counts among those that are open from now on.
                    continue;
                }
                else
                {
                    channel.halveUses();
                }
            }
            for (int i = 0; i < open.size(); i++)
            {
                if (open.get(i) instanceof final ClientChannel channel)
                {
                    channel.halveUses();
                }
            }
        }
    }
}
