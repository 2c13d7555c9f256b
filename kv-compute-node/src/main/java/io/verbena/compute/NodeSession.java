package io.verbena.compute;

import io.verbena.compute.catalog.CatalogWatch;
import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.catalog.UserWatch;
import io.verbena.compute.catalog.ViewWatch;
import io.verbena.compute.control.ControlTasks;
import io.verbena.compute.control.TableTasks;
import io.verbena.compute.figures.JoinTimeline;
import io.verbena.compute.figures.ReclaimCounters;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.compute.group.GroupLinks;
import io.verbena.compute.group.KnownLeases;
import io.verbena.compute.group.LinkedChunks;
import io.verbena.compute.growth.GrowthScheduler;
import io.verbena.compute.maintenance.ExpirySweeper;
import io.verbena.compute.memory.IndexReturns;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.request.OperationDispatcher;
import io.verbena.compute.session.RequestNumbers;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.access.UserRights;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ServingNodes;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.RaasContext;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.SystemEpochNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One registration of a node, from its answer to its end: connections, engine, lease. A node that loses its lease
 * throws the whole session away, connections included, and begins another one, so that nothing of the old registration
 * can reach memory under the new one. Owned by the node's thread.
 */
final class NodeSession implements AutoCloseable
{
    /** Where it stands. */
    enum Step
    {
        DISCOVERING, CONNECTING, SERVING, LEAVING, LEFT, FAILED
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(NodeSession.class);
    /** How often an idle node looks for the answer to a heartbeat: every 2 ms. */
    private static final long HEARTBEAT_POLL_NS = 2_000_000;
    /** How long a node that leaves waits until the indexes of tables that it dropped can go back: 3 s. */
    private static final long INDEX_RETURN_NS = 3_000_000_000L;

    /** A queue pair is replaced, and its requests are posted again, for this part of the lease. */
    private static final int REPLAYS_PER_LEASE = 4;

    private final ComputeNodeConfiguration configuration;
    private final OperationDispatcher dispatcher;
    private final JoinTimeline timeline;
    private final RaasContext raas;
    private final MetaLink metaLink;
    private final Registration registration;
    private final MemoryLinks memoryLinks;
    private final GroupLinks groups;
    private final LinkedChunks chunks;
    private final ControlTasks tasks;
    private final UnexpectedFailures failures;
    private final TableEngine engine;
    private final TableRegistry tables;
    private final SessionParts parts;
    private final CatalogWatch catalog;
    private final UserWatch users;
    private final DenialReports denials;
    private final MemoryNodeWatch memoryNodes;
    private final IndexReturns indexReturns;
    private final GrowthScheduler growth;
    private final ExpirySweeper sweeper;
    private final ReclaimCounters reclaimCounters = new ReclaimCounters();
    private final LeaseKeeper lease;
    private Step step = Step.DISCOVERING;
    private String failure = "";
    private ControlCall<Void> leaving;
    private long leavingSinceNs;

    /**
     * Begins to connect to memory nodes.
     *
     * @param raas       connections; closed by this, as metaLink is.
     * @param metaLink   over which it was registered.
     * @param registered the registration, ended with OK.
     * @param random     seeded by the caller.
     */
    NodeSession(
        final RaasContext raas, final MetaLink metaLink, final ControlCall<Registration> registered,
        final ComputeNodeConfiguration configuration, final OperationDispatcher dispatcher, final JoinTimeline timeline,
        final UnexpectedFailures failures, final SplittableRandom random)
    {
        this.raas = raas;
        this.metaLink = metaLink;
        this.failures = failures;
        this.configuration = configuration;
        this.dispatcher = dispatcher;
        this.timeline = timeline;
        registration = registered.result();
        metaLink.actAs(registration);
        raas.replayTimeoutNs(Math.max(1, registration.leaseNs() / REPLAYS_PER_LEASE));
        memoryLinks = new MemoryLinks(configuration.name(), configuration.maxMemoryNodes());
        groups = new GroupLinks(memoryLinks, failures, configuration.fillBytesPerSecond());
        indexReturns = new IndexReturns(metaLink::retryBackoff);
        chunks = new LinkedChunks(memoryLinks.byId(), groups, indexReturns);
        growth = new GrowthScheduler(chunks, this::returnIndex);
        engine = openEngine(random.nextLong());
        tables = new TableRegistry(metaLink, this::openTable, this::news, configuration.callTimeoutNs(), failures);
        dispatcher.open(engine, tables);
        catalog = new CatalogWatch(metaLink, tables, configuration.callTimeoutNs(), failures);
        catalog.onHeard(registration.epoch(), registration.membershipVersion());
        users = new UserWatch(metaLink, catalog, dispatcher.access(), raas.clock().nanoTime(),
            configuration.callTimeoutNs(), dispatcher::access);
        denials = new DenialReports(metaLink, dispatcher.denied(), dispatcher::access, raas.clock().nanoTime(),
            configuration.callTimeoutNs());
        memoryNodes = new MemoryNodeWatch(
            metaLink, catalog, raas.clock().nanoTime(), configuration.callTimeoutNs(), this::connect, failures);
        parts = new SessionParts(
            raas, metaLink, engine,
            registration.identity(),
            new RequestNumbers(),
            catalog,
            new ViewWatch(
                metaLink, catalog, raas.clock().nanoTime(), configuration.callTimeoutNs(), groups::onView),
            reclaimCounters,
            this::holdsLease,
            this::leaseEndsNs,
            configuration.callTimeoutNs(),
            configuration.reclaims());
        groups.open(parts);
        growth.open(parts, tables, configuration.splitsSubtables(), configuration.fillLookPauseNs());
        sweeper = new ExpirySweeper(configuration.sweepIntervalNs(),
            null == configuration.versionClock() ? new SystemEpochNanoClock() : configuration.versionClock());
        sweeper.open(engine, tables, registration.nodeId(), memoryNodes::computeNodes, raas.clock().nanoTime());
        tasks = new ControlTasks(new TableTasks(parts, tables, memoryLinks, chunks, this::returnIndex, random,
            configuration.splitsSubtables() && configuration.fillsChunks()), failures);
        lease = new LeaseKeeper(metaLink, registered, configuration, this::onHeartbeat, dispatcher::answeredCount,
            this::passedEpoch, this::wantsEpochs, () -> memoryLinks.left(parts.views().views()));
        timeline.registered(raas.clock().nanoTime());
        LOGGER.info("compute node joined: nodeId={} incarnation={} transport to meta server={}",
            registration.nodeId(), registration.incarnation(), metaLink.transport());
        memoryNodes.poll(raas.clock().nanoTime());
    }

    private TableEngine openEngine(final long seed)
    {
        final TableEngineConfiguration engineConfiguration = new TableEngineConfiguration()
            .operationSlots(configuration.operationSlots())
            .locationCacheEntries(configuration.locationCacheEntries())
            .writerNumber(registration.writerNumber())
            .clientId(registration.nodeId())
            .initialEpoch(registration.epoch())
            .seed(seed)
            .repeatsLostOutcomes(true)
            .growthSource(growth)
            .operationListener(dispatcher)
            .chunkSource(chunks);
        if (null != configuration.versionClock())
        {
            engineConfiguration.versionClock(configuration.versionClock());
        }
        final TableEngine opened = TableEngine.open(
            raas.protectionDomain(), raas.device().attributes(), raas.clock(), engineConfiguration);
        opened.onEpoch(registration.epoch(), registration.safeEpoch());
        return opened;
    }

    private void onHeartbeat(final Heartbeat heartbeat)
    {
        memoryLinks.onLeaseRenewed();
        groups.onLeaseRenewed();
        memoryLinks.leave(heartbeat.toLeave());
        failures.onUsage(raas.usage());
        engine.onEpoch(heartbeat.epoch(), heartbeat.safeEpoch());
        catalog.onHeard(heartbeat.epoch(), heartbeat.membershipVersion());
    }

    private long news()
    {
        return catalog.news();
    }

    private void connect(final int memoryNodeId)
    {
        groups.addMemoryNode(memoryNodeId);
    }

    private long leaseEndsNs()
    {
        return lease.endsNs();
    }

    private boolean holdsLease()
    {
        return lease.isHeld(raas.clock().nanoTime());
    }

    Step step()
    {
        return step;
    }

    String failure()
    {
        return failure;
    }

    /** @return what it was registered as. */
    Registration registration()
    {
        return registration;
    }

    /** @return whether the meta server cannot be reached now. */
    boolean isMetaServerAway()
    {
        return !metaLink.isUsable() || lease.isUnheard();
    }

    SessionParts parts()
    {
        return parts;
    }

    MemoryLinks memoryLinks()
    {
        return memoryLinks;
    }

    GroupLinks groups()
    {
        return groups;
    }

    TableEngine engine()
    {
        return engine;
    }

    TableRegistry tables()
    {
        return tables;
    }

    VerbCounters counters()
    {
        return memoryLinks.withoutMaintenance(new VerbCounters().add(raas.counters()));
    }

    /** @return its connections to the meta server and to memory nodes by what carries them; a new map. */
    RaasContext.Transports transports()
    {
        return raas.transports();
    }

    /** @return its limits with what is used of each; a new list. */
    List<RaasLimit> limits()
    {
        final List<RaasLimit> limits = new ArrayList<>();
        limits.add(memoryLinks.limit());
        limits.addAll(raas.limits());
        return limits;
    }

    GrowthScheduler growth()
    {
        return growth;
    }

    /** @return whether index chunks have not gone back yet that nobody needs. */
    boolean isReturningIndex()
    {
        return chunks.isReturning();
    }

    private boolean isReclaiming()
    {
        return chunks.isReturning() || chunks.isReclaiming();
    }

    /** The index of a dropped table goes back when no node can have it open any more; a sweep finds its blocks. */
    private void returnIndex(final TableDescriptor table, final KnownLeases known)
    {
        returnIndex(table.name(), Subtable.of(table), known);
        chunks.sweepOwn();
    }

    private void returnIndex(final String table, final List<Subtable> subtables, final KnownLeases known)
    {
        chunks.retire(table, subtables, known, returnEpoch());
    }

    /** @return what all must have passed before an index that was used until now goes back. */
    private long returnEpoch()
    {
        return engine.epoch() + EpochTracker.REPEAT_EPOCHS;
    }

    /** @return the epoch that this node may say it has passed, see {@link ChunkWatch} and {@link CatalogWatch}. */
    private long passedEpoch()
    {
        long passed = Math.min(Math.min(engine.passedEpoch(), catalog.epoch()), chunks.passableEpoch());
        for (final MemoryLink link : memoryLinks.all())
        {
            passed = Math.min(passed, link.passableEpoch());
        }
        return passed;
    }

    /** @return whether anything here waits for epochs: blocks, or what is given back or taken over. */
    private boolean wantsEpochs()
    {
        return engine.wantsEpochs() || chunks.wantsEpochs(engine) || growth.wantsEpochs() || tasks.wantsEpochs();
    }

    /** @return true if operations may be begun at a time. */
    boolean isServing(final long nowNs)
    {
        return Step.SERVING == step && lease.isHeld(nowNs);
    }

    /** @return true if somebody waits for something that may go on at any moment. */
    boolean isBusy()
    {
        return Step.SERVING != step || dispatcher.active() > 0 || engine.active() > 0 || !tasks.isEmpty() ||
            tables.isWaiting() || memoryLinks.areWaiting() || groups.isBusy() || catalog.isBusy() || users.isBusy() ||
            growth.isBusy() || sweeper.isBusy();
    }

    /**
     * @param nowNs time now.
     * @return how long it need not be polled, if nothing else happens; while not {@link #isBusy()}.
     */
    long idleNs(final long nowNs)
    {
        long untilNs =
            Math.min(growth.nextAtNs(), lease.isWaiting() ? nowNs + HEARTBEAT_POLL_NS : lease.nextAtNs());
        untilNs = Math.min(Math.min(untilNs, sweeper.nextAtNs()), groups.nextAtNs());
        untilNs = Math.min(Math.min(untilNs, indexReturns.nextAtNs(memoryLinks.byId())), memoryNodes.nextAtNs(nowNs));
        for (int i = 0; i < memoryLinks.all().size(); i++)
        {
            untilNs = Math.min(untilNs, memoryLinks.all().get(i).retryAtNs());
        }
        return untilNs - nowNs;
    }

    int pollCompletions()
    {
        return raas.pollCompletions();
    }

    int poll(final long nowNs)
    {
        int workCount = raas.poll(nowNs) + metaLink.poll(nowNs);
        workCount += switch (step)
        {
            case DISCOVERING -> pollDiscovering(nowNs) + pollLinks(nowNs);
            case CONNECTING -> pollConnecting(nowNs) + pollLinks(nowNs);
            case SERVING -> pollServing(nowNs);
            case LEAVING -> pollLeaving(nowNs);
            case LEFT, FAILED -> 0;
        };
        if (Step.LEFT != step && Step.FAILED != step)
        {
            workCount += lease.poll(nowNs);
            if (!lease.isHeld(nowNs) && null == leaving)
            {
                fail("lease ran out: nodeId=" + registration.nodeId() + ", incarnation=" +
                    registration.incarnation());
            }
        }
        return workCount;
    }

    private OpenTable openTable(final TableDescriptor descriptor)
    {
        for (int i = 0; i < descriptor.subtableCount(); i++)
        {
            groups.add(DirectoryEntry.memoryNodeId(descriptor.entry(i)));
        }
        return engine.openTable(descriptor);
    }

    private int pollDiscovering(final long nowNs)
    {
        if (!memoryNodes.failure().isEmpty())
        {
            fail("cannot read which nodes and tables there are: " + memoryNodes.failure());
            return 1;
        }
        if (!memoryNodes.hasListed() || !users.hasListed())
        {
            return users.poll(nowNs) + (memoryNodes.hasListed() ? 0 : memoryNodes.poll(nowNs));
        }
        timeline.discovered(nowNs);
        step = Step.CONNECTING;
        return 1;
    }

    private int pollConnecting(final long nowNs)
    {
        for (final MemoryLink link : memoryLinks.all())
        {
            if (link.isConnecting())
            {
                return 0; // one that has failed already does not hold up the join: its memory node may be gone
            }
        }
        timeline.connected(nowNs);
        FirstTables.of(memoryNodes.first()).forEach(this::openOnJoin);
        catalog.onOpened(memoryNodes.firstVersion());
        memoryNodes.clearFirst();
        step = Step.SERVING;
        timeline.ready(raas.clock().nanoTime());
        return 1;
    }

    /** What cannot be opened now, because it was just dropped or is of another version, is reported to its callers. */
    private void openOnJoin(final TableEntry table)
    {
        try
        {
            tables.open(table);
        }
        catch (final FormatException ex)
        {
            failure = ex.getMessage();
        }
        catch (final RuntimeException ex)
        {
            failure = failures.onFailure("table opened while joining", ex);
        }
    }

    private int pollServing(final long nowNs)
    {
        if (configuration.isSpare() && memoryNodes.servesClients())
        {
            LOGGER.info("activated: clients come from now on");
            configuration.spare(false); // also when it registers again
        }
        return pollLinks(nowNs) + engine.poll(nowNs) + tables.poll(dispatcher, nowNs) + dispatcher.poll() +
            tasks.poll(nowNs) + catalog.poll(nowNs) + users.poll(nowNs) + denials.poll(nowNs) +
            memoryNodes.poll(nowNs) + growth.poll(nowNs) + sweeper.poll(nowNs) +
            indexReturns.poll(parts, memoryLinks.byId(), nowNs);
    }

    private int pollLinks(final long nowNs)
    {
        int workCount = groups.poll(nowNs);
        for (int i = 0; i < memoryLinks.all().size(); i++)
        {
            workCount += memoryLinks.all().get(i).poll(nowNs);
            if (memoryLinks.all().get(i).isRestored())
            {
                // Blocks, indexes, leases and locations that this session knows there are somebody else's now.
                fail(memoryLinks.all().get(i).failure());
            }
        }
        return workCount;
    }

    /** Takes a control request that came out of the queue, QUEUED; while serving. */
    void accept(final ControlRequest request, final long nowNs)
    {
        final UserRights rights = dispatcher.access().rights(request.caller());
        if (!request.isAllowed(rights))
        {
            if (request.start())
            {
                dispatcher.denied().add(request.caller(), request.kind(), request.tableName());
                request.answer(ControlRequest.Status.PERMISSION_DENIED, null,
                    rights.refusal(request.kind(), String.valueOf(request.tableName())));
                request.complete();
            }
            return;
        }
        switch (request.kind())
        {
            case FIND_TABLE, CREATE_TABLE, DROP_TABLE, LIST_TABLES -> tasks.accept(request, nowNs);
            default ->
            {
                if (request.start())
                {
                    answer(request, answerOf(request));
                }
            }
        }
    }

    /** Answers at once what needs no call. */
    private Object answerOf(final ControlRequest request)
    {
        return switch (request.kind())
        {
            case FORGET_TABLE ->
            {
                tables.forget(request.tableName());
                yield null;
            }
            case SPACE -> SpaceTally.list(engine, chunks, isReclaiming(), reclaimCounters.toString());
            case SPACE_FIGURES -> SpaceTally.sum(engine, chunks, isReclaiming(), reclaimCounters);
            case SERVING_NODES -> new ServingNodes(registration.nodeId(), memoryNodes.tcpNodes());
            case SWEEP ->
            {
                reclaimCounters.sweepsAsked++;
                chunks.sweepOwn();
                yield null;
            }
            default -> throw new IllegalStateException("not answered at once: " + request);
        };
    }

    private static void answer(final ControlRequest request, final Object result)
    {
        request.answer(ControlRequest.Status.OK, result, null);
        request.complete();
    }

    /** Begins to leave: what was begun is finished, then it deregisters. */
    void leave()
    {
        if (Step.SERVING == step)
        {
            step = Step.LEAVING;
            tasks.leave();
            growth.leave();
            sweeper.leave();
        }
        else if (Step.LEFT != step)
        {
            step = Step.FAILED;
        }
    }

    private int pollLeaving(final long nowNs)
    {
        if (null != leaving)
        {
            step = leaving.isDone() ? Step.LEFT : step;
            return leaving.isDone() ? 1 : 0;
        }
        leavingSinceNs = 0 == leavingSinceNs ? nowNs : leavingSinceNs;
        final int workCount = pollServing(nowNs);
        final boolean owesIndexes =
            (chunks.isReturning() || growth.isBusy()) && nowNs - leavingSinceNs - INDEX_RETURN_NS < 0;
        if (0 == dispatcher.active() && 0 == engine.active() && !sweeper.isBusy() && tasks.isEmpty() &&
            !tables.isWaiting() && !owesIndexes)
        {
            leaving = metaLink.client().leave(
                registration.nodeId(), registration.incarnation(), configuration.callTimeoutNs());
            return workCount + 1;
        }
        return workCount;
    }

    private void fail(final String why)
    {
        failure = why;
        step = Step.FAILED;
    }

    /** Ends everything at once; operations under way get an unknown outcome. Nothing reaches memory afterwards. */
    @Override
    public void close()
    {
        groups.close();
        memoryLinks.all().forEach(MemoryLink::close);
        metaLink.close();
        engine.close();
        raas.close();
        final String why = failure.isEmpty() ? "node stopped" : failure;
        tasks.close();
        tables.close(dispatcher);
        dispatcher.close(why);
    }
}
