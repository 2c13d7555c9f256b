package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimParty;
import io.verbena.rdma.sim.schedule.SimStateful;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.AsyncEventQueue;
import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What everything on one simulated device shares: its identity and memory keys, whether it lives, and the list of what
 * is open on it. Knows none of the classes of those things.
 */
public final class SimHost implements SimParty, SimNamedMemory.Holder
{
    static final int MAX_MESSAGE_BYTES = 1 << 30;
    static final int MAX_QUEUE_PAIR_REQUESTS = 1 << 15;
    static final int MAX_READ_ATOMIC = 128;
    static final int MAX_INLINE_BYTES = 1 << 10;
    static final int PATH_MTU_BYTES = 4096;
    private static final int PAGE_BYTES = 4096;

    /** A queue pair, as the faults of its device know it. */
    interface Sender
    {
        /** The device was killed. */
        void onKilled();

        /** What it sends is held back, or not, as the seed says. */
        void onPaused();

        void onResumed();

        /** Connections to a device break. */
        void cut(SimHost peer);
    }

    private final SimTimeline timeline;
    private final SimNamedMemory named;
    private final String name;
    private final int index;
    private final DeviceAddress address;
    private final KeyTable keys = new KeyTable();
    private final WindowTable windows = new WindowTable();
    private final AsyncEventQueue events = new AsyncEventQueue();
    private final List<Sender> senders = new ArrayList<>();
    /** Everything on it that a state is made of, in the order of creation. */
    private final List<SimStateful> objects = new ArrayList<>();
    private long nextAddress;
    private int lastQueuePairNumber;
    private int childCount;
    private int dcContexts;
    private long executedRequests;
    private long killAtExecuted = Long.MAX_VALUE;
    private boolean isKilled;
    private long namedUntilNs;
    private boolean isSilenced;
    private boolean isPaused;
    private boolean isClosed;

    SimHost(
        final SimTimeline timeline,
        final SimNamedMemory named,
        final String name,
        final int index,
        final DeviceAddress address)
    {
        this.timeline = timeline;
        this.named = named;
        this.name = name;
        this.index = index;
        this.address = address;
        this.nextAddress = ((long)index << 48) + PAGE_BYTES;
    }

    @Override
    public String name()
    {
        return name;
    }

    @Override
    public int index()
    {
        return index;
    }

    DeviceAddress address()
    {
        return address;
    }

    SimTimeline timeline()
    {
        return timeline;
    }

    /** @return the regions that peers reach. */
    public KeyTable keys()
    {
        return keys;
    }

    WindowTable windows()
    {
        return windows;
    }

    AsyncEventQueue events()
    {
        return events;
    }

    void kill()
    {
        if (!isKilled)
        {
            isKilled = true;
            outliveNamedMemory();
            senders.forEach(Sender::onKilled);
        }
    }

    void killAfterRequests(final long requestCount)
    {
        killAtExecuted = executedRequests + requestCount;
        killIfDue();
    }

    @Override
    public boolean isKilled()
    {
        return isKilled;
    }

    void pause()
    {
        isPaused = true;
        senders.forEach(Sender::onPaused);
    }

    void resume()
    {
        if (isPaused)
        {
            isPaused = false;
            senders.forEach(Sender::onResumed);
        }
    }

    boolean isPaused()
    {
        return isPaused;
    }

    void breakConnections(final SimHost peer)
    {
        senders.forEach(sender -> sender.cut(peer));
        peer.senders.forEach(sender -> sender.cut(this));
    }

    /** Requests posted here that have executed successfully at their targets. */
    long executedRequests()
    {
        return executedRequests;
    }

    /** For a while named memory is there without its process, as a peer's mapping of a file is. */
    private void outliveNamedMemory()
    {
        final long mostNs = timeline.options().namedMemoryAfterDeathNs();
        if (mostNs > 0 && keys.openRegions().stream().anyMatch(named::isNamed))
        {
            namedUntilNs = timeline.nowNs() + timeline.decisions().next(
                SimDecision.AFTER_DEATH_NS, SimDecisions.lane(index, 0, 0), mostNs);
        }
    }

    /**
     * Whether a request is executed here: on a killed device only a one-sided one for named memory.
     *
     * @param needsReceive whether it is not one-sided.
     */
    boolean serves(final boolean needsReceive, final int remoteKey)
    {
        if (!isKilled)
        {
            return true;
        }
        final RegisteredRegion region =
            needsReceive || timeline.nowNs() >= namedUntilNs ? null : keys.find(remoteKey);
        return region != null && named.isNamed(region);
    }

    @Override
    public void cutOff(final RegisteredRegion region)
    {
        keys.remove(region);
        namedUntilNs = 0;
    }

    /** Whether not even what is under way executes any more. */
    boolean isSilenced()
    {
        return isSilenced;
    }

    /** A request posted here has executed at its target. */
    void onExecuted()
    {
        executedRequests++;
        killIfDue();
    }

    boolean isClosed()
    {
        return isClosed;
    }

    void close()
    {
        isClosed = true;
    }

    /** The device cannot be closed before {@link #childClosed()}. */
    void childOpened()
    {
        childCount++;
    }

    void childClosed()
    {
        childCount--;
    }

    int childCount()
    {
        return childCount;
    }

    /** A number for a queue pair or DC target. */
    int nextQueuePairNumber()
    {
        return ++lastQueuePairNumber & 0xFF_FFFF;
    }

    void addSender(final Sender sender)
    {
        senders.add(sender);
    }

    void removeSender(final Sender sender)
    {
        senders.remove(sender);
    }

    void addObject(final SimStateful object)
    {
        objects.add(object);
    }

    void removeObject(final SimStateful object)
    {
        objects.remove(object);
    }

    /** Which of its objects this is, alike in runs alike. */
    int indexOf(final Object object)
    {
        return objects.indexOf(object);
    }

    /** Adds all that decides what it does next, except the contents of its memory. */
    void describe(final StateWords words)
    {
        words.in(StatePart.NODES).accept((isKilled ? 1 : 0) | (isSilenced ? 2 : 0) | (isPaused ? 4 : 0));
        words.accept(killAtExecuted == Long.MAX_VALUE ? -1 : killAtExecuted - executedRequests);
        keys.describe(words.in(StatePart.KEYS));
        words.accept(nextAddress);
        words.accept(lastQueuePairNumber);
        windows.describe(words.in(StatePart.WINDOWS));
        words.in(StatePart.EVENTS).accept(events.count());
        events.forEach(event -> words.accept((long)event.type().ordinal() << 32 | indexOf(event.source())));
        objects.forEach(object -> object.describe(words));
    }

    /** A context for one more DC connection; false when all are taken. */
    boolean takeDcContext()
    {
        final boolean isFree = dcContexts < timeline.options().maxDcContexts();
        dcContexts += isFree ? 1 : 0;
        return isFree;
    }

    void releaseDcContext()
    {
        dcContexts--;
    }

    /** Addresses are made up: alike in each run, and as aligned as the memory is for 8-byte words. */
    long nextAddress(final MemorySegment segment)
    {
        final long result = nextAddress + (segment.address() & 7);
        nextAddress += (segment.byteSize() / PAGE_BYTES + 2) * PAGE_BYTES;
        return result;
    }

    void freeMemory()
    {
        windows.unbindAll();
        keys.openRegions().forEach(RegisteredRegion::close);
    }

    static void checkRange(final String what, final long value, final long min, final long max)
    {
        if (value < min || value > max)
        {
            throw new RdmaException(
                what + " is out of range: " + what + "=" + value + ", allowed " + min + " to " + max);
        }
    }

    private void killIfDue()
    {
        if (executedRequests >= killAtExecuted && !isKilled)
        {
            isSilenced = true;
            kill();
        }
    }
}
