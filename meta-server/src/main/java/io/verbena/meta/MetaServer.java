package io.verbena.meta;

import io.verbena.meta.catalog.RevokedCertificates;
import io.verbena.meta.catalog.TableCatalog;
import io.verbena.meta.catalog.UserCatalog;
import io.verbena.meta.membership.ConductorOptions;
import io.verbena.meta.membership.GroupFiller;
import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipConductor;
import io.verbena.meta.membership.MembershipOptions;
import io.verbena.meta.membership.MetaLedger;
import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.StoredNode;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.meta.store.StoredSecrets;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.control.MetaDispatcher;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.View;
import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RpcServer;
import io.verbena.raas.directory.DirectoryView;
import io.verbena.raas.failure.PeerFailures;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.IdentityVerifier;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.BitUtil;
import org.agrona.CloseHelper;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * The meta server as an agent: one thread calls {@link #doWork()} and everything else here, except what says
 * otherwise. Ready when {@link #open} returns. Anyone may connect; a connection grants calls and READ access to the
 * directory view.
 */
public final class MetaServer implements Agent, AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(MetaServer.class);
    private static final int VIEW_SLOTS_PER_NODE = 4;
    /** For numbers of requests to connect within one epoch. */
    private static final int NONCE_BITS = 24;

    private final MetaServerConfiguration configuration;
    private final Device device;
    private final NanoClock clock;
    private final PeerFailures failures;
    private final RaasContext raas;
    private final MemoryRegion viewRegion;
    private final DirectoryView view;
    private final NodeDirectory directory;
    private final MetaLedger ledger;
    private final MembershipConductor conductor;
    private final GroupFiller filler;
    private final TableCatalog catalog;
    private final UserCatalog users;
    private final ChangeNotifier news;
    private final NodeNotifier nodeNews;
    private final SecretRounds rounds;
    private final RegistrationSecrets secrets;
    private final MetaAnswers answers;
    private final MemoryNodeCalls memoryNodeCalls;
    private final LinkPlaces places;
    private final RpcServer server;
    private final MetaDispatcher dispatcher;
    private final RegistrationQueue registrations;
    private DurableWriteError halted;
    private long auditedProofs;
    private boolean closed;

    private MetaServer(
        final Device device,
        final MetaStore store,
        final MetaState state,
        final MetaServerConfiguration configuration,
        final ConductorOptions conductorOptions,
        final RaasContext raas,
        final LinkPlaces places,
        final MemoryRegion viewRegion,
        final PeerFailures failures)
    {
        this.failures = failures;
        this.places = places;
        this.configuration = configuration;
        this.device = device;
        this.raas = raas;
        this.viewRegion = viewRegion;
        clock = device.clock();
        view = new DirectoryView(viewRegion, viewCapacity(configuration), configuration.viewTableBytes());

        directory = new NodeDirectory(view, configuration.isWarmUp());
        final StoredSecrets secret = null != state.secret() ? state.secret() :
            StoredSecrets.first(IdentitySecret.random(device.random()), configuration.wallClock().time());
        ledger = MembershipConductor.openLedger(
            store, state, device.random().nextLong(1, Long.MAX_VALUE), secret);
        conductor = new MembershipConductor(ledger, state, conductorOptions,
            new AuditedMembers(directory, configuration.audit()), clock.nanoTime());
        filler = new GroupFiller(conductor.views(), conductor.table(), configuration.fillAfterNs());
        catalog = new TableCatalog(store, state.tables());
        users = new UserCatalog(ledger, state.users(), configuration.clusterSecret());
        final RevokedCertificates revoked = new RevokedCertificates(ledger, state.revoked());
        users.revoked(revoked.numbers());
        final ShownTables shownTables = new ShownTables(view, catalog);
        news = new ChangeNotifier(conductor, directory);
        nodeNews = new NodeNotifier(directory);
        rounds = new SecretRounds(ledger, conductor.table(), secret, configuration.secretLifetimeNs(),
            device.random(), configuration.wallClock(), clock.nanoTime());
        secrets = new RegistrationSecrets(
            rounds, conductor.table(), users::rules, configuration.clusterSecret(), configuration.bindsRoles(),
            revoked::has);
        registrations = new RegistrationQueue(clock, conductor, directory, secrets,
            ledger.counters().clusterId(), configuration.maxWaitingRegistrations(),
            configuration.spareIdentities(), failures);
        answers = new MetaAnswers(clock, ledger, conductor, catalog, shownTables, directory, news, nodeNews, secrets,
            registrations, users, revoked, configuration.audit(), configuration.leads());
        // Every start begins with a later epoch: so numbers of requests to connect go on growing.
        raas.identity(PeerIdentity.META_SERVER, conductor.epoch() << NONCE_BITS | 1, secrets::towards);
        memoryNodeCalls = new MemoryNodeCalls(
            raas, conductor.table(), conductor.views()::onConfirmed, conductor.views()::onProbed,
            configuration.fenceTimeoutNs());
        directory.epoch(conductor.epoch());
        conductor.table().members().stream().filter((member) -> member.isLive() && !member.isPossible())
            .forEach(directory::publish);

        directory.membershipVersion(conductor.table().version());
        places.open(() -> Admission.accept(AccessFlags.REMOTE_READ, view.privateData(), viewRegion));
        dispatcher = new MetaDispatcher(answers);
        server = raas.serve(MetaServerConfiguration.SERVICE_PORT, places,
            IdentityVerifier.of(secrets::of, secrets::before), dispatcher);
        places.count(server::clientConnections, server::connections);
    }

    /**
     * Starts a meta server where the store's last user left off: tables and nodes are as they were, live nodes get a
     * whole lease to be heard of again.
     *
     * @param device        to listen on; the caller closes it later.
     * @param store         open and used by nobody else; the caller closes it later.
     * @param configuration read now.
     * @return the server, ready, closed by the caller.
     * @throws MetaStoreException when the store's content cannot be used; nothing is left open then.
     */
    public static MetaServer open(
        final Device device, final MetaStore store, final MetaServerConfiguration configuration)
    {
        final PeerFailures failures = new PeerFailures(LOGGER::error, device.clock());
        final ConductorOptions conductorOptions = options(configuration);
        final MetaState state = store.load();
        final LinkPlaces places = new LinkPlaces(configuration, device.attributes());
        final RaasContext raas = RaasContext.open(device, places.configure(configuration, device.attributes())
            .errorHandler(failures));
        MemoryRegion viewRegion = null;

        try
        {
            viewRegion = raas.protectionDomain().allocateRegistered(
                DirectoryView.regionLengthBytes(viewCapacity(configuration), configuration.viewTableBytes()),
                AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
            final MetaServer server = new MetaServer(
                device, store, state, configuration, conductorOptions, raas, places, viewRegion, failures);
            if (!configuration.isWarmUp())
            {
                LOGGER.info("meta server ready: address={} {}", server.address(), server.stat());
            }
            return server;
        }
        catch (final RuntimeException | DurableWriteError ex)
        {
            CloseHelper.quietClose(viewRegion);
            CloseHelper.quietClose(raas);
            throw ex;
        }
    }

    /** @return what nodes and clients connect to. Any thread. */
    public PeerAddress address()
    {
        return new PeerAddress(device.address(), MetaServerConfiguration.SERVICE_PORT, 0, 0);
    }

    /**
     * @throws DurableWriteError when the store failed: the server halts, answers nobody any more, and is closed.
     */
    @Override
    public int doWork()
    {
        if (null != halted)
        {
            throw halted;
        }

        try
        {
            return work();
        }
        catch (final DurableWriteError ex)
        {
            halted = ex;
            throw ex;
        }
    }

    private int work()
    {
        // Requests first: a heartbeat that waited while this thread was away must count before leases are looked at.
        int workCount = raas.poll();
        final long nowNs = clock.nanoTime();
        if (!configuration.leads().getAsBoolean())
        {
            return workCount;
        }
        // Clients send operations to a node that was activated as soon as they hear of it.
        workCount += nodeNews.poll();
        workCount += registrations.poll(0 == workCount, nowNs);
        workCount += memoryNodeCalls.poll(nowNs);
        workCount += conductor.doWork(nowNs, memoryNodeCalls);
        workCount += conductor.views().doWork(nowNs, memoryNodeCalls);
        workCount += filler.poll(nowNs);
        workCount += rounds.poll(nowNs);
        recordRefusedProofs();
        // Before anybody hears of a version.
        directory.membershipVersion(conductor.table().version());
        return workCount + nodeNews.poll() + news.poll(nowNs);
    }

    private void recordRefusedProofs()
    {
        if (auditedProofs != server.refusedProofs())
        {
            auditedProofs = server.refusedProofs();
            configuration.audit().record(AuditedMembers.REFUSED, "", server.lastRefusedProof());
        }
    }

    /** @return how long nothing is due by the clock; 0 when that is not known. What arrives comes besides. */
    public long idleNs()
    {
        final long nowNs = clock.nanoTime();
        return raas.isWaiting() || nodeNews.isBusy() || registrations.isBusy() ? 0 :
            Math.min(news.idleNs(nowNs), conductor.idleNs(nowNs));
    }

    @Override
    public String roleName()
    {
        return "meta-server";
    }

    /**
     * @param identity of a registration.
     * @return whether it counts: it has a lease, or some memory node may still let it in.
     */
    public boolean isKnown(final PeerIdentity identity)
    {
        final Member member = conductor.table().member(identity.nodeId());
        return null != member && member.incarnation() == identity.incarnation();
    }

    /** @return the users as they are now, and what they may do. Any thread. */
    public AccessRules access()
    {
        return users.rules();
    }

    /**
     * @param incarnation of {@link PeerIdentity#joining}.
     * @return what proves here that the handshake has seen the certificate; null: it is revoked. Any thread.
     */
    public IdentitySecret joiningSecret(final int incarnation)
    {
        return secrets.joining(incarnation);
    }

    /** @return the round of the secrets of registrations. */
    public int secretRound()
    {
        return rounds.round();
    }

    /** @return clients connected now. */
    public int clients()
    {
        return places.clients();
    }

    /** @return connections refused so far, for want of room. */
    public long refusedConnections()
    {
        return server.refusals();
    }

    /** @return connections and requests refused so far because they claimed an identity that is not theirs. */
    public long refusedIdentities()
    {
        return server.refusedProofs() + dispatcher.forbiddenRequests();
    }

    /** @return nodes that wait to be registered. */
    public int waitingRegistrations()
    {
        return registrations.size();
    }

    /** @return identities on disk for compute nodes that may come. */
    public int spareIdentities()
    {
        return conductor.table().spares().size();
    }

    /** @return identities that an earlier server may have assigned, and which count until their leases are over. */
    public int possibleIdentities()
    {
        return (int)conductor.table().members().stream().filter(Member::isPossible).count();
    }

    /**
     * Gives the spare identities back, before an orderly {@link #close}: who starts next need not wait until they could
     * have no lease any more. Nothing may be asked of the server after this but to close.
     */
    public void releaseSpares()
    {
        if (null == halted)
        {
            try
            {
                registrations.releaseSpares();
            }
            catch (final DurableWriteError ex)
            {
                LOGGER.warn("spare identities stay reserved: {}", ex.getMessage());
            }
        }
    }

    /** @return registrations refused so far, with a time to ask again, because too many waited. */
    public long refusedRegistrations()
    {
        return registrations.refused();
    }

    /** @return requests so far that met an error of this server's code, and failed alone. Any thread. */
    public long failedRequests()
    {
        return failures.requestCount();
    }

    /** @return its physical connections by what carries them; a new map. */
    public RaasContext.Transports transports()
    {
        return raas.transports();
    }

    /** @return its limits with what is used of each; a new list, of the same limits in the same order each time. */
    public List<RaasLimit> limits()
    {
        final List<RaasLimit> limits = new ArrayList<>(places.limits());
        limits.addAll(conductor.table().limits());
        limits.add(registrations.limit());
        limits.addAll(raas.limits());
        return limits;
    }

    /** @return what it has to say of itself now. */
    public MetaServerStat stat()
    {
        return new MetaServerStat(
            ledger.counters().clusterId(),
            conductor.epoch(),
            conductor.safeEpoch(),
            conductor.table().version(),
            count(false, StoredNodeState.LIVE),
            count(false, StoredNodeState.LOST),
            count(true, StoredNodeState.LIVE),
            count(true, StoredNodeState.STANDBY),
            count(true, StoredNodeState.FENCING),
            catalog.tables().size());
    }

    /**
     * Lists the nodes it knows now, without {@link #possibleIdentities()}.
     *
     * @return in the order of their ids, each with how long its lease lasts if nothing is heard of it, in nanoseconds;
     *         0 where it has none. A copy.
     */
    public Map<StoredNode, Long> leasesLeftNs()
    {
        final long nowNs = clock.nanoTime();
        final Map<StoredNode, Long> leasesLeftNs = new LinkedHashMap<>();
        conductor.table().members().stream().filter((member) -> !member.isPossible())
            .sorted(Comparator.comparingInt(Member::nodeId)).forEach((member) -> leasesLeftNs.put(
                member.node(), member.isLive() ? Math.max(0, member.leaseEndsNs() - nowNs) : 0));
        return leasesLeftNs;
    }

    /** @return the latest view of each group of memory nodes; a new list. */
    public List<View> views()
    {
        return conductor.views().views();
    }

    /** @return how far memory nodes are filled that are to come into groups, as was reported last; a new list. */
    public List<FillProgress> fills()
    {
        return conductor.views().fillReports().all();
    }

    /**
     * Has a memory node come into a group, as an operator's request does; by the agent's thread.
     *
     * @param group  whose tables lack a copy.
     * @param nodeId of a memory node that is no member.
     * @return the record, with that memory node.
     * @throws io.verbena.meta.membership.MembershipRefusedException when it cannot now, with the reason.
     */
    public View enterGroup(final int group, final int nodeId)
    {
        return conductor.views().enter(group, nodeId);
    }

    /**
     * @param group of memory nodes.
     * @return why it stays closed, when all its members are lost; else empty.
     */
    public String whyClosed(final int group)
    {
        return conductor.views().whyClosed(group);
    }

    /** @return whether any node has a lease now. */
    public boolean hasLease()
    {
        final long nowNs = clock.nanoTime();
        return conductor.table().members().stream()
            .anyMatch((member) -> !member.isPossible() && member.isLive() && member.leaseEndsNs() - nowNs > 0);
    }

    /** @return requests so far of nodes, and of who becomes one. */
    public long nodeRequests()
    {
        return dispatcher.nodeRequests();
    }

    /** @return the epoch that each compute node has passed, by its id: the least of them holds memory back. A copy. */
    public SortedMap<Integer, Long> passedEpochs()
    {
        return conductor.passedEpochs();
    }

    /** Closes connections and memory; nodes find it gone. What it knew is in the store. Idempotent; when
     * it fails, it can be tried again. */
    @Override
    public void close()
    {
        if (!closed)
        {
            memoryNodeCalls.close();
            server.close();
            view.close();
            viewRegion.close();
            raas.close();
            closed = true;
        }
    }

    @Override
    public void onClose()
    {
        close();
    }

    private int count(final boolean isCompute, final StoredNodeState state)
    {
        int count = 0;

        for (final Member member : conductor.table().members())
        {
            final boolean isKind = member.isCompute() == isCompute && !member.isPossible();
            count += isKind && member.node().state() == state ? 1 : 0;
        }

        return count;
    }

    private static int viewCapacity(final MetaServerConfiguration configuration)
    {
        return BitUtil.findNextPositivePowerOfTwo(VIEW_SLOTS_PER_NODE * configuration.maxNodes());
    }

    private static ConductorOptions options(final MetaServerConfiguration configuration)
    {
        return new ConductorOptions(
            new MembershipOptions(configuration.leaseNs(), configuration.leaseMarginNs(), configuration.maxNodes()),
            configuration.epochIntervalNs(),
            Math.max(configuration.epochIntervalNs(), configuration.idleEpochIntervalNs()),
            configuration.fenceRetryNs(),
            configuration.previousNodesAreGone());
    }
}
