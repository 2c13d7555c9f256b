package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;

/** Answers calls at an {@link RpcServer}; called by the owner thread, one call at a time. */
public interface RpcHandler
{
    /**
     * Answers, at once or later: see {@link RpcReply#defer()}. An exception becomes a refusal with its
     * text and goes to the error handler.
     *
     * @param caller      who the connection belongs to.
     * @param method      0 to 65,535.
     * @param request     valid during this call only.
     * @param offset      of the request in it.
     * @param lengthBytes of the request.
     * @param reply       takes the answer.
     * @return length of the reply in bytes, or what {@link RpcReply#refuse(String)} returned, or
     *         {@link RpcReply#DEFERRED}.
     */
    int onRequest(PeerIdentity caller, int method, DirectBuffer request, int offset, int lengthBytes, RpcReply reply);
}
