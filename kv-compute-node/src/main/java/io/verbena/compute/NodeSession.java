package io.verbena.compute;

import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.TableDescriptor;

import org.agrona.collections.Int2ObjectHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;

/**
 * One registration of a node, from joining to its end: connections, engine, lease. A node that loses its lease throws
 * the whole session away, connections included, and begins another one, so that nothing of the old registration can
 * reach memory under the new one. Owned by the node's thread.
 */
final class NodeSession implements AutoCloseable
{
    /** Where it stands. */
    enum Step
    {
        REGISTERING, DISCOVERING, CONNECTING, SERVING, LEAVING, LEFT, FAILED
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(NodeSession.class);
    /** Tables opened while joining; any further one is opened by its first operation. */
    private static final int MAX_TABLES_OPENED_ON_JOIN = 64;
    /** How often an idle node looks for the answer to a heartbeat: every 2 ms. */
    private static final long HEARTBEAT_POLL_NS = 2_000_000;
    /** How long a node that leaves waits until the indexes of tables that it dropped can go back: 3 s. */
    private static final long INDEX_RETURN_NS = 3_000_000_000L;
    /** To the meta server: the present one, and one that is not closed yet. */
    private static final int META_CONNECTIONS = 2;

    private final ComputeNodeConfiguration configuration;
    private final OperationDesk desk;
    private final JoinTimeline timeline;
    private final RaasContext raas;
    private final MetaLink metaLink;
    private final MemoryLinks memoryLinks;
    private final Int2ObjectHashMap<MemoryLink> links;
    private final List<MemoryLink> linkList;
    private final ControlTasks tasks;
    private final UnexpectedFailures failures;
    private final CreationSlot creationSlot = new CreationSlot();
    private final ControlCall<Registration> registering;
    private final SplittableRandom random;
    private Step step = Step.REGISTERING;
    private String failure = "";
    private TableEngine engine;
    private TableRegistry tables;
    private SessionParts parts;
    private CatalogWatch catalog;
    private MemoryNodeWatch memoryNodes;
    private final IndexReturns indexReturns = new IndexReturns();
    private final SplitDesk splits;
    private final ReclaimCounters reclaimCounters = new ReclaimCounters();
    private LeaseKeeper lease;
    private ControlCall<TablePage> tablesCall;
    private List<ControlCall<TableEntry>> tableCalls;
    private ControlCall<Void> leaving;
    private long leavingSinceNs;

    NodeSession(
        final Device device, final MetaServerLocator metaServer, final ComputeNodeConfiguration configuration,
        final OperationDesk desk, final JoinTimeline timeline, final UnexpectedFailures failures)
    {
        this.failures = failures;
        tasks = new ControlTasks(this::begin, failures);
        this.configuration = configuration;
        this.desk = desk;
        this.timeline = timeline;
        memoryLinks = new MemoryLinks(configuration);
        links = memoryLinks.byId();
        linkList = memoryLinks.all();
        splits = new SplitDesk(links, indexReturns, this::returnIndex);
        raas = RaasContext.open(device, new RaasConfiguration().completionChannel(configuration.completionChannel())
            .peers(configuration.maxMemoryNodes() + META_CONNECTIONS, 0, device.attributes())
            .roomSetting(MemoryLinks.settingText(configuration)).dcFailureHandler(failures::onDcFailure)
            .errorHandler(failures::onCallbackError));
        timeline.opened(raas.clock().nanoTime());
        random = new SplittableRandom(device.address().gidLow() ^ raas.clock().nanoTime());
        metaLink = new MetaLink(raas, metaServer, configuration.callTimeoutNs());
        registering = metaLink.client().register(
            new NodeRegistration(0, NodeRole.COMPUTE_NODE, device.address(), configuration.servicePort(),
                new RemoteRegion(0, 0, 0)),
            configuration.callTimeoutNs());
    }

    Step step()
    {
        return step;
    }

    String failure()
    {
        return failure;
    }

    /** @return what it was registered as; only after REGISTERING. */
    Registration registration()
    {
        return registering.result();
    }

    /** @return whether the meta server cannot be reached now. */
    boolean isMetaServerAway()
    {
        return !metaLink.isUsable() || null != lease && lease.isUnheard();
    }

    SessionParts parts()
    {
        return parts;
    }

    MemoryLinks memoryLinks()
    {
        return memoryLinks;
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
        final VerbCounters counters = new VerbCounters().add(raas.counters());
        for (final MemoryLink link : linkList)
        {
            for (final RegionAccess access : link.maintenance())
            {
                access.subtractFrom(counters);
            }
        }
        return counters;
    }

    /** @return its connections to the meta server and to memory nodes by what carries them; a new map. */
    Map<String, Integer> transports()
    {
        return raas.transports();
    }

    SplitDesk splits()
    {
        return splits;
    }

    /** @return a link to each memory node that it uses; live, the node's thread. */
    List<MemoryLink> links()
    {
        return linkList;
    }

    /** @return whether index chunks have not gone back yet that nobody needs. */
    boolean isReturningIndex()
    {
        return !indexReturns.isEmpty();
    }

    private boolean isReclaiming()
    {
        return !indexReturns.isEmpty() || linkList.stream().anyMatch(MemoryLink::isReclaiming);
    }

    /** The index of a dropped table goes back when no node can have it open any more; a sweep finds its blocks. */
    private void returnIndex(final TableDescriptor table, final IntToLongFunction newestLease)
    {
        returnIndex(table.name(), Subtable.of(table), newestLease);
        linkList.forEach(MemoryLink::sweepOwn);
    }

    private void returnIndex(final String table, final List<Subtable> subtables, final IntToLongFunction newestLease)
    {
        indexReturns.addUsed(table, subtables, newestLease, parts.isDropped(ReclaimGuard.INDEX_WAIT) ?
            engine.epoch() - EpochTracker.REUSE_DISTANCE - 1 : engine.epoch() + EpochTracker.REPEAT_EPOCHS);
    }

    /** @return the epoch that this node may say it has passed, see {@link ChunkWatch} and {@link CatalogWatch}. */
    private long passedEpoch()
    {
        final boolean closesTables = !parts.isDropped(ReclaimGuard.CLOSE_DROPPED);
        long passed = Math.min(engine.passedEpoch(), closesTables ? catalog.epoch() : Long.MAX_VALUE);
        for (final MemoryLink link : linkList)
        {
            passed = parts.isDropped(ReclaimGuard.LOOK_BEFORE_PASS) ?
                passed : Math.min(passed, link.passableEpoch());
        }
        return passed;
    }

    /** @return whether anything here waits for epochs: blocks, or what is given back or taken over. */
    private boolean wantsEpochs()
    {
        return engine.wantsEpochs() || indexReturns.wantsEpochs(engine) || splits.wantsEpochs() ||
            tasks.wantsEpochs() ||
            linkList.stream().anyMatch(MemoryLink::isReclaiming);
    }

    /** @return true if operations may be begun at a time. */
    boolean isServing(final long nowNs)
    {
        return Step.SERVING == step && lease.isHeld(nowNs);
    }

    /** @return true if somebody waits for something that may go on at any moment. */
    boolean isBusy()
    {
        return Step.SERVING != step || desk.active() > 0 || engine.active() > 0 || !tasks.isEmpty() ||
            tables.isWaiting() || memoryLinks.areWaiting() || catalog.isBusy() || splits.isBusy();
    }

    /**
     * @param nowNs time now.
     * @return how long it need not be polled, if nothing else happens; while not {@link #isBusy()}.
     */
    long idleNs(final long nowNs)
    {
        long untilNs =
            Math.min(splits.nextAtNs(), lease.isWaiting() ? nowNs + HEARTBEAT_POLL_NS : lease.nextAtNs());
        untilNs = Math.min(Math.min(untilNs, indexReturns.nextAtNs(links)), memoryNodes.nextAtNs(nowNs));
        for (int i = 0; i < linkList.size(); i++)
        {
            untilNs = Math.min(untilNs, linkList.get(i).retryAtNs());
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
            case REGISTERING -> pollRegistering();
            case DISCOVERING -> pollDiscovering(nowNs) + pollLinks(nowNs);
            case CONNECTING -> pollConnecting(nowNs) + pollLinks(nowNs);
            case SERVING -> pollServing(nowNs);
            case LEAVING -> pollLeaving(nowNs);
            case LEFT, FAILED -> 0;
        };
        if (null != lease && Step.LEFT != step && Step.FAILED != step)
        {
            workCount += lease.poll(nowNs);
            if (!lease.isHeld(nowNs) && null == leaving)
            {
                fail("lease ran out: nodeId=" + registration().nodeId() + ", incarnation=" +
                    registration().incarnation());
            }
        }
        return workCount;
    }

    private int pollRegistering()
    {
        if (!registering.isDone())
        {
            return 0;
        }
        if (ControlStatus.OK != registering.status())
        {
            fail("cannot register at the meta server: " + registering.status() + " " + registering.failure());
            return 1;
        }
        raas.identity(registration().identity());
        openEngine();
        timeline.registered(raas.clock().nanoTime());
        LOGGER.info("compute node joined: nodeId={} incarnation={} transport to meta server={}",
            registration().nodeId(), registration().incarnation(), metaLink.transport());
        memoryNodes.poll(raas.clock().nanoTime());
        tablesCall = metaLink.client().tables("", configuration.callTimeoutNs());
        step = Step.DISCOVERING;
        return 1;
    }

    private void openEngine()
    {
        final TableEngineConfiguration engineConfiguration = new TableEngineConfiguration()
            .operationSlots(configuration.operationSlots())
            .locationCacheEntries(configuration.locationCacheEntries())
            .writerNumber(registration().writerNumber())
            .clientId(registration().nodeId())
            .initialEpoch(registration().epoch())
            .seed(random.nextLong())
            .repeatsLostOutcomes(true)
            .splitSource(splits)
            .operationListener(desk)
            .chunkSource(new LinkedChunks(links, indexReturns));
        if (null != configuration.versionClock())
        {
            engineConfiguration.versionClock(configuration.versionClock());
        }
        engine = TableEngine.open(
            raas.protectionDomain(), raas.device().attributes(), raas.clock(), engineConfiguration);
        engine.onEpoch(registration().epoch(), registration().safeEpoch());
        tables = new TableRegistry(metaLink, this::openTable, () -> catalog.news(), configuration.callTimeoutNs(),
            failures);
        desk.open(engine, tables);
        catalog = new CatalogWatch(
            metaLink, tables, configuration.callTimeoutNs(), failures, configuration.droppedGuards());
        catalog.onHeard(registration().epoch(), registration().membershipVersion());
        memoryNodes = new MemoryNodeWatch(
            metaLink, catalog, raas.clock().nanoTime(), configuration.callTimeoutNs(),
            (memoryNodeId) -> memoryLinks.add(parts, memoryNodeId), failures);
        parts = new SessionParts(
            raas, metaLink, engine,
            registration().identity(),
            new RequestNumbers(),
            catalog,
            reclaimCounters,
            () -> lease.isHeld(raas.clock().nanoTime()),
            configuration.callTimeoutNs(),
            configuration.reclaims(),
            configuration.droppedGuards());
        splits.open(parts, tables, configuration.splitsSubtables(), new MergeWatch(configuration.fillLookPauseNs()));
        lease = new LeaseKeeper(parts, registering, configuration, desk::answeredCount, this::passedEpoch,
            this::wantsEpochs);
    }

    private OpenTable openTable(final TableDescriptor descriptor)
    {
        for (int i = 0; i < descriptor.subtableCount(); i++)
        {
            memoryLinks.add(parts, DirectoryEntry.memoryNodeId(descriptor.entry(i)));
        }
        return engine.openTable(descriptor);
    }

    private int pollDiscovering(final long nowNs)
    {
        if (null != tablesCall && tablesCall.isDone())
        {
            return onTableNames(nowNs);
        }
        if (!memoryNodes.failure().isEmpty())
        {
            fail("cannot list the nodes: " + memoryNodes.failure());
            return 1;
        }
        if (!memoryNodes.hasListed())
        {
            return memoryNodes.poll(nowNs);
        }
        if (null == tablesCall)
        {
            timeline.discovered(nowNs);
            step = Step.CONNECTING;
            return 1;
        }
        return 0;
    }

    private int onTableNames(final long nowNs)
    {
        final ControlCall<TablePage> call = tablesCall;
        tablesCall = null;
        if (ControlStatus.OK != call.status())
        {
            fail("cannot list the tables: " + call.status() + " " + call.failure());
            return 1;
        }
        tableCalls = new ArrayList<>();
        for (final String name : call.result().names())
        {
            if (tableCalls.size() < MAX_TABLES_OPENED_ON_JOIN)
            {
                tableCalls.add(metaLink.client().table(name, configuration.callTimeoutNs()));
            }
        }
        return 1;
    }

    private int pollConnecting(final long nowNs)
    {
        for (final ControlCall<TableEntry> call : tableCalls)
        {
            if (!call.isDone())
            {
                return 0;
            }
        }
        for (final MemoryLink link : linkList)
        {
            if (link.isConnecting())
            {
                return 0; // one that has failed already does not hold up the join: its memory node may be gone
            }
        }
        timeline.connected(nowNs);
        tableCalls.forEach(this::openOnJoin);
        tableCalls = null;
        catalog.lookAgain();
        step = Step.SERVING;
        timeline.ready(raas.clock().nanoTime());
        return 1;
    }

    /** What cannot be opened now, because it was just dropped or is of another version, is told to who asks for it. */
    private void openOnJoin(final ControlCall<TableEntry> call)
    {
        if (ControlStatus.OK == call.status())
        {
            try
            {
                tables.open(call.result());
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
    }

    private int pollServing(final long nowNs)
    {
        return pollLinks(nowNs) + engine.poll(nowNs) + tables.poll(desk) + desk.poll() + tasks.poll(nowNs) +
            catalog.poll(nowNs) + memoryNodes.poll(nowNs) + splits.poll(nowNs) +
            indexReturns.poll(parts, links, nowNs);
    }

    private int pollLinks(final long nowNs)
    {
        int workCount = 0;
        for (int i = 0; i < linkList.size(); i++)
        {
            workCount += linkList.get(i).poll(nowNs);
            if (linkList.get(i).isRestored())
            {
                // Blocks, indexes, leases and locations that this session knows there are somebody else's now.
                fail(linkList.get(i).failure());
            }
        }
        return workCount;
    }

    /** Takes a control request that came out of the queue, QUEUED; while serving. */
    void accept(final ControlRequest request, final long nowNs)
    {
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

    private ControlTask begin(final ControlRequest request, final long nowNs)
    {
        return switch (request.kind())
        {
            case FIND_TABLE -> new FindTableTask(request, metaLink, tables, nowNs);
            case CREATE_TABLE -> new CreateTableTask(
                request, parts, tables, indexReturns, creationSlot,
                () -> linkList.stream().filter(MemoryLink::isReady).toList(),
                new LinkedChunks(links, indexReturns)::mayFindMemory, random,
                configuration.splitsSubtables() && !parts.isDropped(ReclaimGuard.WHOLE_CHUNKS), nowNs);
            case DROP_TABLE -> new DropTableTask(
                request, metaLink, tables, IndexReturns.newestLeases(linkList), this::returnIndex, nowNs);
            case LIST_TABLES -> new ListTablesTask(request, metaLink, nowNs);
            default -> throw new IllegalStateException("answered at once: " + request);
        };
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
            case SPACE -> SpaceTally.list(engine, linkList, isReclaiming(), reclaimCounters.toString());
            case SPACE_FIGURES -> SpaceTally.sum(engine, linkList, isReclaiming(), reclaimCounters);
            case SWEEP ->
            {
                reclaimCounters.sweepsAsked++;
                linkList.forEach(MemoryLink::sweepOwn);
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

    /** Begins to leave: what was begun is finished, then the meta server is told. */
    void leave()
    {
        if (Step.SERVING == step)
        {
            step = Step.LEAVING;
            tasks.leave();
            splits.leave();
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
        final boolean owesIndexes = (!indexReturns.isEmpty() || splits.isBusy()) &&
            nowNs - leavingSinceNs - INDEX_RETURN_NS < 0;
        if (0 == desk.active() && 0 == engine.active() && tasks.isEmpty() && !tables.isWaiting() && !owesIndexes)
        {
            leaving = metaLink.client().leave(
                registration().nodeId(), registration().incarnation(), configuration.callTimeoutNs());
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
        linkList.forEach(MemoryLink::close);
        metaLink.close();
        if (null != engine)
        {
            engine.close();
        }
        raas.close();
        final String why = failure.isEmpty() ? "node stopped" : failure;
        tasks.close();
        if (null != tables)
        {
            tables.close(desk);
        }
        desk.close(why);
    }
}
