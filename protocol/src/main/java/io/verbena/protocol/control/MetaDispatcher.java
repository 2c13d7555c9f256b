package io.verbena.protocol.control;

import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.User;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.protocol.message.RevocationPage;
import io.verbena.protocol.message.UserPage;
import io.verbena.protocol.tls.CertificateRole;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.FailureDomainPageDescriptor;
import io.verbena.protocol.view.FillProgressDescriptor;
import io.verbena.protocol.view.GroupDescriptor;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.LeftViewsDescriptor;
import io.verbena.protocol.view.RestoredGroupsDescriptor;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttemptDescriptor;
import io.verbena.protocol.view.ViewDescriptor;
import io.verbena.protocol.view.ViewPageDescriptor;
import io.verbena.raas.RpcReply;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.List;
import java.util.stream.Collectors;

/** Answers the messages of {@link MetaClient} by calling a {@link MetaService}. One thread. */
public final class MetaDispatcher extends ControlDispatcher
{
    private final MetaService service;
    private long forbidden;
    private long nodeRequests;

    /** @param service answers. */
    public MetaDispatcher(final MetaService service)
    {
        super("meta server");
        this.service = service;
    }

    /** @return requests so far that named a node for which their connection does not act, or needed one. */
    public long forbiddenRequests()
    {
        return forbidden;
    }

    /** @return requests so far of nodes, and of who becomes one, while the server could answer. */
    public long nodeRequests()
    {
        return nodeRequests;
    }

    @Override
    int dispatch(
        final PeerIdentity caller,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final RpcReply to)
    {
        service.requireLeadership();
        nodeRequests += caller.isClient() ? 0 : 1;
        final PeerIdentity writer = onlyAsksForViews(method, request, offset, lengthBytes) ? caller :
            requireWriter(caller, method, to);
        requireOperator(caller, method, to);
        if (ControlMethod.REPORT_DENIALS == method)
        {
            service.onDenied(writer, DenialsDescriptor.decode(request, offset, lengthBytes));
            return ControlProxy.encodeHeader(to.buffer(), to.offset());
        }
        if (isOfViews(method))
        {
            return ControlProxy.encode(to.buffer(), to.offset(), (at) -> views(writer, method, request,
                offset + ControlHeaderDescriptor.LENGTH_BYTES, lengthBytes - ControlHeaderDescriptor.LENGTH_BYTES,
                to.buffer(), at));
        }
        final int length = carryOut(caller, method, request, offset, lengthBytes, to);
        final String subject = changedBy(method, request, offset, lengthBytes);
        if (null != subject)
        {
            service.onChanged(writer, ControlMethod.name(method), subject);
        }
        return length;
    }

    /** Who reports no view that it has left changes nothing: anybody may ask, as for lists of nodes and tables. */
    private static boolean onlyAsksForViews(
        final int method, final DirectBuffer request, final int offset, final int lengthBytes)
    {
        return ControlMethod.VIEWS == method && LeftViewsDescriptor.decode(request,
            offset + ControlHeaderDescriptor.LENGTH_BYTES, lengthBytes - ControlHeaderDescriptor.LENGTH_BYTES)
            .isEmpty();
    }

    private static boolean isOfViews(final int method)
    {
        return ControlMethod.VIEWS == method || ControlMethod.REPORT_RECONCILED == method ||
            ControlMethod.MAKE_GROUP == method || ControlMethod.ENTER_GROUP == method ||
            ControlMethod.REPORT_FILL == method || ControlMethod.FILLS == method;
    }

    /** What follows the headers of request and reply. */
    private int views(
        final PeerIdentity node,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final MutableDirectBuffer reply,
        final int replyOffset)
    {
        return switch (method)
        {
            case ControlMethod.VIEWS ->
            {
                final List<LeftView> left = LeftViewsDescriptor.decode(request, offset, lengthBytes);
                yield ViewPageDescriptor.encode(
                    service.views(node, left, LeftViewsDescriptor.afterGroup(request, offset)), reply, replyOffset);
            }
            case ControlMethod.MAKE_GROUP ->
            {
                final View made = service.makeGroup(GroupDescriptor.decode(request, offset, lengthBytes));
                service.onChanged(node, ControlMethod.name(method), "group " + made.group() + ": " + made.members());
                yield ViewDescriptor.encode(made, reply, replyOffset);
            }
            case ControlMethod.ENTER_GROUP ->
            {
                final int nodeId = GroupDescriptor.entering(request, offset, lengthBytes);
                final View view = service.enterGroup(GroupDescriptor.group(request, offset), nodeId);
                service.onChanged(
                    node, ControlMethod.name(method), "group " + view.group() + ": memory node " + nodeId);
                yield ViewDescriptor.encode(view, reply, replyOffset);
            }
            case ControlMethod.REPORT_FILL ->
            {
                service.onFill(node, FillProgressDescriptor.decodeOne(request, offset, lengthBytes));
                yield 0;
            }
            case ControlMethod.FILLS -> FillProgressDescriptor.encode(service.fills(), reply, replyOffset);
            default ->
            {
                service.onReconciled(node, ViewAttemptDescriptor.decode(request, offset, lengthBytes),
                    ViewAttemptDescriptor.areEqual(request, offset));
                yield 0;
            }
        };
    }

    private int carryOut(
        final PeerIdentity caller,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final RpcReply to)
    {
        final MutableDirectBuffer reply = to.buffer();
        final int replyOffset = to.offset();
        return switch (method)
        {
            case ControlMethod.HEARTBEAT -> heartbeat(caller, request, offset, lengthBytes, to);
            case ControlMethod.LEAVE ->
            {
                final PeerIdentity identity = IdentityDescriptor.decode(request, offset, lengthBytes);
                requireIdentity(caller, identity, to);
                service.leave(identity.nodeId(), identity.incarnation());
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.ALLOCATE_TABLE_ID ->
                TableIdDescriptor.encode(
                    service.allocateTableId(TableIdDescriptor.decode(request, offset, lengthBytes)),
                    reply, replyOffset);
            case ControlMethod.CREATE_TABLE ->
            {
                service.createTable(
                    TablePublicationDescriptor.table(request, offset, lengthBytes),
                    TablePublicationDescriptor.memoryNodes(request, offset, lengthBytes),
                    TablePublicationDescriptor.userNumber(request, offset, lengthBytes));
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.TABLE -> TableEntryDescriptor.encode(
                service.table(TableNameDescriptor.decode(request, offset, lengthBytes)), reply, replyOffset);
            case ControlMethod.TABLES -> TablesDescriptor.encode(
                service.tables(TableNameDescriptor.decode(request, offset, lengthBytes)), reply, replyOffset);
            case ControlMethod.DROP_TABLE -> TableEntryDescriptor.encode(
                service.dropTable(TableNameDescriptor.decode(request, offset, lengthBytes)), reply, replyOffset);
            case ControlMethod.FAILURE_DOMAINS -> ControlProxy.encode(reply, replyOffset, (at) ->
                FailureDomainPageDescriptor.encode(service.failureDomains(FailureDomainPageDescriptor.decodeRequest(
                    request, offset + ControlHeaderDescriptor.LENGTH_BYTES,
                    lengthBytes - ControlHeaderDescriptor.LENGTH_BYTES)), reply, at));
            case ControlMethod.NODES -> NodesDescriptor.encodeReply(
                service.nodes(NodesDescriptor.decodeRequest(request, offset, lengthBytes)), reply, replyOffset);
            case ControlMethod.FORGET_NODE ->
            {
                ForgetNodeDescriptor.requireRequest(lengthBytes);
                yield ForgetNodeDescriptor.encodeReply(
                    service.forgetNode(
                        ForgetNodeDescriptor.nodeId(request, offset), ForgetNodeDescriptor.isWanted(request, offset)),
                    reply,
                    replyOffset);
            }
            case ControlMethod.DROP_THIS_TABLE ->
            {
                service.dropThisTable(TableEntryDescriptor.decode(request, offset, lengthBytes));
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.GROW_TABLE ->
            {
                service.growTable(
                    TablePublicationDescriptor.table(request, offset, lengthBytes),
                    TablePublicationDescriptor.expectedChecksum(request, offset, lengthBytes),
                    TablePublicationDescriptor.memoryNodes(request, offset, lengthBytes));
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            default -> dispatchOperators(caller, method, request, offset, lengthBytes, to);
        };
    }

    private int dispatchOperators(
        final PeerIdentity caller,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final RpcReply to)
    {
        final MutableDirectBuffer reply = to.buffer();
        final int replyOffset = to.offset();
        return switch (method)
        {
            case ControlMethod.USERS -> UsersDescriptor.encodeReply(
                users(caller, request, offset, lengthBytes), reply, replyOffset);
            case ControlMethod.PUT_USER -> UsersDescriptor.encodeUser(
                service.putUser(UsersDescriptor.decodeUser(request, offset, lengthBytes)), reply, replyOffset);
            case ControlMethod.REMOVE_USER ->
            {
                service.removeUser(UsersDescriptor.name(request, offset, lengthBytes));
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.REVOCATIONS -> RevocationsDescriptor.encode(
                revocations(request, offset, lengthBytes), reply, replyOffset);
            case ControlMethod.REVOKE_CERTIFICATE, ControlMethod.RESTORE_CERTIFICATE ->
            {
                service.revoke(RevocationsDescriptor.one(request, offset, lengthBytes),
                    ControlMethod.REVOKE_CERTIFICATE == method);
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.ACTIVATE ->
            {
                final PeerIdentity spare = IdentityDescriptor.decode(request, offset, lengthBytes);
                service.activate(spare.nodeId(), spare.incarnation());
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.REPORT_RESTORED ->
            {
                final int bodyOffset = offset + ControlHeaderDescriptor.LENGTH_BYTES;
                final int bodyBytes = lengthBytes - ControlHeaderDescriptor.LENGTH_BYTES;
                final PeerIdentity node = RestoredGroupsDescriptor.memoryNode(request, bodyOffset, bodyBytes);
                requireIdentity(caller, node, to);
                service.onRestored(node, RestoredGroupsDescriptor.decode(request, bodyOffset, bodyBytes));
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            default -> UNKNOWN_METHOD;
        };
    }

    @Override
    boolean isPutOff(final int method)
    {
        return ControlMethod.AWAIT_CHANGE == method || ControlMethod.REGISTER == method ||
            ControlMethod.AWAIT_NODES == method;
    }

    @Override
    void putOff(
        final PeerIdentity caller, final int method, final DirectBuffer request, final int offset,
        final int lengthBytes, final RpcReply reply)
    {
        service.requireLeadership();
        if (ControlMethod.REGISTER == method)
        {
            if (service.isGuarded() && (PeerIdentity.CLIENT.equals(caller) || caller.isUser()))
            {
                forbid(caller, "register by " + caller + ": a node proves that it has the cluster's token");
            }
            final NodeRegistration registration = RegisterDescriptor.decodeRequest(request, offset, lengthBytes);
            requireRole(caller, NodeRole.MEMORY_NODE == registration.role() ?
                CertificateRole.MEMORY : CertificateRole.COMPUTE, "register a node");
            service.register(registration.byCertificate(caller.certificate()),
                () -> new PendingRegistration(reply.defer()));
            return;
        }
        if (ControlMethod.AWAIT_NODES == method)
        {
            service.awaitNodes(() -> new PendingNotification(reply.defer()));
            return;
        }
        final NotificationRequest news = NotificationDescriptor.decode(request, offset, lengthBytes);
        requireIdentity(caller, new PeerIdentity(news.nodeId(), news.incarnation()), reply);
        service.awaitChange(news, new PendingNotification(reply.defer()));
    }

    /** What was changed; null for what changes nothing that is to be recorded. */
    private static String changedBy(
        final int method, final DirectBuffer request, final int offset, final int lengthBytes)
    {
        return switch (method)
        {
            case ControlMethod.CREATE_TABLE ->
                TablePublicationDescriptor.table(request, offset, lengthBytes).name();
            case ControlMethod.DROP_TABLE -> TableNameDescriptor.decode(request, offset, lengthBytes);
            case ControlMethod.DROP_THIS_TABLE -> TableEntryDescriptor.decode(request, offset, lengthBytes).name();
            case ControlMethod.FORGET_NODE -> ForgetNodeDescriptor.isWanted(request, offset) ?
                "memory node " + ForgetNodeDescriptor.nodeId(request, offset) : null;
            case ControlMethod.PUT_USER -> changedUser(UsersDescriptor.decodeUser(request, offset, lengthBytes));
            case ControlMethod.REMOVE_USER -> UsersDescriptor.name(request, offset, lengthBytes);
            case ControlMethod.REVOKE_CERTIFICATE, ControlMethod.RESTORE_CERTIFICATE ->
                RevocationsDescriptor.one(request, offset, lengthBytes).toString();
            default -> null;
        };
    }

    private static String changedUser(final User user)
    {
        return user.name() + (null == user.verifier() ? "" : ", with a new secret") + ": " + user.grants().stream()
            .map(Grant::toString).collect(Collectors.joining("; ")) +
            (user.quota().isNone() ? "" : "; " + user.quota());
    }

    private int heartbeat(
        final PeerIdentity caller,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final RpcReply to)
    {
        HeartbeatDescriptor.requireRequest(lengthBytes);
        requireIdentity(
            caller,
            new PeerIdentity(
                HeartbeatDescriptor.nodeId(request, offset), HeartbeatDescriptor.incarnation(request, offset)),
            to);
        final Heartbeat heartbeat = service.heartbeat(
            HeartbeatDescriptor.nodeId(request, offset),
            HeartbeatDescriptor.incarnation(request, offset),
            HeartbeatDescriptor.passedEpoch(request, offset),
            HeartbeatDescriptor.wantsEpochs(request, offset),
            HeartbeatDescriptor.held(request, offset),
            HeartbeatDescriptor.memorySince(request, offset),
            HeartbeatDescriptor.left(request, offset, lengthBytes));
        return HeartbeatDescriptor.encodeReply(heartbeat, to.buffer(), to.offset());
    }

    /** What users' secrets could be guessed with is for nodes, which check them. */
    private UserPage users(
        final PeerIdentity caller, final DirectBuffer request, final int offset, final int lengthBytes)
    {
        final String afterName = UsersDescriptor.name(request, offset, lengthBytes);
        final UserPage page = service.users(afterName, UsersDescriptor.knownVersion(request, offset));
        return !PeerIdentity.OPERATOR.equals(caller) ? page : new UserPage(page.version(), page.isUnchanged(),
            page.users().stream().map(User::withoutVerifier).toList(), page.hasMore());
    }

    /**
     * What concerns the whole cluster is for who has its token. A node that has not registered proves the same as an
     * operator does. Who asks for users, or for certificates that were revoked, is one of these, or a compute node with
     * a lease.
     */
    private void requireOperator(final PeerIdentity caller, final int method, final RpcReply connection)
    {
        final boolean isOperators = switch (method)
        {
            case ControlMethod.FORGET_NODE, ControlMethod.DROP_THIS_TABLE, ControlMethod.ACTIVATE,
                ControlMethod.ENTER_GROUP, ControlMethod.USERS, ControlMethod.PUT_USER, ControlMethod.REMOVE_USER,
                ControlMethod.REVOCATIONS, ControlMethod.REVOKE_CERTIFICATE,
                ControlMethod.RESTORE_CERTIFICATE -> true;
            default -> false;
        };
        if (!isOperators || !service.isGuarded() ||
            (ControlMethod.USERS == method || ControlMethod.REVOCATIONS == method) &&
            connection.actsForAny(service::mayChangeTables))
        {
            return;
        }
        if (!PeerIdentity.OPERATOR.equals(caller) && !PeerIdentity.UNREGISTERED.equals(caller) &&
            0 == caller.joiningRoles())
        {
            forbid(caller, ControlMethod.name(method) + " by " + caller + ": it takes the cluster's token");
        }
        requireRole(caller, CertificateRole.OPERATOR, ControlMethod.name(method));
    }

    private RevocationPage revocations(final DirectBuffer request, final int offset, final int lengthBytes)
    {
        final List<RevokedCertificate> after =
            RevocationsDescriptor.decode(request, offset, lengthBytes).certificates();
        return service.revocations(after.isEmpty() ? null : after.getLast());
    }

    /** Where certificates name roles the token is not enough: a connection proves what the handshake gave for them. */
    private void requireRole(final PeerIdentity caller, final CertificateRole role, final String what)
    {
        if (service.isRevoked(caller.certificate()))
        {
            forbid(caller, what + " by " + caller + ": the certificate was revoked");
        }
        if (service.bindsRoles() && !role.isIn(caller.joiningRoles()))
        {
            forbid(caller, what + " by " + caller + ", with roles " + CertificateRole.text(caller.joiningRoles()) +
                ": it takes a certificate with " + role.uri());
        }
    }

    private void forbid(final PeerIdentity caller, final String what)
    {
        forbidden++;
        service.onForbidden(caller, what);
        throw new ControlException(ControlStatus.FORBIDDEN, what);
    }

    /** Whatever a message says, it acts for an identity that its connection has. */
    private void requireIdentity(
        final PeerIdentity caller, final PeerIdentity identity, final RpcReply connection)
    {
        if (!connection.actsFor(identity))
        {
            forbid(caller, "this connection does not act for " + identity +
                ": it was made by another node, or before that one registered; register again");
        }
    }

    /**
     * Tables are changed by compute nodes with a lease, for their clients. {@link ControlMethod#DROP_THIS_TABLE} needs
     * none but the token: the command that gives a lost memory node up drops its tables, when no compute node may be
     * left.
     */
    private PeerIdentity requireWriter(final PeerIdentity caller, final int method, final RpcReply connection)
    {
        final boolean changesTables = switch (method)
        {
            case ControlMethod.ALLOCATE_TABLE_ID, ControlMethod.CREATE_TABLE, ControlMethod.DROP_TABLE,
                ControlMethod.GROW_TABLE, ControlMethod.REPORT_DENIALS -> true;
            default -> isOfViews(method) && ControlMethod.ENTER_GROUP != method && ControlMethod.FILLS != method;
        };
        final PeerIdentity[] writer = {caller};
        if (changesTables && !connection.actsForAny((identity) ->
        {
            writer[0] = identity;
            return service.mayChangeTables(identity);
        }))
        {
            forbid(caller, ControlMethod.name(method) +
                " by a connection that acts for no compute node with a lease: ask a compute node");
        }
        return writer[0];
    }
}
