package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.rpc.RpcStatus;
import org.agrona.concurrent.UnsafeBuffer;

/** Calls that have ended, for tests of what follows from them. */
public final class EndedCalls
{
    private EndedCalls()
    {
    }

    /** One with status OK. */
    public static <T> ControlCall<T> ended(final long calledAtNs, final T result)
    {
        final ControlCall<T> call = new ControlCall<>("test", (buffer, offset, lengthBytes) -> result, calledAtNs);
        final UnsafeBuffer reply = new UnsafeBuffer(new byte[ControlHeaderDescriptor.LENGTH_BYTES]);
        ControlHeaderDescriptor.encode(reply, 0, ControlStatus.OK);
        call.onReply(RpcStatus.OK, reply, 0, reply.capacity());
        return call;
    }
}
