package io.verbena.protocol.control;

import io.verbena.protocol.access.User;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.protocol.message.ForgottenNode;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.NodePage;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.message.UserPage;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewPage;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Remembers what it was asked, and answers from memory. */
final class RecordingMetaService implements MetaService
{
    static final Registration REGISTRATION = new Registration(
        7, 2, 513, 42, 40, 3, 1_000_000, 99,
        new RegistrationSecret(1, IdentitySecret.random(new SecureRandom()), null), List.of(), List.of());

    static final long RETRY_DELAY_NS = 7_000_000;

    boolean mayChangeTables = true;
    final List<String> asked = new ArrayList<>();
    final List<View> views = new ArrayList<>();
    final List<FailureDomain> domains = new ArrayList<>();
    final List<PendingNotification> awaited = new ArrayList<>();
    final List<PeerRecord> nodes = new ArrayList<>();
    private final TreeMap<String, TableEntry> tables = new TreeMap<>();
    PendingRegistration registering;
    boolean isBroken;
    boolean isFull;
    boolean isGuarded;
    final List<String> changed = new ArrayList<>();
    private final TreeMap<String, User> users = new TreeMap<>();
    private int lastTableId;

    @Override
    public void register(final NodeRegistration request, final Supplier<PendingRegistration> answer)
    {
        asked.add("register " + request);
        if (isFull)
        {
            throw new ControlException(ControlStatus.UNAVAILABLE, "later", RETRY_DELAY_NS);
        }
        registering = answer.get();
    }

    @Override
    public Heartbeat heartbeat(
        final int nodeId, final int incarnation, final long passedEpoch, final boolean wantsEpochs,
        final HeldSecrets held, final int memorySince, final List<PeerIdentity> left)
    {
        asked.add("heartbeat " + nodeId + ' ' + incarnation + ' ' + passedEpoch + (wantsEpochs ? " wants epochs" : "") +
            (0 == memorySince ? "" : " memory since " + memorySince) + (left.isEmpty() ? "" : " left " + left));
        return new Heartbeat(42, 41, 3, 9, List.of(), List.of());
    }

    @Override
    public boolean mayChangeTables(final PeerIdentity identity)
    {
        return mayChangeTables;
    }

    @Override
    public void awaitChange(final NotificationRequest request, final PendingNotification answer)
    {
        asked.add(request.toString());
        awaited.add(answer);
    }

    @Override
    public void awaitNodes(final Supplier<PendingNotification> answer)
    {
        asked.add("awaitNodes");
        awaited.add(answer.get());
    }

    @Override
    public void activate(final int nodeId, final int incarnation)
    {
        asked.add("activate " + nodeId + ' ' + incarnation);
    }

    @Override
    public void leave(final int nodeId, final int incarnation)
    {
        asked.add("leave " + nodeId + ' ' + incarnation);
    }

    @Override
    public int allocateTableId(final int userNumber)
    {
        if (isBroken)
        {
            throw new IllegalStateException("disk on fire");
        }
        if (0 != userNumber)
        {
            asked.add("number for " + userNumber);
        }
        return ++lastTableId;
    }

    @Override
    public void createTable(final TableEntry table, final List<PeerIdentity> memoryNodes, final int userNumber)
    {
        asked.add("create " + table.name() + " on " + memoryNodes + (0 == userNumber ? "" : " for " + userNumber));
        if (tables.putIfAbsent(table.name(), table) != null)
        {
            throw new ControlException(ControlStatus.TABLE_EXISTS, "table " + table.name() + " exists");
        }
    }

    @Override
    public TableEntry table(final String name)
    {
        return require(name, tables.get(name));
    }

    @Override
    public TablePage tables(final String afterName)
    {
        return new TablePage(List.copyOf(tables.tailMap(afterName, false).keySet()), false);
    }

    @Override
    public TableEntry dropTable(final String name)
    {
        return require(name, tables.remove(name));
    }

    @Override
    public void dropThisTable(final TableEntry table)
    {
        final TableEntry present = require(table.name(), tables.get(table.name()));
        if (present.tableId() != table.tableId())
        {
            require(table.name(), null);
        }
        tables.remove(table.name());
    }

    @Override
    public ForgottenNode forgetNode(final int nodeId, final boolean isWanted)
    {
        asked.add("forget " + nodeId + ' ' + isWanted);
        return new ForgottenNode(nodeId, 9, 1L << 40, isWanted);
    }

    @Override
    public UserPage users(final String afterName, final long knownVersion)
    {
        return new UserPage(7, 7 == knownVersion, 7 == knownVersion ? List.of() :
            List.copyOf(users.tailMap(afterName, false).values()), false);
    }

    @Override
    public User putUser(final User user)
    {
        users.put(user.name(), user);
        return user.withoutVerifier();
    }

    @Override
    public void removeUser(final String name)
    {
        users.remove(name);
    }

    @Override
    public void onChanged(final PeerIdentity caller, final String method, final String subject)
    {
        changed.add(method + " by " + caller + ": " + subject);
    }

    @Override
    public void onForbidden(final PeerIdentity caller, final String why)
    {
        changed.add("refused " + caller + ": " + why);
    }

    @Override
    public boolean isGuarded()
    {
        return isGuarded;
    }

    @Override
    public void growTable(
        final TableEntry table, final long expectedChecksum, final List<PeerIdentity> memoryNodes)
    {
        require(table.name(), tables.get(table.name()));
        tables.put(table.name(), table);
        asked.add("grow " + table.name() + " from " + expectedChecksum + " on " + memoryNodes);
    }

    @Override
    public ViewPage views(final PeerIdentity node, final List<LeftView> left, final int afterGroup)
    {
        asked.add("views behind " + afterGroup + " by " + node + ", left " + left);
        return new ViewPage(views.stream().filter((view) -> view.group() > afterGroup).toList(), false);
    }

    @Override
    public void onReconciled(final PeerIdentity node, final ViewAttempt attempt, final boolean areEqual)
    {
        asked.add(attempt + " equal=" + areEqual + " by " + node);
    }

    @Override
    public void onRestored(final PeerIdentity memoryNode, final List<RestoredGroup> restored)
    {
        asked.add(restored + " restored by " + memoryNode);
    }

    @Override
    public void onFill(final PeerIdentity node, final FillProgress progress)
    {
        asked.add(progress + " by " + node);
    }

    @Override
    public List<FillProgress> fills()
    {
        return List.of(new FillProgress(new ViewAttempt(7, 1, 1), 1, 2, 3, 4, 1, 5));
    }

    @Override
    public View makeGroup(final List<Integer> nodeIds)
    {
        return View.first(7, nodeIds.stream().map((id) -> new PeerIdentity(id, 1)).toList());
    }

    @Override
    public View enterGroup(final int group, final int nodeId)
    {
        return View.first(group, List.of(new PeerIdentity(1, 1), new PeerIdentity(2, 1)))
            .filling(new PeerIdentity(nodeId, 1), new PeerIdentity(3, 1));
    }

    @Override
    public FailureDomainPage failureDomains(final int afterNodeId)
    {
        return new FailureDomainPage(
            domains.stream().filter((domain) -> domain.nodeId() > afterNodeId).toList(), false);
    }

    @Override
    public NodePage nodes(final int afterNodeId)
    {
        return new NodePage(1, nodes.stream().filter(node -> node.nodeId() > afterNodeId).toList(), false);
    }

    private static TableEntry require(final String name, final TableEntry table)
    {
        if (table == null)
        {
            throw new ControlException(ControlStatus.NO_SUCH_TABLE, "no table " + name);
        }
        return table;
    }
}
