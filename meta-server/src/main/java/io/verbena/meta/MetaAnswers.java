package io.verbena.meta;

import io.verbena.meta.catalog.RevokedCertificates;
import io.verbena.meta.catalog.TableCatalog;
import io.verbena.meta.catalog.UserCatalog;
import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipConductor;
import io.verbena.meta.membership.MembershipRefusedException;
import io.verbena.meta.membership.MetaLedger;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.StoredNode;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.meta.store.StoredTable;
import io.verbena.protocol.access.User;
import io.verbena.protocol.control.MetaService;
import io.verbena.protocol.control.PendingNotification;
import io.verbena.protocol.control.PendingRegistration;
import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.DeniedOperations;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.protocol.message.ForgottenNode;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.NodePage;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.protocol.message.RevocationPage;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TableName;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.message.UserPage;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewPage;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Answers control calls out of the cores, and turns their refusals into statuses. Called by the server's thread. */
final class MetaAnswers implements MetaService
{
    private static final Logger LOGGER = LoggerFactory.getLogger(MetaAnswers.class);

    private final NanoClock clock;
    private final MetaLedger ledger;
    private final MembershipConductor conductor;
    private final TableCatalog catalog;
    private final ShownTables shownTables;
    private final NodeDirectory directory;
    private final ChangeNotifier news;
    private final NodeNotifier nodeNews;
    private final RegistrationSecrets secrets;
    private final RegistrationQueue registrations;
    private final UserCatalog users;
    private final RevokedCertificates revoked;
    private final MetaAudit audit;
    private final BooleanSupplier leads;
    private final TableNumbers tableNumbers = new TableNumbers(TableNumbers.MOST);

    MetaAnswers(
        final NanoClock clock,
        final MetaLedger ledger,
        final MembershipConductor conductor,
        final TableCatalog catalog,
        final ShownTables shownTables,
        final NodeDirectory directory,
        final ChangeNotifier news,
        final NodeNotifier nodeNews,
        final RegistrationSecrets secrets,
        final RegistrationQueue registrations,
        final UserCatalog users,
        final RevokedCertificates revoked,
        final MetaAudit audit,
        final BooleanSupplier leads)
    {
        this.audit = audit;
        this.leads = leads;
        this.users = users;
        this.revoked = revoked;
        this.registrations = registrations;
        this.secrets = secrets;
        this.news = news;
        this.nodeNews = nodeNews;
        this.clock = clock;
        this.ledger = ledger;
        this.conductor = conductor;
        this.catalog = catalog;
        this.shownTables = shownTables;
        this.directory = directory;
    }

    @Override
    public void requireLeadership()
    {
        if (!leads.getAsBoolean())
        {
            throw new ControlException(ControlStatus.UNAVAILABLE,
                "this meta server does not lead its group now: ask at the cluster's address");
        }
    }

    @Override
    public void register(final NodeRegistration request, final Supplier<PendingRegistration> answer)
    {
        if (0 != request.clusterId() && ledger.counters().clusterId() != request.clusterId())
        {
            throw invalid("registration refused: the memory belongs to cluster " +
                Long.toHexString(request.clusterId()) + ", this is cluster " +
                Long.toHexString(ledger.counters().clusterId()) + "; start the node with a data folder of its own");
        }

        registrations.add(request, answer);
    }

    @Override
    public Heartbeat heartbeat(
        final int nodeId, final int incarnation, final long passedEpoch, final boolean wantsEpochs,
        final HeldSecrets held, final int memorySince, final List<PeerIdentity> left)
    {
        refuseRevoked(nodeId, incarnation);
        final Member member = answer(() -> conductor.heartbeat(nodeId, incarnation, passedEpoch, clock.nanoTime()));
        if (wantsEpochs)
        {
            conductor.wantEpoch();
        }
        conductor.views().onReturned(member.node().identity(), memorySince);
        conductor.onLeft(member.node().identity(), left);

        final List<AdmissionToken> tokens = secrets.tokens(new PeerIdentity(nodeId, incarnation), held);
        return new Heartbeat(
            conductor.epoch(), conductor.safeEpoch(), conductor.table().version(), conductor.table().leaseNs(),
            tokens, member.isCompute() ? List.of() : conductor.table().spares(),
            secrets.renewed(member, held, tokens),
            member.isCompute() ? conductor.memoryNodesToLeave() : List.of());
    }

    @Override
    public boolean mayChangeTables(final PeerIdentity identity)
    {
        final Member member = conductor.table().member(identity.nodeId());
        return null != member && member.isCompute() && member.isLive() &&
            member.incarnation() == identity.incarnation();
    }

    @Override
    public void awaitChange(final NotificationRequest request, final PendingNotification answer)
    {
        news.await(request, answer);
    }

    @Override
    public void awaitNodes(final Supplier<PendingNotification> answer)
    {
        nodeNews.await(answer);
    }

    @Override
    public void activate(final int nodeId, final int incarnation)
    {
        answer(() ->
        {
            directory.epoch(conductor.epoch());
            conductor.activate(nodeId, incarnation);
            return null;
        });
    }

    /** Leaving twice is no error: the first answer may have been lost. */
    @Override
    public void leave(final int nodeId, final int incarnation)
    {
        answer(() -> conductor.leave(nodeId, incarnation, clock.nanoTime()));
    }

    @Override
    public int allocateTableId(final int userNumber)
    {
        refuseOverQuota(userNumber);
        final int tableId = ledger.counters().nextTableId();

        if (Integer.MAX_VALUE == tableId)
        {
            throw new ControlException(ControlStatus.EXHAUSTED, "no more table numbers: last given=" + (tableId - 1) +
                "; copy the tables to a new cluster");
        }

        answer(() ->
        {
            ledger.commit(ledger.counters().withNextTableId(), new MetaBatch());
            return tableId;
        });
        tableNumbers.onGiven(tableId);
        return tableId;
    }

    /**
     * A number makes one table only, once: a request that comes again after its table was dropped must not bring back a
     * table whose memory has been returned. Numbers given out before a restart are not accepted after it.
     */
    @Override
    public void createTable(final TableEntry table, final List<PeerIdentity> members, final int userNumber)
    {
        final String problem = TableName.problem(table.name());

        if (null != problem)
        {
            throw invalid(problem);
        }

        final StoredTable present = catalog.table(table.name());

        if (null != present && present.tableId() == table.tableId())
        {
            return;
        }

        if (null != present)
        {
            throw new ControlException(ControlStatus.TABLE_EXISTS, "a table '" + table.name() + "' exists already");
        }

        if (!tableNumbers.isToCome(table.tableId()) || table.descriptor().length > TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            throw invalid("table '" + table.name() + "': tableId=" + table.tableId() + " descriptorBytes=" +
                table.descriptor().length + "; take a new number from this server, and a descriptor of at most " +
                TableEntry.MAX_DESCRIPTOR_BYTES + " bytes");
        }

        refuseOverQuota(userNumber);
        refuseOtherMembers(members);
        final StoredTable created = new StoredTable(table.name(), table.tableId(), table.descriptor());
        answer(() -> catalog.createIfAbsent(created));
        shownTables.show(created);
        tableNumbers.onUsed(table.tableId());
    }

    /** For a user that was removed meanwhile what it began is finished, as always. */
    private void refuseOverQuota(final int userNumber)
    {
        final User user = 0 == userNumber ? null : users.user(userNumber);
        final int most = null == user ? 0 : user.quota().tables();

        if (most > 0 && catalog.tables().stream().filter((table) -> user.administers(table.name())).count() >= most)
        {
            throw new ControlException(ControlStatus.OVER_QUOTA, "user " + user.name() + " has a quota of " + most +
                " tables, and there are as many that it may drop: drop one");
        }
    }

    /**
     * A memory node that restores a checkpoint registers first, and asks for the tables then: what is made known later
     * by those who knew the memory before would name what is not there. So would what is made known by a compute node
     * that was declared dead: others return what it had leased.
     */
    private void refuseOtherMembers(final List<PeerIdentity> members)
    {
        for (final PeerIdentity known : members)
        {
            final Member present = conductor.table().member(known.nodeId());

            if (null != present && present.isCompute() && !present.isLive())
            {
                throw new ControlException(ControlStatus.UNAVAILABLE,
                    "compute node " + known + " was declared dead, and its memory is being reclaimed: try again");
            }

            if (null != present && StoredNodeState.FORGOTTEN == present.node().state())
            {
                throw new ControlException(
                    ControlStatus.UNAVAILABLE, "memory node " + known.nodeId() + " was forgotten: try again");
            }

            if (null == present || present.incarnation() != known.incarnation())
            {
                throw new ControlException(ControlStatus.UNAVAILABLE,
                    (null != present && present.isCompute() ? "compute" : "memory") + " node " + known.nodeId() +
                    (null == present ? " is not a member any more" : " is incarnation " + present.incarnation() +
                    " by now") + ", not " + known.incarnation() + ", and its memory may be another one: try again");
            }
        }
    }

    @Override
    public TableEntry table(final String name)
    {
        return entry(name, catalog.table(name));
    }

    @Override
    public TablePage tables(final String afterName)
    {
        final List<String> names = catalog.tables().stream()
            .map(StoredTable::name)
            .filter((name) -> name.compareTo(afterName) > 0)
            .toList();
        return new TablePage(names, false);
    }

    /** Every node hears of a new version with its next heartbeat, looks which tables are gone, and closes them. */
    @Override
    public TableEntry dropTable(final String name)
    {
        return entry(name, answer(() ->
        {
            final StoredTable dropped = catalog.drop(
                name, (batch) -> ledger.commit(ledger.counters().withNextMembershipVersion(), batch));
            shownTables.hide(name);
            return dropped;
        }));
    }

    /** As {@link #dropTable}, but not a table that got the name since the caller asked for it. */
    @Override
    public void dropThisTable(final TableEntry table)
    {
        final StoredTable present = catalog.table(table.name());

        if (null == present || present.tableId() != table.tableId())
        {
            throw new ControlException(ControlStatus.NO_SUCH_TABLE, "no table '" + table.name() + "' any more");
        }

        dropTable(table.name());
    }

    @Override
    public ForgottenNode forgetNode(final int nodeId, final boolean isWanted)
    {
        final boolean isNew = isWanted && answer(() -> conductor.forgetMemory(nodeId));
        final StoredNode node = answer(() -> conductor.table().forgettable(nodeId)).node();
        final long lengthBytes = node.record().region().lengthBytes();

        if (isNew)
        {
            LOGGER.warn("memory node {} incarnation {} was forgotten with {} bytes of memory: an operator asked for it",
                nodeId, node.incarnation(), lengthBytes);
        }

        return new ForgottenNode(
            nodeId, node.incarnation(), lengthBytes, StoredNodeState.FORGOTTEN == node.state());
    }

    /**
     * Every node hears of a new version with its next heartbeat, and asks for the descriptor before it passes that
     * epoch: then nobody begins anything on memory that is not named any more.
     */
    @Override
    public void growTable(
        final TableEntry table, final long expectedChecksum, final List<PeerIdentity> memoryNodes)
    {
        final StoredTable present = catalog.table(table.name());

        if (null == present || present.tableId() != table.tableId())
        {
            throw new ControlException(ControlStatus.NO_SUCH_TABLE, "no table '" + table.name() + "' any more");
        }
        if (table.descriptor().length > TableEntry.MAX_DESCRIPTOR_BYTES || table.descriptor().length < Long.BYTES)
        {
            throw invalid("table '" + table.name() + "': descriptorBytes=" + table.descriptor().length);
        }

        if (expectedChecksum != checksum(present.descriptor()))
        {
            throw new ControlException(
                ControlStatus.UNAVAILABLE, "table '" + table.name() + "' has another descriptor by now; ask again");
        }
        refuseOtherMembers(memoryNodes);
        answer(() ->
        {
            final StoredTable grown = new StoredTable(table.name(), table.tableId(), table.descriptor());
            catalog.replace(
                grown, (batch) -> ledger.commit(ledger.counters().withNextMembershipVersion(), batch));
            shownTables.show(grown);
            return null;
        });
    }

    @Override
    public UserPage users(final String afterName, final long knownVersion)
    {
        final long version = users.rules().version();
        if (version == knownVersion && afterName.isEmpty())
        {
            return new UserPage(version, true, List.of(), false);
        }
        return new UserPage(version, false,
            users.users().stream().filter((user) -> user.name().compareTo(afterName) > 0).toList(), false);
    }

    @Override
    public User putUser(final User user)
    {
        final User present = users.user(user.name());
        if (user.revision() != (null == present ? 0 : present.revision()))
        {
            throw new ControlException(ControlStatus.UNAVAILABLE, "user '" + user.name() + (null == present ?
                "' is not there any more" : 0 == user.revision() ?
                "' is there already" : "' was changed by somebody else meanwhile") + ": look, and try again");
        }
        if (null == present && null == user.verifier())
        {
            throw invalid("user '" + user.name() + "' is new and has no secret");
        }
        final User changed = answer(() -> users.put(user));
        if (null == changed)
        {
            throw new ControlException(ControlStatus.EXHAUSTED, "there are " + User.MAX_USERS +
                " users already, no more are possible: remove one");
        }
        return changed.withoutVerifier();
    }

    @Override
    public void removeUser(final String name)
    {
        if (!answer(() -> users.remove(name)))
        {
            throw invalid("there is no user '" + name + "'");
        }
    }

    @Override
    public RevocationPage revocations(final RevokedCertificate after)
    {
        return new RevocationPage(revoked.after(after), false);
    }

    @Override
    public void revoke(final RevokedCertificate certificate, final boolean isRevoked)
    {
        if (isRevoked && revoked.isFull())
        {
            throw new ControlException(ControlStatus.EXHAUSTED, "there are " + RevokedCertificate.MAX_REVOKED +
                " revoked certificates already, no more are possible: restore some that have expired");
        }
        if (!answer(() -> revoked.change(certificate, isRevoked)))
        {
            throw invalid("certificate " + certificate.digits() + (isRevoked ? " was revoked before" :
                " was not revoked"));
        }
        users.revoked(revoked.numbers());
    }

    @Override
    public boolean isRevoked(final int certificate)
    {
        return secrets.isRevoked(certificate);
    }

    /** Its lease ends then; its keys go with that, as those of a node that is not heard of. */
    private void refuseRevoked(final int nodeId, final int incarnation)
    {
        final Member member = conductor.table().member(nodeId);
        if (null != member && member.incarnation() == incarnation && secrets.isRevoked(member.node().certificate()))
        {
            throw new ControlException(ControlStatus.UNKNOWN_NODE, "the certificate by which node " + nodeId +
                " joined was revoked: give it another one");
        }
    }

    @Override
    public void onChanged(final PeerIdentity caller, final String method, final String subject)
    {
        audit.record(method, caller.toString(), subject);
    }

    @Override
    public void onDenied(final PeerIdentity node, final List<DeniedOperations> denied)
    {
        denied.forEach((each) -> audit.record(MetaAudit.DENIED, each.who(),
            each.what() + ", " + each.times() + (1 == each.times() ? " time, by " : " times, by ") + node));
    }

    @Override
    public void onForbidden(final PeerIdentity caller, final String why)
    {
        audit.record(AuditedMembers.REFUSED, caller.toString(), why);
    }

    @Override
    public boolean isGuarded()
    {
        return secrets.isGuarded();
    }

    @Override
    public boolean bindsRoles()
    {
        return secrets.bindsRoles();
    }

    @Override
    public ViewPage views(final PeerIdentity node, final List<LeftView> left, final int afterGroup)
    {
        conductor.views().onLeft(node, left);
        return new ViewPage(
            conductor.views().views().stream().filter((view) -> view.group() > afterGroup).toList(), false);
    }

    @Override
    public void onReconciled(final PeerIdentity node, final ViewAttempt attempt, final boolean areEqual)
    {
        answer(() ->
        {
            conductor.views().onReconciled(node, attempt, areEqual);
            return null;
        });
    }

    @Override
    public void onRestored(final PeerIdentity memoryNode, final List<RestoredGroup> restored)
    {
        conductor.views().returning().onRestored(memoryNode, restored);
    }

    @Override
    public void onFill(final PeerIdentity node, final FillProgress progress)
    {
        conductor.views().fillReports().onReport(node, progress);
    }

    @Override
    public List<FillProgress> fills()
    {
        return conductor.views().fillReports().all();
    }

    @Override
    public View makeGroup(final List<Integer> nodeIds)
    {
        return answer(() -> conductor.views().make(nodeIds));
    }

    @Override
    public View enterGroup(final int group, final int nodeId)
    {
        return answer(() -> conductor.views().enter(group, nodeId));
    }

    private static long checksum(final byte[] descriptor)
    {
        return descriptor.length < Long.BYTES ? 0 :
            ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN).getLong(descriptor.length - Long.BYTES);
    }

    @Override
    public NodePage nodes(final int afterNodeId)
    {
        return NodeDirectory.nodes(conductor.table(), conductor.epoch(), afterNodeId);
    }

    @Override
    public FailureDomainPage failureDomains(final int afterNodeId)
    {
        return NodeDirectory.failureDomains(conductor.table(), afterNodeId);
    }

    /** The view shows what an action has changed before anybody hears of it. */
    private <T> T answer(final Supplier<T> action)
    {
        try
        {
            final T result = action.get();
            directory.membershipVersion(conductor.table().version());
            return result;
        }
        catch (final MembershipRefusedException ex)
        {
            throw MembershipRefusals.of(ex);
        }
    }

    private static TableEntry entry(final String name, final StoredTable table)
    {
        if (null == table)
        {
            throw new ControlException(ControlStatus.NO_SUCH_TABLE, "no table '" + name + "'");
        }
        return new TableEntry(table.name(), table.tableId(), table.descriptor());
    }

    private static ControlException invalid(final String message)
    {
        return new ControlException(ControlStatus.INVALID_REQUEST, message);
    }
}
