package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RpcClient;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.PostStatus;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.function.IntUnaryOperator;

/** What {@link MetaClient} and {@link MemoryNodeClient} have in common: encode, call, decode. */
final class ControlProxy
{
    /** Writes a request; returns its length. */
    interface RequestEncoder
    {
        int encode(MutableDirectBuffer buffer, int offset);
    }

    private final RaasContext context;
    private final VirtualQp vqp;
    private final UnsafeBuffer scratch = new UnsafeBuffer(new byte[RpcClient.MAX_MESSAGE_BYTES]);

    ControlProxy(final RaasContext context, final VirtualQp vqp)
    {
        this.context = context;
        this.vqp = vqp;
    }

    static int encodeHeader(final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        return ControlHeaderDescriptor.LENGTH_BYTES;
    }

    /** Writes a header and what follows it; returns the length of both. */
    static int encode(final MutableDirectBuffer buffer, final int offset, final IntUnaryOperator body)
    {
        final int headerBytes = encodeHeader(buffer, offset);
        return headerBytes + body.applyAsInt(offset + headerBytes);
    }

    /** Reads what follows the header of a reply. */
    static <T> ControlCall.ReplyDecoder<T> body(final ControlCall.ReplyDecoder<T> decoder)
    {
        return (buffer, offset, lengthBytes) -> decoder.decode(
            buffer, offset + ControlHeaderDescriptor.LENGTH_BYTES, lengthBytes - ControlHeaderDescriptor.LENGTH_BYTES);
    }

    <T> ControlCall<T> call(
        final int method,
        final RequestEncoder encoder,
        final ControlCall.ReplyDecoder<T> decoder,
        final long timeoutNs)
    {
        final ControlCall<T> call =
            new ControlCall<>(ControlMethod.name(method), decoder, context.clock().nanoTime());
        final int length;
        try
        {
            length = encoder.encode(scratch, 0);
        }
        catch (final ControlException ex)
        {
            call.fail(ex.status(), ex.getMessage());
            return call;
        }
        final long id = context.rpcClient().call(vqp, method, scratch, 0, length, timeoutNs,
            (callId, status, payload, offset, lengthBytes) -> call.onReply(status, payload, offset, lengthBytes));
        if (id == PostStatus.QUEUE_FULL)
        {
            final RaasLimit calls = context.rpcClient().limit();
            call.fail(ControlStatus.UNAVAILABLE, calls.used() < calls.most() ?
                "the tenant has as many calls under way as TenantOptions.calls lets it: wait for one" :
                "all " + calls.most() + " slots of calls are taken: wait for one, or raise " + calls.option());
        }
        else if (id == PostStatus.INVALID_STATE)
        {
            call.fail(ControlStatus.PEER_FAILED, vqp.failure().isEmpty() ? "not connected: " + vqp : vqp.failure());
        }
        return call;
    }
}
