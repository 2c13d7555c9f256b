package io.verbena.raas.rpc;

import org.agrona.DirectBuffer;

/** Hears how a call ended; called by the owner thread inside {@link io.verbena.raas.RaasContext#poll()}. */
public interface RpcReplyListener
{
    /**
     * Called exactly once for each call made.
     *
     * @param callId      what {@link io.verbena.raas.RpcClient#call} returned.
     * @param status      how it ended.
     * @param payload     the reply when OK, otherwise UTF-8 text that says what happened; valid during this call only.
     * @param offset      of the payload.
     * @param lengthBytes of the payload.
     */
    void onReply(long callId, RpcStatus status, DirectBuffer payload, int offset, int lengthBytes);
}
