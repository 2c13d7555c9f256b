package io.verbena.memory;

import io.verbena.memory.RegionAdoption.Kind;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.session.Credentials;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.failure.PeerFailures;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.IdentityVerifier;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.CloseHelper;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A memory node as an agent: one thread calls {@link #doWork()} and everything else here, except what says otherwise.
 *
 * <p>It admits members only, and only while it has a lease itself: when the lease ends on its own clock it closes
 * every connection before the meta server can take it for lost, then tries to come back under the same node id. What
 * is in the region survives that; connections do not. With a {@link MemoryFolder} the region survives its process too:
 * the next one finds it, checks it, and is the same node again.
 */
public final class MemoryNode implements Agent, AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryNode.class);

    private final MemoryNodeConfiguration configuration;
    private final NanoClock clock;
    private final PeerFailures failures;
    private final RaasContext raas;
    private final MemoryRegion region;
    private final ChunkTable chunks;
    private final MemoryAnswers answers;
    private final MemoryGate gate;
    private final MetaLink metaLink;
    private final Membership membership;
    private final GroupCoverage coverage = new GroupCoverage();
    private final RestoredGroups restored;
    private final GroupWatch groups;
    private long joinDeadlineNs;
    private MemoryReturn memoryReturn;
    private volatile Checkpointer checkpointer;
    private volatile MemoryNodeState state = MemoryNodeState.JOINING;
    private volatile String failure = "";
    private volatile int nodeId;
    private volatile int incarnation;
    private volatile boolean leaveRequested;
    private volatile boolean isMetaServerAway;
    private volatile long damagedRecords;
    private volatile int quarantinedChunks;
    private boolean wasReady;
    private boolean isMemoryEmpty;
    private boolean isMemoryComplete;
    private boolean closed;

    private MemoryNode(
        final Device device,
        final MetaServerLocator metaServer,
        final MemoryNodeConfiguration configuration,
        final RaasContext raas,
        final MemoryRegion region,
        final PeerFailures failures)
    {
        this.failures = failures;
        this.configuration = configuration;
        this.raas = raas;
        this.region = region;
        clock = device.clock();
        final Kind kind = RegionAdoption.look(
            region.segment(), configuration.folder(), RegionLayout.superblock(configuration, 0, 0));
        isMemoryEmpty = Kind.FOUND != kind;
        isMemoryComplete = Kind.FOUND == kind;
        chunks = RegionLayout.chunks(region, configuration, Kind.FOUND == kind);
        answers = new MemoryAnswers(
            region.segment(), configuration.chunkLengthBytes(), chunks, this::fence, this::views);
        metaLink = new MetaLink(raas, metaServer, configuration.callTimeoutNs()).actAsNode();
        gate = new MemoryGate(raas, region, MemoryNodeConfiguration.SERVICE_PORT, answers,
            IdentityVerifier.of(this::proofOf, this::proofBeforeOf),
            () -> "memory node " + nodeId + " is " + state);
        gate.cover(coverage);
        restored = RestoredGroups.of(configuration.folder(), Kind.FOUND == kind);
        groups = new GroupWatch(metaLink, coverage, restored, answers::giveUp, chunks.leaseNames()::groupCount,
            configuration.callTimeoutNs(), configuration.retryPauseNs());
        final NodeRegistration request = registration(device);
        membership = new Membership(
            metaLink, request, configuration.callTimeoutNs(), configuration.retryPauseNs(), clock.nanoTime());
        memoryReturn = Kind.NEW == kind ? null : new MemoryReturn(
            kind, configuration, region, this::readForCheck, chunks, metaLink, membership, restored,
            clock.nanoTime());
        joinDeadlineNs = clock.nanoTime() + configuration.joinTimeoutNs();
    }

    /** Before it is registered it shares no secret with anybody, so the meta server asks it again later. */
    private IdentitySecret proofOf(final PeerIdentity caller)
    {
        final Credentials credentials = metaLink.credentials();
        return null == credentials ? null : credentials.ofCaller(caller);
    }

    private IdentitySecret proofBeforeOf(final PeerIdentity caller)
    {
        final Credentials credentials = metaLink.credentials();
        return null == credentials ? null : credentials.ofCallerBefore(caller);
    }

    private NodeRegistration registration(final Device device)
    {
        final MemoryFolder folder = configuration.folder();
        return new NodeRegistration(
            null == folder ? 0 : folder.nodeId(),
            NodeRole.MEMORY_NODE,
            device.address(),
            MemoryNodeConfiguration.SERVICE_PORT,
            RemoteRegion.of(region),
            null == folder ? device.random().nextLong(1, Long.MAX_VALUE) : folder.memoryId(),
            null == folder ? 0 : folder.clusterId(),
            gate.readTarget()).inFailureDomain(configuration.failureDomain());
    }

    /**
     * Allocates the region and begins to join; {@link #doWork()} does the rest.
     *
     * @param device        to work on; the caller closes it later.
     * @param metaServer    where to register.
     * @param configuration read now.
     * @return the node, JOINING, closed by the caller.
     * @throws MemoryNodeException when sizes are out of range or the memory cannot be had; nothing is left open then.
     */
    public static MemoryNode open(
        final Device device, final PeerAddress metaServer, final MemoryNodeConfiguration configuration)
    {
        return open(device, MetaServerLocator.at(metaServer), configuration);
    }

    /** As {@link #open(Device, PeerAddress, MemoryNodeConfiguration)}, with a meta server that moves. */
    public static MemoryNode open(
        final Device device, final MetaServerLocator metaServer, final MemoryNodeConfiguration configuration)
    {
        RegionLayout.checkSizes(configuration);
        final PeerFailures failures = new PeerFailures(LOGGER::error, device.clock());
        final RaasContext raas = RaasContext.open(
            device, raasConfiguration(configuration, device.attributes()).errorHandler(failures));
        MemoryRegion region = null;

        try
        {
            region = RegionLayout.allocate(raas, configuration);
            return new MemoryNode(device, metaServer, configuration, raas, region, failures);
        }
        catch (final RuntimeException ex)
        {
            CloseHelper.quietClose(region);
            CloseHelper.quietClose(raas);
            throw ex instanceof FormatException ? new MemoryNodeException("memory of the node of " +
                configuration.folder().path() + " cannot be used: " + ex.getMessage(), ex) : ex;
        }
    }

    @Override
    public int doWork()
    {
        int workCount = raas.poll();
        final long nowNs = clock.nanoTime();

        if (gate.isClosing())
        {
            return workCount + cutOff(nowNs);
        }

        if (MemoryNodeState.FAILED == state)
        {
            return workCount;
        }

        if (leaveRequested && MemoryNodeState.LEAVING != state && MemoryNodeState.LEFT != state)
        {
            beginCuttingOff(MemoryNodeState.LEAVING, "", nowNs);
            return workCount + 1;
        }

        if (null != memoryReturn)
        {
            workCount += returnToMemory(nowNs);
        }
        else if (0 != membership.poll(nowNs))
        {
            onMembership(nowNs);
            noteMetaServer();
            workCount++;
        }
        else if (MemoryNodeState.READY == state)
        {
            workCount += gate.prepareNext() + (null == restored ? 0 : groups.poll(nowNs));
        }

        if (!wasReady && MemoryNodeState.JOINING == state && joinDeadlineNs - nowNs <= 0)
        {
            fail(
                "did not join within " + configuration.joinTimeoutNs() / 1_000_000 + " ms: " +
                (null == memoryReturn ? membership.failure() : memoryReturn.failure()),
                nowNs);
        }

        return workCount;
    }

    /** @return how long nothing is due by the clock; 0 when that is not known. What arrives comes besides. */
    public long idleNs()
    {
        final boolean isBusy = gate.isClosing() || leaveRequested || raas.isWaiting() || MemoryNodeState.READY != state;
        final long nowNs = clock.nanoTime();
        final long dueNs = isBusy || null == restored ? Long.MAX_VALUE : groups.idleNs(nowNs);
        return isBusy ? 0 : Math.max(0, Math.min(dueNs, membership.idleNs(nowNs)));
    }

    @Override
    public String roleName()
    {
        return "memory-node";
    }

    /** @return where it stands. Any thread. */
    public MemoryNodeState state()
    {
        return state;
    }

    /** @return whether compute nodes can use it now. Any thread. */
    public boolean isReady()
    {
        return MemoryNodeState.READY == state;
    }

    /** @return why it is not ready, one line; empty when there is nothing to say. Any thread. */
    public String failure()
    {
        return failure;
    }

    /** @return whether the meta server could not be reached last; the lease goes on running then. Any thread. */
    public boolean isMetaServerAway()
    {
        return isMetaServerAway;
    }

    /** @return its id, 0 before it first joined. Any thread. */
    public int nodeId()
    {
        return nodeId;
    }

    /** @return its present life, 0 before it first joined. Any thread. */
    public int incarnation()
    {
        return incarnation;
    }

    /** @return damaged records in its memory, as found when it started and accepted. Any thread. */
    public long damagedRecords()
    {
        return damagedRecords;
    }

    /** @return chunks whose headers were damaged, and which nobody gets any more. Any thread. */
    public int quarantinedChunks()
    {
        return quarantinedChunks;
    }

    /** @return requests so far that met an error of this node's code, and failed alone. Any thread. */
    public long failedRequests()
    {
        return failures.requestCount();
    }

    /** @return connections and requests refused because they claimed an identity that is not theirs. */
    public long refusedIdentities()
    {
        return gate.refusedProofs() + answers.forbiddenRequests();
    }

    /** @return whether nothing was ever in its memory, so that nothing is lost with it. */
    public boolean isMemoryEmpty()
    {
        return isMemoryEmpty;
    }

    /** @return its physical connections by what carries them; a new map. */
    public RaasContext.Transports transports()
    {
        return raas.transports();
    }

    /** @return its limits with what is used of each; a new list. */
    public List<RaasLimit> limits()
    {
        return raas.limits();
    }

    /** @return who makes checkpoints; null before the node was ready, and when it has no folder. Any thread. */
    public Checkpointer checkpointer()
    {
        return checkpointer;
    }

    /** @return chunks in all, free, leased for blocks and for indexes, orphans. */
    public MemoryNodeStat stat()
    {
        return answers.stat();
    }

    /**
     * Copies bytes out of the region, for checks. Any thread; what clients change meanwhile may be torn.
     *
     * @param offset      of the first byte.
     * @param target      off-heap, filled from index 0.
     * @param lengthBytes how many.
     */
    public void readRegion(final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        final MemorySegment source = region.segment().asSlice(offset, lengthBytes);
        target.putBytes(0, new UnsafeBuffer(source.address(), lengthBytes), 0, lengthBytes);
    }

    /**
     * @param identity of a node.
     * @return whether it has a key to the region: it was admitted, and not fenced.
     */
    public boolean hasKey(final PeerIdentity identity)
    {
        return gate.hasKey(identity);
    }

    /** @return keys made ahead of time for nodes that may come. */
    public int preparedKeys()
    {
        return gate.preparedKeys();
    }

    /**
     * Leaves in good order: closes every connection, then deregisters; LEFT when that is done or was not
     * answered in time. Clients lose what is stored here. Any thread; idempotent.
     */
    public void leave()
    {
        leaveRequested = true;
    }

    /** Closes connections and frees the region; without {@link #leave} the lease ends by itself. Idempotent; when
     * it fails, it can be tried again. */
    @Override
    public void close()
    {
        if (!closed)
        {
            CloseHelper.close(checkpointer);
            metaLink.close();
            gate.close();
            region.close();
            raas.close();
            closed = true;
        }
    }

    @Override
    public void onClose()
    {
        close();
    }

    /** Before it is a member: it would not hear of its lease while it walks the memory. */
    private int returnToMemory(final long nowNs)
    {
        final int workCount = memoryReturn.poll(nowNs);
        isMemoryEmpty &= !memoryReturn.hasRestored();

        if (memoryReturn.isDone())
        {
            final MemoryReturn done = memoryReturn;
            memoryReturn = null;
            joinDeadlineNs = clock.nanoTime() + configuration.joinTimeoutNs();

            if (done.isRefused())
            {
                fail("the meta server refused it: " + done.failure(), nowNs);
            }
            else if (done.isWhole())
            {
                LOGGER.info("memory found again: nodeId={} {}", configuration.folder().nodeId(), done.report());
                isMemoryComplete &= !done.isDamaged();
                done.acceptDamage();
                damagedRecords = done.damagedRecords();
                quarantinedChunks = chunks.quarantinedCount();
                membership.rejoin(gate.readTarget(), clock.nanoTime());
            }
            else
            {
                chunks.refuseDamaged();
                fail("the memory that it found again is damaged: " + done.failure(), nowNs);
            }
        }

        return workCount;
    }

    /** Zeros where there is no memory, which no check takes for anything. */
    private void readForCheck(
        final int id, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        if (offset < 0 || offset > region.lengthBytes() - lengthBytes)
        {
            target.setMemory(0, lengthBytes, (byte)0);
        }
        else
        {
            readRegion(offset, target, lengthBytes);
        }
    }

    private void noteMetaServer()
    {
        if (isMetaServerAway != membership.isUnheard())
        {
            isMetaServerAway = membership.isUnheard();

            if (isMetaServerAway)
            {
                LOGGER.warn("the meta server cannot be reached: memory node {} incarnation {} goes on for as long as " +
                    "its lease lasts: {}", nodeId, incarnation, membership.failure());
            }
            else
            {
                LOGGER.info("memory node {} reaches the meta server again", nodeId);
            }
        }
    }

    private void onMembership(final long nowNs)
    {
        switch (membership.state())
        {
            case MEMBER ->
            {
                if (MemoryNodeState.READY != state)
                {
                    becomeReady();
                }

                gate.expect(membership.spares());
            }

            case LOST ->
            {
                LOGGER.warn("memory node {} incarnation {} lost its lease and cuts everybody off: {}",
                    nodeId, incarnation, membership.failure());
                beginCuttingOff(MemoryNodeState.JOINING, membership.failure(), nowNs);
            }

            case REFUSED -> fail("the meta server refused it: " + membership.failure(), nowNs);

            case LEFT -> state = MemoryNodeState.LEFT;

            case REGISTERING, LISTING, CONFIRMING -> failure = membership.failure();
        }
    }

    private void becomeReady()
    {
        nodeId = membership.nodeId();
        incarnation = membership.incarnation();

        // Before: when the folder's file fails in its last step, the folder has the id, and the superblock must stay.
        isMemoryEmpty = false;
        RegionAdoption.announce(
            region.segment(), RegionLayout.superblock(configuration, nodeId, incarnation), configuration.folder(),
            membership.clusterId(), isMemoryComplete);
        isMemoryComplete = true;
        membership.memorySince((int)SuperblockDescriptor.complete(region.segment()));

        if (null != configuration.folder() && null == checkpointer)
        {
            checkpointer = new Checkpointer(
                configuration.folder(), region.segment(), configuration.checkpointPeriodNs(), clock,
                configuration.epochClock()).coverGroups(new GroupCheckpoints(configuration.folder(), region.segment(),
                coverage, clock, configuration.epochClock()));

            if (configuration.hasCheckpointThread())
            {
                checkpointer.start();
            }
        }

        final ComputeAdmission admission = new ComputeAdmission(incarnation, membership.membersAtStart());
        gate.admit(admission);
        // Whoever ended while this node was away has ended before its registration: nobody reports them to it any more.
        chunks.orphanUnless(admission::admits);
        groups.begin(metaLink.credentials().identity(), (int)SuperblockDescriptor.complete(region.segment()),
            clock.nanoTime());
        wasReady = true;
        failure = "";
        state = MemoryNodeState.READY;
        LOGGER.info("memory node ready: nodeId={} incarnation={} transport to meta server={} {}", nodeId, incarnation,
            membership.transport(), answers.stat());
    }

    private void fail(final String why, final long nowNs)
    {
        LOGGER.error("memory node failed: {}", why);
        beginCuttingOff(MemoryNodeState.FAILED, why, nowNs);
    }

    /** From now on nobody is admitted; {@link #cutOff} closes what is open. */
    private void beginCuttingOff(final MemoryNodeState newState, final String why, final long nowNs)
    {
        gate.beginToClose(nowNs);
        failure = why;
        state = newState;
    }

    /** As often as it takes: nothing may go on before everybody is cut off. */
    private int cutOff(final long nowNs)
    {
        if (!gate.isDue(nowNs))
        {
            return 0;
        }

        final String problem = gate.tryToClose(nowNs + configuration.retryPauseNs());

        if (problem.isEmpty())
        {
            goOn(nowNs);
        }
        else
        {
            failure = "cannot cut everybody off yet: " + problem;
            LOGGER.warn("memory node {}: {}", nodeId, failure);
        }

        return 1;
    }

    private void goOn(final long nowNs)
    {
        if (MemoryNodeState.JOINING == state)
        {
            gate.open();
            membership.rejoin(gate.readTarget(), nowNs);
        }
        else if (MemoryNodeState.LEAVING == state)
        {
            membership.leave();
            state = Membership.State.LEFT == membership.state() ? MemoryNodeState.LEFT : state;
        }
    }

    /** Made behind the answers, which it gives. */
    private MemoryAnswers.Views views()
    {
        return gate;
    }

    private void fence(final PeerIdentity identity)
    {
        final int closedCount = gate.fence(identity);
        LOGGER.info("fenced {}: keys closed={}", identity, closedCount);
    }

    /** One connection is to the meta server; another one to it may be closing. */
    private static RaasConfiguration raasConfiguration(
        final MemoryNodeConfiguration configuration, final DeviceAttributes device)
    {
        return new RaasConfiguration()
            .peers(2, MemoryNodeConfiguration.MAX_PEERS, device)
            .completionChannel(configuration.completionChannel());
    }
}
