package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.RnicModel;
import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimParty;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.AsyncEventQueue;
import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.PortAttributes;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.NanoClock;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;

/**
 * A simulated device, with the faults that a test can do to it. Addresses of its memory are virtual and equal in each
 * run of a seed; they are those of {@link io.verbena.rdma.verbs.MemoryRegion#address()}, never those of segments.
 */
public final class SimDevice implements Device, SimParty
{
    static final int MAX_MESSAGE_BYTES = 1 << 30;
    static final int MAX_QUEUE_PAIR_REQUESTS = 1 << 15;
    static final int MAX_READ_ATOMIC = 128;
    static final int PATH_MTU_BYTES = 4096;
    private static final int MAX_COMPLETIONS = 1 << 20;
    private static final int MAX_INLINE_BYTES = 1 << 10;
    private static final int PAGE_BYTES = 4096;
    private static final Set<DeviceCapability> CAPABILITIES = EnumSet.allOf(DeviceCapability.class);

    private final SimFabric fabric;
    private final String name;
    private final int index;
    private final DeviceAddress address;
    private final KeyTable keys = new KeyTable();
    private final WindowTable windows = new WindowTable();
    private final AsyncEventQueue events = new AsyncEventQueue();
    private final List<SimDcTarget> dcTargets = new ArrayList<>();
    private final List<SimQueuePair> queuePairs = new ArrayList<>();
    /** Everything on it that a state is made of, in the order of creation. */
    private final List<SimStateful> objects = new ArrayList<>();
    private final Int2ObjectHashMap<SimConnectionListener> listeners = new Int2ObjectHashMap<>();
    private final Rnic rnic;
    private final RandomGenerator random;
    private NanoClock clock;
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

    SimDevice(final SimFabric fabric, final String name, final int index, final DeviceAddress address)
    {
        this.fabric = fabric;
        this.name = name;
        this.index = index;
        this.address = address;
        this.clock = fabric.clock();
        this.random = fabric.decisions().numbersOf(index);
        final RnicModel model = fabric.options().rnicModel();
        this.rnic = model == null ? null : new Rnic(fabric, this, model);
        this.nextAddress = ((long)index << 48) + PAGE_BYTES;
    }

    /**
     * Ends the node as a process dies: its queue pairs fall silent, its memory is unreachable, nothing that it posted
     * and that did not leave is sent. Requests under way may still execute at their targets, as the seed says for each
     * queue pair. Peers get RETRY_EXC_ERR after the retry time.
     */
    public void kill()
    {
        if (!isKilled)
        {
            isKilled = true;
            outliveNamedMemory();
            for (final SimQueuePair queuePair : queuePairs)
            {
                if (queuePair.decide(SimDecision.CUT, 2) > 0)
                {
                    queuePair.link().cut();
                }
                queuePair.sends().route().killed();
            }
        }
    }

    /**
     * Kills the device exactly after that many more of its requests have executed at their targets; nothing of it
     * executes later, not even in part.
     *
     * @param requestCount 0 or more; 0 kills it now.
     */
    public void killAfterRequests(final long requestCount)
    {
        killAtExecuted = executedRequests + requestCount;
        killIfDue();
    }

    /** @return whether it was killed. */
    public boolean isKilled()
    {
        return isKilled;
    }

    /**
     * Holds back its requests that have not reached their targets, by the seed for all or some queue pairs, until
     * {@link #resume()}: then they land late. Its memory stays reachable, as a NIC serves it without the CPU.
     */
    public void pause()
    {
        isPaused = true;
        for (final SimQueuePair queuePair : queuePairs)
        {
            queuePair.hold(queuePair.decide(SimDecision.HOLD, 2) > 0);
        }
    }

    /** Ends {@link #pause()}. */
    public void resume()
    {
        if (isPaused)
        {
            isPaused = false;
            queuePairs.forEach(queuePair -> queuePair.sends().route().sendHeld());
        }
    }

    /** @return whether it is paused. */
    public boolean isPaused()
    {
        return isPaused;
    }

    /** @return requests posted by this device that have executed successfully at their targets. */
    public long executedRequests()
    {
        return executedRequests;
    }

    /** @return how often its NIC had to fetch the context of a queue pair; 0 without {@link RnicModel}. */
    public long contextMisses()
    {
        return rnic == null ? 0 : rnic.misses();
    }

    /** @return payload of READs that its NIC took in; 0 without {@link RnicModel}. */
    public long receivedBytes()
    {
        return rnic == null ? 0 : rnic.receivedBytes();
    }

    /** @return how often its NIC held the context of a queue pair; 0 without {@link RnicModel}. */
    public long contextHits()
    {
        return rnic == null ? 0 : rnic.hits();
    }

    /**
     * Cuts all present connections between this device and another one: what has not arrived never does, no answer
     * returns, and requests fail with RETRY_EXC_ERR after the retry time although some of them were executed.
     *
     * @param peer the other device.
     */
    public void breakConnections(final SimDevice peer)
    {
        queuePairs.forEach(queuePair -> queuePair.sends().route().cut(peer));
        peer.queuePairs.forEach(queuePair -> queuePair.sends().route().cut(this));
    }

    @Override
    public String name()
    {
        return name;
    }

    @Override
    public DeviceAttributes attributes()
    {
        return new DeviceAttributes(
            "sim",
            CAPABILITIES,
            fabric.options().readAfterAtomicNeedsFence(),
            MAX_QUEUE_PAIR_REQUESTS,
            MAX_COMPLETIONS,
            MAX_MESSAGE_BYTES,
            MAX_INLINE_BYTES,
            MAX_READ_ATOMIC,
            MAX_QUEUE_PAIR_REQUESTS,
            WindowTable.MAX_WINDOWS,
            fabric.options().maxDcContexts());
    }

    @Override
    public PortAttributes port()
    {
        return new PortAttributes(1, !isKilled, "simulated", address, PATH_MTU_BYTES);
    }

    @Override
    public DeviceAddress address()
    {
        return address;
    }

    @Override
    public NanoClock clock()
    {
        return clock;
    }

    @Override
    public RandomGenerator random()
    {
        return random;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain()
    {
        checkOpen();
        childCount++;
        return new SimProtectionDomain(this);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity)
    {
        checkOpen();
        checkRange("capacity", capacity, 1, MAX_COMPLETIONS);
        childCount++;
        return new SimCompletionQueue(this, capacity, null);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity, final CompletionChannel channel)
    {
        checkOpen();
        checkRange("capacity", capacity, 1, MAX_COMPLETIONS);
        if (!(channel instanceof SimCompletionChannel own) || own.device() != this)
        {
            throw new RdmaException("not a completion channel of this device: device=" + name);
        }
        childCount++;
        return new SimCompletionQueue(this, capacity, own);
    }

    @Override
    public CompletionChannel createCompletionChannel()
    {
        checkOpen();
        childCount++;
        return new SimCompletionChannel(this);
    }

    @Override
    public AsyncEvent pollAsyncEvent()
    {
        return events.poll();
    }

    @Override
    public ConnectionListener listen(final int servicePort)
    {
        checkOpen();
        checkRange("servicePort", servicePort, 1, 65_535);
        if (listeners.containsKey(servicePort))
        {
            throw new RdmaException("service port is taken: device=" + name + ", servicePort=" + servicePort);
        }
        childCount++;
        final SimConnectionListener listener = new SimConnectionListener(this, servicePort);
        listeners.put(servicePort, listener);
        objects.add(listener);
        return listener;
    }

    @Override
    public ConnectionAttempt connect(
        final QueuePair queuePair,
        final DeviceAddress target,
        final int servicePort,
        final int accessFlags,
        final byte[] privateData,
        final long timeoutNs)
    {
        checkRange("privateData.length", privateData.length, 0, ConnectionRequest.MAX_PRIVATE_DATA_BYTES);
        final SimQueuePair connecting = own(queuePair);
        connecting.toInit();
        final SimConnectionAttempt attempt =
            new SimConnectionAttempt(connecting, accessFlags, fabric, fabric.nowNs() + timeoutNs);
        connecting.attempt(attempt);
        attempt.send(target, servicePort, privateData.clone());
        return attempt;
    }

    @Override
    public void close()
    {
        if (isClosed)
        {
            return;
        }
        if (childCount > 0)
        {
            throw new RdmaException(
                "device is in use: close its protection domains, completion queues and listeners first, device=" +
                name + ", open=" + childCount);
        }
        isClosed = true;
    }

    SimFabric fabric()
    {
        return fabric;
    }

    @Override
    public int index()
    {
        return index;
    }

    /** Null when delays are drawn. */
    Rnic rnic()
    {
        return rnic;
    }

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

    boolean isClosed()
    {
        return isClosed;
    }

    /** For a while named memory is there without its process, as a peer's mapping of a file is. */
    private void outliveNamedMemory()
    {
        final long mostNs = fabric.options().namedMemoryAfterDeathNs();
        if (mostNs > 0 && keys.openRegions().stream().anyMatch(fabric.named()::isNamed))
        {
            namedUntilNs = fabric.nowNs() + fabric.decisions().next(
                SimDecision.AFTER_DEATH_NS, SimDecisions.lane(index, 0, 0), mostNs);
        }
    }

    /** Whether a request is executed here: on a killed device only a one-sided one for named memory. */
    boolean serves(final SimRequest request)
    {
        if (!isKilled)
        {
            return true;
        }
        final RegisteredRegion region = request.isSend() || request.hasImmediate || fabric.nowNs() >= namedUntilNs ?
            null : keys.find(request.remoteKey);
        return region != null && fabric.named().isNamed(region);
    }

    /** Somebody else has its named memory now: nothing that was meant for this device lands there any more. */
    void cutOff(final RegisteredRegion region)
    {
        keys.remove(region);
        namedUntilNs = 0;
    }

    /** Whether not even what is under way executes any more. */
    boolean isSilenced()
    {
        return isSilenced;
    }

    void onExecuted()
    {
        executedRequests++;
        killIfDue();
    }

    SimConnectionListener listener(final int servicePort)
    {
        return listeners.get(servicePort);
    }

    void listenerClosed(final SimConnectionListener listener)
    {
        listeners.remove(listener.servicePort());
        objects.remove(listener);
        childCount--;
    }

    void childClosed()
    {
        childCount--;
    }

    SimQueuePair addQueuePair(final IntFunction<SimQueuePair> factory)
    {
        final SimQueuePair queuePair = factory.apply(++lastQueuePairNumber & 0xFF_FFFF);
        queuePairs.add(queuePair);
        objects.add(queuePair);
        return queuePair;
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
    public void describe(final StateWords words)
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

    /** A clock of its own, for what runs on this device. */
    public void clock(final NanoClock localClock)
    {
        clock = localClock;
    }

    SimQueuePair findQueuePair(final int number)
    {
        for (final SimQueuePair queuePair : queuePairs)
        {
            if (queuePair.number() == number)
            {
                return queuePair;
            }
        }
        return null;
    }

    SimDcTarget addDcTarget(final IntFunction<SimDcTarget> factory)
    {
        final SimDcTarget target = factory.apply(++lastQueuePairNumber & 0xFF_FFFF);
        dcTargets.add(target);
        objects.add(target);
        return target;
    }

    SimDcTarget findDcTarget(final int number)
    {
        return dcTargets.stream().filter(target -> target.number() == number).findFirst().orElse(null);
    }

    void removeDcTarget(final SimDcTarget target)
    {
        dcTargets.remove(target);
        objects.remove(target);
    }

    /** A context for one more DC connection; false when all are taken. */
    boolean takeDcContext()
    {
        final boolean isFree = dcContexts < fabric.options().maxDcContexts();
        dcContexts += isFree ? 1 : 0;
        return isFree;
    }

    void releaseDcContext()
    {
        dcContexts--;
    }

    void removeQueuePair(final SimQueuePair queuePair)
    {
        queuePairs.remove(queuePair);
        objects.remove(queuePair);
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

    SimQueuePair own(final QueuePair queuePair)
    {
        if (queuePair instanceof SimQueuePair sim && sim.device() == this)
        {
            return sim;
        }
        throw new RdmaException("not a queue pair of this device: device=" + name + ", queuePair=" + queuePair);
    }

    SimCompletionQueue own(final CompletionQueue completionQueue)
    {
        if (completionQueue instanceof SimCompletionQueue sim && sim.device() == this)
        {
            return sim;
        }
        throw new RdmaException("not a completion queue of this device: device=" + name + ", queue=" + completionQueue);
    }

    void checkCapabilities(final QueuePairCapabilities capabilities)
    {
        checkRange("maxSendRequests", capabilities.maxSendRequests(), 1, MAX_QUEUE_PAIR_REQUESTS);
        checkRange("maxReceiveRequests", capabilities.maxReceiveRequests(), 0, MAX_QUEUE_PAIR_REQUESTS);
        checkRange("maxInlineBytes", capabilities.maxInlineBytes(), 0, MAX_INLINE_BYTES);
        checkRange("maxReadAtomic", capabilities.maxReadAtomic(), 0, MAX_READ_ATOMIC);
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

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("device is closed: device=" + name);
        }
    }
}
