package io.verbena.protocol.remote;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RpcHandler;
import io.verbena.raas.RpcReply;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.raas.VirtualQp;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Figures of a compute node for tools on other hosts, as a JSON object, {@code docs/format/kv-messages.md}. Used by the
 * thread of the server.
 */
public final class NodeFigures implements RpcHandler
{
    private final Supplier<String> figures;

    /** @param figures a JSON object of at most {@link io.verbena.raas.RpcClient#MAX_MESSAGE_BYTES}. */
    public NodeFigures(final Supplier<String> figures)
    {
        this.figures = figures;
    }

    @Override
    public int onRequest(
        final PeerIdentity caller, final int method, final DirectBuffer request, final int offset,
        final int lengthBytes, final RpcReply reply)
    {
        if (RequestMethod.FIGURES != method)
        {
            return reply.refuse("this compute node does not know method " + method +
                ": is it the right node, and new enough?");
        }
        final byte[] text = figures.get().getBytes(StandardCharsets.UTF_8);
        if (text.length > reply.capacity())
        {
            return reply.refuse("its figures have " + text.length + " bytes, and " + reply.capacity() + " fit");
        }
        reply.buffer().putBytes(reply.offset(), text);
        return text.length;
    }

    /**
     * Asks a node. The answer comes in {@link RaasContext#poll()}, by the timeout at the latest.
     *
     * @param raas      of the caller.
     * @param vqp       to the node, connected or connecting.
     * @param timeoutNs deadline.
     * @return completes with the JSON object, or with null when the node did not answer, or knows no figures.
     */
    public static CompletableFuture<String> ask(final RaasContext raas, final VirtualQp vqp, final long timeoutNs)
    {
        final CompletableFuture<String> answer = new CompletableFuture<>();
        final UnsafeBuffer nothing = new UnsafeBuffer(new byte[0]);
        final long id = raas.rpcClient().call(vqp, RequestMethod.FIGURES, nothing, 0, 0, timeoutNs,
            (callId, status, payload, offset, lengthBytes) -> answer.complete(RpcStatus.OK == status ?
                payload.getStringWithoutLengthUtf8(offset, lengthBytes) : null));
        if (id < 0)
        {
            answer.complete(null);
        }
        return answer;
    }
}
