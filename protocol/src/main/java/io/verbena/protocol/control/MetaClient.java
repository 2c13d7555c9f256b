package io.verbena.protocol.control;

import io.verbena.protocol.access.User;
import io.verbena.protocol.message.DeniedOperations;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.protocol.message.ForgottenNode;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.NodePage;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.RevocationPage;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.message.UserPage;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.FailureDomainPageDescriptor;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.FillProgressDescriptor;
import io.verbena.protocol.view.GroupDescriptor;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.LeftViewsDescriptor;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.RestoredGroupsDescriptor;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewAttemptDescriptor;
import io.verbena.protocol.view.ViewDescriptor;
import io.verbena.protocol.view.ViewPage;
import io.verbena.protocol.view.ViewPageDescriptor;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

/**
 * Asks a meta server. Each method returns at once with a {@link ControlCall} that ends, inside
 * {@link RaasContext#poll()}, by the timeout at the latest. Belongs to the owner thread of the context.
 */
public final class MetaClient
{
    private final ControlProxy proxy;

    /**
     * @param context over which to call.
     * @param vqp     connected or connecting to the meta server; the caller closes it.
     */
    public MetaClient(final RaasContext context, final VirtualQp vqp)
    {
        proxy = new ControlProxy(context, vqp);
    }

    /**
     * Reports which views this compute node has left, and asks for the views of all groups; see
     * {@link MetaService#views}.
     *
     * @param left       at most {@link LeftViewsDescriptor#MAX_VIEWS}.
     * @param afterGroup groups with greater numbers than this; 0 for the first page.
     * @param timeoutNs  deadline.
     * @return the call.
     */
    public ControlCall<ViewPage> views(final List<LeftView> left, final int afterGroup, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.VIEWS,
            (buffer, offset) ->
                ControlProxy.encode(buffer, offset, (at) -> LeftViewsDescriptor.encode(left, afterGroup, buffer, at)),
            ControlProxy.body(ViewPageDescriptor::decode),
            timeoutNs);
    }

    /**
     * Reports what became of an attempt to make copies equal; see {@link MetaService#onReconciled}.
     *
     * @param attempt   for which this node was named.
     * @param areEqual  whether the copies are equal.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<Void> reportReconciled(
        final ViewAttempt attempt, final boolean areEqual, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.REPORT_RECONCILED,
            (buffer, offset) -> ControlProxy.encode(
                buffer, offset, (at) -> ViewAttemptDescriptor.encode(attempt, areEqual, buffer, at)),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Reports what this memory node has restored; see {@link MetaService#onRestored}.
     *
     * @param memoryNode its present registration.
     * @param restored   of each group that it was a member of with the memory that is gone; at most
     *                   {@link RestoredGroupsDescriptor#MAX_ENTRIES}.
     * @param timeoutNs  deadline.
     * @return the call.
     */
    public ControlCall<Void> reportRestored(
        final PeerIdentity memoryNode, final List<RestoredGroup> restored, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.REPORT_RESTORED,
            (buffer, offset) -> ControlProxy.encode(
                buffer, offset, (at) -> RestoredGroupsDescriptor.encode(memoryNode, restored, buffer, at)),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Reports how far a memory node is filled; see {@link MetaService#onFill}.
     *
     * @param progress  of the attempt for which this node was named.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<Void> reportFill(final FillProgress progress, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.REPORT_FILL,
            (buffer, offset) -> ControlProxy.encode(
                buffer, offset, (at) -> FillProgressDescriptor.encode(List.of(progress), buffer, at)),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Asks how far memory nodes are filled; see {@link MetaService#fills}.
     *
     * @param timeoutNs deadline.
     * @return the call, for at most {@link FillProgressDescriptor#MAX_ENTRIES}.
     */
    public ControlCall<List<FillProgress>> fills(final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.FILLS, ControlProxy::encodeHeader, ControlProxy.body(FillProgressDescriptor::decode),
            timeoutNs);
    }

    /**
     * Makes a group of memory nodes; see {@link MetaService#makeGroup}.
     *
     * @param nodeIds   head first and primary last.
     * @param timeoutNs deadline.
     * @return the call, for its view.
     */
    public ControlCall<View> makeGroup(final List<Integer> nodeIds, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.MAKE_GROUP,
            (buffer, offset) ->
                ControlProxy.encode(buffer, offset, (at) -> GroupDescriptor.encode(0, nodeIds, buffer, at)),
            ControlProxy.body(ViewDescriptor::decode),
            timeoutNs);
    }

    /**
     * Has a memory node come into a group; see {@link MetaService#enterGroup}.
     *
     * @param group     1 or more.
     * @param nodeId    of the memory node.
     * @param timeoutNs deadline.
     * @return the call, for the group's view, with that memory node coming in.
     */
    public ControlCall<View> enterGroup(final int group, final int nodeId, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.ENTER_GROUP,
            (buffer, offset) -> ControlProxy.encode(
                buffer, offset, (at) -> GroupDescriptor.encode(group, List.of(nodeId), buffer, at)),
            ControlProxy.body(ViewDescriptor::decode),
            timeoutNs);
    }

    /**
     * Asks for the failure domains of memory nodes; see {@link MetaService#failureDomains}.
     *
     * @param afterNodeId memory nodes with greater ids than this; 0 for the first page.
     * @param timeoutNs   deadline.
     * @return the call.
     */
    public ControlCall<FailureDomainPage> failureDomains(final int afterNodeId, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.FAILURE_DOMAINS,
            (buffer, offset) -> ControlProxy.encode(
                buffer, offset, (at) -> FailureDomainPageDescriptor.encodeRequest(afterNodeId, buffer, at)),
            ControlProxy.body(FailureDomainPageDescriptor::decode),
            timeoutNs);
    }

    /**
     * Registers this node: the connection acts for it from then on. Afterwards set
     * {@link RaasContext#identity(PeerIdentity, long, java.util.function.Function)}, so that later ones do.
     *
     * @param request   what the node says of itself.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<Registration> register(final NodeRegistration request, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.REGISTER,
            (buffer, offset) -> RegisterDescriptor.encodeRequest(request, buffer, offset),
            RegisterDescriptor::decodeReply,
            timeoutNs);
    }

    /**
     * Renews the lease of a node that says nothing of its memory; see {@link MetaService#heartbeat}.
     *
     * @param nodeId      of this node.
     * @param incarnation of this life.
     * @param passedEpoch every operation begun before this epoch was heard has ended.
     * @param wantsEpochs whether this node waits for epochs; without anybody who does they pass slowly.
     * @param held        secrets that this node has.
     * @param timeoutNs   deadline.
     * @return the call.
     */
    public ControlCall<Heartbeat> heartbeat(
        final int nodeId,
        final int incarnation,
        final long passedEpoch,
        final boolean wantsEpochs,
        final HeldSecrets held,
        final long timeoutNs)
    {
        return heartbeat(nodeId, incarnation, passedEpoch, wantsEpochs, held, 0, List.of(), timeoutNs);
    }

    /**
     * Renews the lease; see {@link MetaService#heartbeat}.
     *
     * @param nodeId      of this node.
     * @param incarnation of this life.
     * @param passedEpoch every operation begun before this epoch was heard has ended.
     * @param wantsEpochs whether this node waits for epochs; without anybody who does they pass slowly.
     * @param held        secrets that this node has.
     * @param memorySince of a memory node: incarnation since which its memory has everything; 0: it does not say.
     * @param left        of a compute node: memory nodes that it has left, at most {@link MetaService#MAX_TO_LEAVE}.
     * @param timeoutNs   deadline.
     * @return the call.
     */
    public ControlCall<Heartbeat> heartbeat(
        final int nodeId,
        final int incarnation,
        final long passedEpoch,
        final boolean wantsEpochs,
        final HeldSecrets held,
        final int memorySince,
        final List<PeerIdentity> left,
        final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.HEARTBEAT,
            (buffer, offset) -> HeartbeatDescriptor.encodeRequest(
                nodeId, incarnation, passedEpoch, wantsEpochs, held, memorySince, left, buffer, offset),
            HeartbeatDescriptor::decodeReply,
            timeoutNs);
    }

    /**
     * Asks to hear of news; see {@link MetaService#awaitChange}. One such call of a node at a time is awaited.
     *
     * @param request   what this node knows.
     * @param timeoutNs deadline; may be long.
     * @return the call, which ends when there are news.
     */
    public ControlCall<Void> awaitChange(final NotificationRequest request, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.AWAIT_CHANGE,
            (buffer, offset) -> NotificationDescriptor.encode(request, buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Asks to hear of compute nodes that come, go or are activated; see {@link MetaService#awaitNodes}. A list that is
     * asked for behind this over the same connection shows each change that this does not report.
     *
     * @param timeoutNs deadline; may be long.
     * @return the call, which ends when there is such a change.
     */
    public ControlCall<Void> awaitNodes(final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.AWAIT_NODES, ControlProxy::encodeHeader, (buffer, offset, lengthBytes) -> null, timeoutNs);
    }

    /**
     * Has clients sent to a spare; see {@link MetaService#activate}.
     *
     * @param nodeId      of the compute node.
     * @param incarnation of its registration.
     * @param timeoutNs   deadline.
     * @return the call.
     */
    public ControlCall<Void> activate(final int nodeId, final int incarnation, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.ACTIVATE,
            (buffer, offset) -> IdentityDescriptor.encode(new PeerIdentity(nodeId, incarnation), buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Leaves; send it after the last access to any memory.
     *
     * @param nodeId      of this node.
     * @param incarnation of this life.
     * @param timeoutNs   deadline.
     * @return the call.
     */
    public ControlCall<Void> leave(final int nodeId, final int incarnation, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.LEAVE,
            (buffer, offset) -> IdentityDescriptor.encode(new PeerIdentity(nodeId, incarnation), buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * @param timeoutNs deadline.
     * @return the call, for a table number never given before.
     */
    public ControlCall<Integer> allocateTableId(final int userNumber, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.ALLOCATE_TABLE_ID,
            (buffer, offset) -> TableIdDescriptor.encode(userNumber, buffer, offset),
            TableIdDescriptor::decode,
            timeoutNs);
    }

    /**
     * Makes a table known, after its memory is formatted.
     *
     * @param table      with a name not in use.
     * @param members    see {@link MetaService#createTable}.
     * @param userNumber  of the user for whom it is made; 0: for none.
     * @param timeoutNs   deadline.
     * @return the call; TABLE_EXISTS when the name is in use, UNAVAILABLE when a memory node is another one by now,
     *     OVER_QUOTA when the user has as many tables as it may.
     */
    public ControlCall<Void> createTable(
        final TableEntry table, final List<PeerIdentity> members, final int userNumber, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.CREATE_TABLE,
            (buffer, offset) -> TablePublicationDescriptor.encode(table, 0, members, userNumber, buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * @param name      of a table.
     * @param timeoutNs deadline.
     * @return the call; NO_SUCH_TABLE when there is none.
     */
    public ControlCall<TableEntry> table(final String name, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.TABLE,
            (buffer, offset) -> TableNameDescriptor.encode(name, buffer, offset),
            TableEntryDescriptor::decode,
            timeoutNs);
    }

    /**
     * @param afterName last name of the page before, or empty.
     * @param timeoutNs deadline.
     * @return the call, for a page of names.
     */
    public ControlCall<TablePage> tables(final String afterName, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.TABLES,
            (buffer, offset) -> TableNameDescriptor.encode(afterName, buffer, offset),
            TablesDescriptor::decode,
            timeoutNs);
    }

    /**
     * @param name      of a table.
     * @param timeoutNs deadline.
     * @return the call, for what the table was.
     */
    public ControlCall<TableEntry> dropTable(final String name, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.DROP_TABLE,
            (buffer, offset) -> TableNameDescriptor.encode(name, buffer, offset),
            TableEntryDescriptor::decode,
            timeoutNs);
    }

    /**
     * Drops a table if it is still the same one; see {@link MetaService#dropThisTable}.
     *
     * @param table     its name and number.
     * @param timeoutNs deadline.
     * @return the call; NO_SUCH_TABLE when that table is gone.
     */
    public ControlCall<Void> dropThisTable(final TableEntry table, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.DROP_THIS_TABLE,
            (buffer, offset) -> TableEntryDescriptor.encode(table, buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Gives a memory node up for good; see {@link MetaService#forgetNode}.
     *
     * @param nodeId    of the memory node.
     * @param isWanted  false: only asks what it is.
     * @param timeoutNs deadline.
     * @return the call, for what the node was.
     */
    public ControlCall<ForgottenNode> forgetNode(final int nodeId, final boolean isWanted, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.FORGET_NODE,
            (buffer, offset) -> ForgetNodeDescriptor.encodeRequest(nodeId, isWanted, buffer, offset),
            ForgetNodeDescriptor::decodeReply,
            timeoutNs);
    }

    /**
     * Replaces the descriptor of a table that has grown.
     *
     * @param table            with the number it has.
     * @param expectedChecksum see {@link MetaService#growTable}.
     * @param memoryNodes      see {@link MetaService#createTable}.
     * @param timeoutNs        deadline.
     * @return the call; UNAVAILABLE when the descriptor, or a memory node, is another one than expected.
     */
    public ControlCall<Void> growTable(
        final TableEntry table,
        final long expectedChecksum,
        final List<PeerIdentity> memoryNodes,
        final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.GROW_TABLE,
            (buffer, offset) ->
                TablePublicationDescriptor.encode(table, expectedChecksum, memoryNodes, 0, buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * Lists users; see {@link MetaService#users}.
     *
     * @param afterName    last name of the page before, or empty.
     * @param knownVersion of the list that is known; -1 for none.
     * @param timeoutNs    deadline.
     * @return the call, for a page.
     */
    public ControlCall<UserPage> users(final String afterName, final long knownVersion, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.USERS,
            (buffer, offset) -> UsersDescriptor.encodeRequest(afterName, knownVersion, buffer, offset),
            UsersDescriptor::decodeReply,
            timeoutNs);
    }

    /**
     * Makes or changes a user; see {@link MetaService#putUser}.
     *
     * @param user      as it is to be.
     * @param timeoutNs deadline.
     * @return the call, for the user as it is then.
     */
    public ControlCall<User> putUser(final User user, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.PUT_USER,
            (buffer, offset) -> UsersDescriptor.encodeUser(user, buffer, offset),
            UsersDescriptor::decodeUser,
            timeoutNs);
    }

    /**
     * Reports what this compute node has denied, for the audit log.
     *
     * @param denied    {@link DeniedOperations#MAX_REPORTED} at most.
     * @param timeoutNs deadline.
     * @return the call.
     */
    public ControlCall<Void> reportDenials(final List<DeniedOperations> denied, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.REPORT_DENIALS,
            (buffer, offset) -> DenialsDescriptor.encode(denied, buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * @param after     last certificate of the page before; null for the first page.
     * @param timeoutNs deadline.
     * @return the call, for a page of revoked certificates.
     */
    public ControlCall<RevocationPage> revocations(final RevokedCertificate after, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.REVOCATIONS,
            (buffer, offset) -> RevocationsDescriptor.encode(
                new RevocationPage(null == after ? List.of() : List.of(after), false), buffer, offset),
            RevocationsDescriptor::decode,
            timeoutNs);
    }

    /**
     * @param certificate that nobody is to use any more, or may use again.
     * @param isRevoked   whether it is revoked from now on.
     * @param timeoutNs   deadline.
     * @return the call; INVALID_REQUEST when it was so before.
     */
    public ControlCall<Void> revoke(
        final RevokedCertificate certificate, final boolean isRevoked, final long timeoutNs)
    {
        return proxy.call(
            isRevoked ? ControlMethod.REVOKE_CERTIFICATE : ControlMethod.RESTORE_CERTIFICATE,
            (buffer, offset) -> RevocationsDescriptor.encode(
                new RevocationPage(List.of(certificate), false), buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * @param name      of a user that is to be no more.
     * @param timeoutNs deadline.
     * @return the call; INVALID_REQUEST when there is none.
     */
    public ControlCall<Void> removeUser(final String name, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.REMOVE_USER,
            (buffer, offset) -> UsersDescriptor.encodeRequest(name, 0, buffer, offset),
            (buffer, offset, lengthBytes) -> null,
            timeoutNs);
    }

    /**
     * @param afterNodeId last number of the page before, or 0.
     * @param timeoutNs   deadline.
     * @return the call, for a page of living nodes.
     */
    public ControlCall<NodePage> nodes(final int afterNodeId, final long timeoutNs)
    {
        return proxy.call(
            ControlMethod.NODES,
            (buffer, offset) -> NodesDescriptor.encodeRequest(afterNodeId, buffer, offset),
            NodesDescriptor::decodeReply,
            timeoutNs);
    }
}
