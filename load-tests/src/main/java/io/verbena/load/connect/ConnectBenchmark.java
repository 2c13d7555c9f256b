package io.verbena.load.connect;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTarget;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.DirectoryView;
import io.verbena.raas.directory.DirectoryViewDescriptor;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerDirectory;
import io.verbena.raas.directory.PeerLookup;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Measures on the {@code soft} fabric what it costs to reach a peer: by a virtual queue pair where there is a queue
 * pair already; by the one-sided view and DC where there is none; and by a queue pair made for it, with and without a
 * device, a protection domain and a completion queue that are there already. All ends are driven by one thread, so that
 * nothing waits for a scheduler. Used once.
 */
public final class ConnectBenchmark
{
    private static final int VIEW_PORT = 1;
    private static final int NODE_PORT = 2;
    private static final int VERBS_PORT = 3;
    private static final int NODE = 7;
    private static final int OTHER_NODE = 8;
    private static final int CALLER_NODE = 9;
    private static final int VIEW_CAPACITY = 64;
    private static final int REGION_BYTES = 4096;
    private static final int AT_ONCE = 64;
    private static final int CALLERS = 256;
    private static final long PROBE_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long ACCESS_KEY = 0x5EED;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final double MOST_KNOWN_US = 1;
    private static final double MOST_UNKNOWN_RATIO = 1.2;
    private static final double NS_PER_US = 1_000;
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(32, 1, 0, 16);
    private static final byte[] NOTHING = {};

    private final NanoClock clock;
    private final int samples;
    private final Fabric fabric;
    private final Device viewDevice;
    private final Device nodeDevice;
    private final Device device;

    private ConnectBenchmark(
        final Fabric fabric,
        final Device viewDevice,
        final Device nodeDevice,
        final Device device,
        final int samples,
        final NanoClock clock)
    {
        this.fabric = fabric;
        this.viewDevice = viewDevice;
        this.nodeDevice = nodeDevice;
        this.device = device;
        this.samples = samples;
        this.clock = clock;
    }

    /**
     * Measures.
     *
     * @param fabricName of shared memory, in a directory that nobody else uses.
     * @param samples    of each figure, after as many that only warm up; 1 or more.
     * @param clock      real time.
     * @return the rows; {@code docs/benchmarks/connect.md} says what each means.
     * @throws RdmaException when a connection fails.
     */
    public static List<ConnectRow> run(final String fabricName, final int samples, final NanoClock clock)
    {
        try (Fabric fabric = Fabrics.open(fabricName);
            Device viewDevice = fabric.openDevice("view");
            Device nodeDevice = fabric.openDevice("node");
            Device device = fabric.openDevice("caller"))
        {
            return new ConnectBenchmark(fabric, viewDevice, nodeDevice, device, samples, clock).run();
        }
    }

    private List<ConnectRow> run()
    {
        final List<ConnectRow> rows = new ArrayList<>();
        try (RaasContext viewContext = RaasContext.open(viewDevice, serving(viewDevice));
            RaasContext nodeContext = RaasContext.open(nodeDevice, serving(nodeDevice));
            MemoryRegion viewRegion = viewContext.protectionDomain().allocateRegistered(
                DirectoryView.regionLengthBytes(VIEW_CAPACITY, 0), AccessFlags.REMOTE_READ);
            MemoryRegion nodeRegion = nodeContext.protectionDomain().allocateRegistered(
                REGION_BYTES, AccessFlags.ALL_REMOTE);
            DirectoryView view = new DirectoryView(viewRegion, VIEW_CAPACITY, 0);
            ReadTarget target = nodeContext.openReadTarget(ACCESS_KEY))
        {
            serve(viewContext, VIEW_PORT, view.privateData(), viewRegion);
            serve(nodeContext, NODE_PORT, NOTHING, nodeRegion);
            view.publish(record(NODE, nodeRegion, target));
            view.publish(record(OTHER_NODE, nodeRegion, target));
            final double knownUs = measureKnown(nodeContext, rows);
            measureUnknown(viewContext, nodeContext, rows);
            measureQueuePairs(knownUs, rows);
        }
        return rows;
    }

    /** Callers come and go by the hundred: who has gone is noticed soon, and has not used up the room by then. */
    private static RaasConfiguration serving(final Device device)
    {
        return new RaasConfiguration().peers(1, CALLERS, device.attributes()).probeIntervalNs(PROBE_INTERVAL_NS);
    }

    private static void serve(
        final RaasContext context, final int port, final byte[] privateData, final MemoryRegion region)
    {
        final Admission admission = Admission.accept(AccessFlags.ALL_REMOTE, privateData, region);
        context.serve(port, (caller, source) -> admission, (caller, method, request, offset, length, reply) -> 0);
    }

    private PeerRecord record(final int nodeId, final MemoryRegion region, final ReadTarget target)
    {
        return new PeerRecord(nodeId, 1, 1, NodeRole.MEMORY_NODE, nodeDevice.address(), NODE_PORT,
            RemoteRegion.of(region), target.address());
    }

    private RaasContext openCaller()
    {
        return RaasContext.open(device, new RaasConfiguration().identity(new PeerIdentity(CALLER_NODE, 1)));
    }

    /** Time of one {@code connect} where the pool has a queue pair to the peer. */
    private double measureKnown(final RaasContext nodeContext, final List<ConnectRow> rows)
    {
        final double[] timesUs = new double[samples];
        final VirtualQp[] connected = new VirtualQp[AT_ONCE];
        final PeerAddress peer = new PeerAddress(nodeDevice.address(), NODE_PORT, NODE, 1);
        try (RaasContext caller = openCaller())
        {
            final VirtualQp first = caller.connect(peer, ConnectBenchmark::onBatch, TIMEOUT_NS);
            await(() -> first.state() != VirtualQp.State.CONNECTING, caller, nodeContext);
            requireReady(first);
            final Posted before = Posted.by(caller);
            for (int sample = -samples; sample < samples; sample++)
            {
                final long startNs = clock.nanoTime();
                for (int i = 0; i < AT_ONCE; i++)
                {
                    connected[i] = caller.connect(peer, ConnectBenchmark::onBatch, TIMEOUT_NS);
                }
                final long endNs = clock.nanoTime();
                for (final VirtualQp vqp : connected)
                {
                    requireReady(vqp);
                    vqp.close();
                }
                if (sample >= 0)
                {
                    timesUs[sample] = (endNs - startNs) / NS_PER_US / AT_ONCE;
                }
            }
            final Posted posted = Posted.by(caller).minus(before);
            final double medianUs = median(timesUs);
            rows.add(ConnectRow.alone("known_peer", medianUs, MOST_KNOWN_US, posted.reads, posted.sends));
            return medianUs;
        }
    }

    /** From the number of a node that nothing is known of to a virtual queue pair that READs; beside one READ. */
    private void measureUnknown(
        final RaasContext viewContext, final RaasContext nodeContext, final List<ConnectRow> rows)
    {
        final double[] ownUs = new double[samples];
        final double[] readUs = new double[samples];
        Posted posted = null;
        for (int sample = -samples; sample < samples; sample++)
        {
            final UnknownPeer sampled = new UnknownPeer(viewContext, nodeContext);
            sampled.measure();
            if (posted != null && !posted.equals(sampled.posted))
            {
                throw new IllegalStateException("connecting posted " + posted + " and then " + sampled.posted);
            }
            posted = sampled.posted;
            if (sample >= 0)
            {
                ownUs[sample] = sampled.ownUs;
                readUs[sample] = sampled.readUs;
            }
        }
        rows.add(ConnectRow.ratio("unknown_peer", median(ownUs), median(readUs), MOST_UNKNOWN_RATIO, posted.reads,
            posted.sends));
    }

    /** One caller with a connection to the view, and a DC initiator that has been used. */
    private final class UnknownPeer
    {
        private final RaasContext viewContext;
        private final RaasContext nodeContext;
        private double ownUs;
        private double readUs;
        private Posted posted;
        private boolean isRead;

        UnknownPeer(final RaasContext viewContext, final RaasContext nodeContext)
        {
            this.viewContext = viewContext;
            this.nodeContext = nodeContext;
        }

        void measure()
        {
            final PeerAddress viewPeer = new PeerAddress(viewDevice.address(), VIEW_PORT, 1, 1);
            try (RaasContext caller = openCaller();
                MemoryRegion local = caller.protectionDomain().allocateRegistered(
                    REGION_BYTES, AccessFlags.LOCAL_WRITE);
                PeerDirectory directory = new PeerDirectory(caller, viewPeer, TIMEOUT_NS);
                VirtualQp reader = caller.connect(viewPeer, this::onRead, TIMEOUT_NS))
            {
                await(() -> reader.state() != VirtualQp.State.CONNECTING, caller, viewContext);
                requireReady(reader);
                useInitiator(caller, directory);
                readUs = readUs(caller, reader, local);
                final Posted before = Posted.by(caller);
                final long startNs = clock.nanoTime();
                final PeerLookup lookup = directory.lookup(NODE, 0, TIMEOUT_NS);
                while (lookup.state() == PeerLookup.State.PENDING)
                {
                    directory.poll();
                    caller.pollCompletions();
                }
                final PeerRecord record = lookup.record();
                try (VirtualQp vqp = caller.connect(
                    record.address(), record.readTarget(), record.region(), this::onRead, TIMEOUT_NS))
                {
                    ownUs = (clock.nanoTime() - startNs) / NS_PER_US;
                    posted = Posted.by(caller).minus(before);
                    requireReady(vqp);
                    isRead = false;
                    vqp.begin();
                    vqp.read(local, 0, Long.BYTES, 0);
                    requireOk(vqp.complete(0));
                    // Nobody serves at the other end meanwhile.
                    await(() -> isRead, caller, caller);
                }
            }
        }

        /** The first initiator is made when it is needed first; here it is there, as it is in a node at work. */
        private void useInitiator(final RaasContext caller, final PeerDirectory directory)
        {
            final PeerLookup lookup = directory.lookup(OTHER_NODE, 0, TIMEOUT_NS);
            await(() -> directory.poll() >= 0 && lookup.state() != PeerLookup.State.PENDING, caller, viewContext);
            final PeerRecord record = lookup.record();
            try (VirtualQp vqp = caller.connect(
                record.address(), record.readTarget(), record.region(), this::onRead, TIMEOUT_NS))
            {
                await(vqp::carriesWrites, caller, nodeContext);
            }
        }

        /** Of as many bytes as a look into the view reads. */
        private double readUs(final RaasContext caller, final VirtualQp reader, final MemoryRegion local)
        {
            isRead = false;
            final long startNs = clock.nanoTime();
            reader.begin();
            reader.read(local, 0, DirectoryViewDescriptor.WINDOW_LENGTH_BYTES, reader.peerRegions().getFirst(), 0);
            requireOk(reader.complete(0));
            while (!isRead)
            {
                caller.pollCompletions();
            }
            return (clock.nanoTime() - startNs) / NS_PER_US;
        }

        private void onRead(final VirtualQp vqp, final int cookie, final int status)
        {
            onBatch(vqp, cookie, status);
            isRead = true;
        }
    }

    /** Queue pairs made for a peer, on a device that is there and on one that is opened for it; both ends' work. */
    private void measureQueuePairs(final double knownUs, final List<ConnectRow> rows)
    {
        final double[] warmUs = new double[samples];
        final double[] coldUs = new double[samples];
        try (ConnectionListener listener = nodeDevice.listen(VERBS_PORT);
            ProtectionDomain nodeDomain = nodeDevice.allocateProtectionDomain();
            CompletionQueue nodeQueue = nodeDevice.createCompletionQueue(CAPABILITIES.maxSendRequests());
            ProtectionDomain domain = device.allocateProtectionDomain();
            CompletionQueue queue = device.createCompletionQueue(CAPABILITIES.maxSendRequests()))
        {
            for (int sample = -samples; sample < samples; sample++)
            {
                final double takenUs = queuePairUs(clock.nanoTime(), device, domain, queue,
                    listener, nodeDomain, nodeQueue);
                final double takenColdUs = coldUs(listener, nodeDomain, nodeQueue);
                if (sample >= 0)
                {
                    warmUs[sample] = takenUs;
                    coldUs[sample] = takenColdUs;
                }
            }
        }
        rows.add(ConnectRow.ratio("queue_pair_on_open_device", median(warmUs), knownUs, Double.NaN));
        rows.add(ConnectRow.ratio("queue_pair_and_device", median(coldUs), knownUs, Double.NaN));
    }

    private double coldUs(
        final ConnectionListener listener, final ProtectionDomain nodeDomain, final CompletionQueue nodeQueue)
    {
        final long startNs = clock.nanoTime();
        try (Device opened = fabric.openDevice("cold");
            ProtectionDomain domain = opened.allocateProtectionDomain();
            CompletionQueue queue = opened.createCompletionQueue(CAPABILITIES.maxSendRequests()))
        {
            return queuePairUs(startNs, opened, domain, queue, listener, nodeDomain, nodeQueue);
        }
    }

    /** Until the requester may post. */
    private double queuePairUs(
        final long startNs,
        final Device requesterDevice,
        final ProtectionDomain domain,
        final CompletionQueue queue,
        final ConnectionListener listener,
        final ProtectionDomain nodeDomain,
        final CompletionQueue nodeQueue)
    {
        try (QueuePair requester = domain.createQueuePair(queue, queue, CAPABILITIES);
            QueuePair responder = nodeDomain.createQueuePair(nodeQueue, nodeQueue, CAPABILITIES))
        {
            final ConnectionAttempt attempt =
                requesterDevice.connect(requester, nodeDevice.address(), VERBS_PORT, NOTHING, TIMEOUT_NS);
            ConnectionRequest request = listener.poll();
            while (request == null)
            {
                checkDeadline(startNs);
                request = listener.poll();
            }
            request.accept(responder, AccessFlags.ALL_REMOTE, NOTHING);
            while (attempt.poll() == ConnectionAttempt.State.PENDING)
            {
                checkDeadline(startNs);
            }
            if (attempt.poll() != ConnectionAttempt.State.ESTABLISHED)
            {
                throw new RdmaException("cannot connect to the node of this process: " + attempt.poll());
            }
            return (clock.nanoTime() - startNs) / NS_PER_US;
        }
    }

    /** What a context has posted. */
    private record Posted(long reads, long sends)
    {
        static Posted by(final RaasContext context)
        {
            final VerbCounters counters = context.counters();
            return new Posted(counters.reads, counters.sends);
        }

        Posted minus(final Posted before)
        {
            return new Posted(reads - before.reads, sends - before.sends);
        }
    }

    private void await(final BooleanSupplier condition, final RaasContext first, final RaasContext second)
    {
        final long startNs = clock.nanoTime();
        while (!condition.getAsBoolean())
        {
            first.poll();
            second.poll();
            checkDeadline(startNs);
        }
    }

    private void checkDeadline(final long startNs)
    {
        if (clock.nanoTime() - startNs > TIMEOUT_NS)
        {
            throw new RdmaException("no answer within " + TimeUnit.NANOSECONDS.toSeconds(TIMEOUT_NS) +
                " s from a node of this process");
        }
    }

    private static void onBatch(final VirtualQp vqp, final int cookie, final int status)
    {
        if (status != WorkCompletionStatus.SUCCESS)
        {
            throw new RdmaException("a READ of the benchmark ended with " + WorkCompletionStatus.text(status));
        }
    }

    private static void requireReady(final VirtualQp vqp)
    {
        if (vqp.state() != VirtualQp.State.READY)
        {
            throw new RdmaException("cannot connect to the node of this process: " + vqp);
        }
    }

    private static void requireOk(final int status)
    {
        if (status != PostStatus.OK)
        {
            throw new RdmaException("a READ of the benchmark was not posted: status " + status);
        }
    }

    private static double median(final double[] values)
    {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
