package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.RnicModel;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.verbs.DeviceAddress;

import java.util.ArrayList;
import java.util.List;

/**
 * What the devices of a fabric reach of each other: hosts by address, queue pairs and DC targets by number. Also who
 * observes them.
 */
final class SimNetwork
{
    /** What is on one host, in the order of creation. */
    private static final class Place
    {
        private final SimHost host;
        private final Rnic rnic;
        private final List<SimLink.Peer> queuePairs = new ArrayList<>();
        private final List<SimDcTarget> dcTargets = new ArrayList<>();

        private Place(final SimHost host, final Rnic rnic)
        {
            this.host = host;
            this.rnic = rnic;
        }
    }

    private final SimTimeline timeline;
    private final List<Place> places = new ArrayList<>();
    private SimObserver observer = SimObserver.NONE;

    SimNetwork(final SimTimeline timeline)
    {
        this.timeline = timeline;
    }

    SimTimeline timeline()
    {
        return timeline;
    }

    SimObserver observer()
    {
        return observer;
    }

    void observe(final SimObserver newObserver)
    {
        observer = newObserver;
    }

    /** A host opens, with the index after the last one. */
    void add(final SimHost host)
    {
        final RnicModel model = timeline.options().rnicModel();
        places.add(new Place(host, model == null ? null : new Rnic(this::rnic, host, model)));
    }

    /** The host with this address; null when there is none, or its device is closed. */
    SimHost find(final DeviceAddress address)
    {
        for (final Place place : places)
        {
            if (place.host.address().equals(address) && !place.host.isClosed())
            {
                return place.host;
            }
        }
        return null;
    }

    /** The NIC of a host; null when delays are drawn. */
    Rnic rnic(final SimHost host)
    {
        return place(host).rnic;
    }

    void add(final SimLink.Peer queuePair)
    {
        place(queuePair.host()).queuePairs.add(queuePair);
    }

    void remove(final SimLink.Peer queuePair)
    {
        place(queuePair.host()).queuePairs.remove(queuePair);
    }

    /** The queue pair with this number; null when there is none. */
    SimLink.Peer queuePair(final SimHost host, final int number)
    {
        for (final SimLink.Peer queuePair : place(host).queuePairs)
        {
            if (queuePair.number() == number)
            {
                return queuePair;
            }
        }
        return null;
    }

    void add(final SimDcTarget target)
    {
        place(target.host()).dcTargets.add(target);
    }

    void remove(final SimDcTarget target)
    {
        place(target.host()).dcTargets.remove(target);
    }

    /** The DC target with this number; null when there is none. */
    SimDcTarget dcTarget(final SimHost host, final int number)
    {
        return place(host).dcTargets.stream().filter(target -> target.number() == number).findFirst().orElse(null);
    }

    private Place place(final SimHost host)
    {
        return places.get(host.index() - 1);
    }
}
