package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimHost;
import io.verbena.rdma.sim.device.SimObserver;
import io.verbena.rdma.sim.device.SimRequest;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.RegisteredRegion;

import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongUnaryOperator;

/**
 * What the hash of a state keeps while a run goes on: for each device with an actor the history of all that it has
 * shown the actor, for the others a hash of their memory. The memory of an actor's device needs no look: it is what its
 * history made of it.
 */
final class StateHash implements SimObserver
{
    static final Set<StatePart> EVERYTHING = EnumSet.allOf(StatePart.class);

    private final Map<SimHost, History> histories = new IdentityHashMap<>();
    private final Map<SimHost, Long> memories = new IdentityHashMap<>();

    /** What a device has shown its actor, in all and since the actor looked last. */
    private static final class History
    {
        private final StateWords all = new StateWords(EVERYTHING);
        private StateWords unseen = new StateWords(EVERYTHING);
        private boolean isSeen = true;

        private StateWords add()
        {
            isSeen = false;
            return unseen;
        }

        /** Folds what is new into all there was. */
        private void looked()
        {
            if (!isSeen)
            {
                all.accept(unseen.hash());
                unseen = new StateWords(EVERYTHING);
                isSeen = true;
            }
        }
    }

    void addHistory(final SimDevice device)
    {
        histories.put(device.host(), new History());
    }

    /** Whether the device of an actor has something that the actor has not looked at. */
    boolean isUnseen(final SimDevice device)
    {
        return !histories.get(device.host()).isSeen;
    }

    /** The actor has looked at everything. */
    void looked(final SimDevice device)
    {
        histories.get(device.host()).looked();
    }

    @Override
    public void onShown(final SimHost host, final long value)
    {
        final History history = histories.get(host);
        if (history != null)
        {
            history.add().accept(value);
        }
    }

    @Override
    public void onCompleted(final SimRequest request)
    {
        final SimHost host = request.requesterHost();
        memories.remove(host);
        final History history = histories.get(host);
        if (history != null)
        {
            final StateWords words = history.add();
            words.accept((long)request.requesterNumber() << 32 | request.status);
            words.accept(request.position());
            request.describeResult(words);
        }
    }

    @Override
    public void onExecuted(final SimHost target, final SimRequest request)
    {
        memories.remove(target);
        final History history = histories.get(target);
        if (history != null)
        {
            request.describe(history.add());
        }
    }

    /**
     * Adds one device.
     *
     * @param ownState that of its actor, or {@link SimActor#HISTORY}.
     * @param names    of words, or null.
     */
    void describe(
        final StateWords words, final SimDevice device, final long ownState, final LongUnaryOperator names)
    {
        final History history = histories.get(device.host());
        if (history != null)
        {
            words.in(StatePart.HISTORY).accept(ownState == SimActor.HISTORY ? history.all.hash() : ownState);
            words.accept(history.unseen.hash());
        }
        else if (words.in(StatePart.MEMORY).isCounted())
        {
            words.accept(null == names ? memories.computeIfAbsent(device.host(), host -> memory(host, null)) :
                memory(device.host(), names));
        }
        device.describe(words);
    }

    private static long memory(final SimHost host, final LongUnaryOperator names)
    {
        final StateWords words = new StateWords(EVERYTHING, names);
        for (final RegisteredRegion region : host.keys().openRegions())
        {
            words.accept(region.segment());
        }
        return words.hash();
    }
}
