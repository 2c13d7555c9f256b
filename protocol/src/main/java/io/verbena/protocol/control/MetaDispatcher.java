package io.verbena.protocol.control;

import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.raas.PeerIdentity;
import io.verbena.raas.RpcReply;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Answers the messages of {@link MetaClient} by calling a {@link MetaService}. One thread. */
public final class MetaDispatcher extends ControlDispatcher
{
    private final MetaService service;

    /** @param service answers. */
    public MetaDispatcher(final MetaService service)
    {
        super("meta server");
        this.service = service;
    }

    @Override
    int dispatch(
        final PeerIdentity caller,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final MutableDirectBuffer reply,
        final int replyOffset)
    {
        return switch (method)
        {
            case ControlMethod.REGISTER -> RegisterDescriptor.encodeReply(
                service.register(caller, RegisterDescriptor.decodeRequest(request, offset, lengthBytes)),
                reply,
                replyOffset);
            case ControlMethod.HEARTBEAT -> heartbeat(request, offset, lengthBytes, reply, replyOffset);
            case ControlMethod.LEAVE ->
            {
                final PeerIdentity identity = IdentityDescriptor.decode(request, offset, lengthBytes);
                service.leave(identity.nodeId(), identity.incarnation());
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.ALLOCATE_TABLE_ID ->
                TableIdDescriptor.encode(service.allocateTableId(), reply, replyOffset);
            case ControlMethod.CREATE_TABLE ->
            {
                service.createTable(
                    TablePublicationDescriptor.table(request, offset, lengthBytes),
                    TablePublicationDescriptor.memoryNodes(request, offset, lengthBytes));
                yield ControlProxy.encodeHeader(reply, replyOffset);
            }
            case ControlMethod.TABLE -> TableEntryDescriptor.encode(
                service.table(TableNameDescriptor.decode(request, offset, lengthBytes)), reply, replyOffset);
            case ControlMethod.TABLES -> TablesDescriptor.encode(
                service.tables(TableNameDescriptor.decode(request, offset, lengthBytes)), reply, replyOffset);
            case ControlMethod.DROP_TABLE -> TableEntryDescriptor.encode(
                service.dropTable(TableNameDescriptor.decode(request, offset, lengthBytes)), reply, replyOffset);
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
            default -> UNKNOWN_METHOD;
        };
    }

    @Override
    boolean isPutOff(final int method)
    {
        return ControlMethod.AWAIT_CHANGE == method;
    }

    @Override
    void putOff(final DirectBuffer request, final int offset, final int lengthBytes, final RpcReply reply)
    {
        final NotificationRequest news = NotificationDescriptor.decode(request, offset, lengthBytes);
        service.awaitChange(news, new PendingNotification(reply.defer()));
    }

    private int heartbeat(
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final MutableDirectBuffer reply,
        final int replyOffset)
    {
        HeartbeatDescriptor.requireRequest(lengthBytes);
        final Heartbeat heartbeat = service.heartbeat(
            HeartbeatDescriptor.nodeId(request, offset),
            HeartbeatDescriptor.incarnation(request, offset),
            HeartbeatDescriptor.passedEpoch(request, offset),
            HeartbeatDescriptor.wantsEpochs(request, offset));
        return HeartbeatDescriptor.encodeReply(heartbeat, reply, replyOffset);
    }
}
