package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.Registration;
import io.verbena.raas.DeferredReply;
import io.verbena.raas.RpcClient;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The answer that a node awaits which registers. First decided, by {@link #accept} or {@link #refuse}, then
 * {@link #give given}. Belongs to the thread of the meta server, and is used outside the handler of the request.
 */
public final class PendingRegistration
{
    private final DeferredReply reply;
    private UnsafeBuffer message;

    PendingRegistration(final DeferredReply reply)
    {
        this.reply = reply;
    }

    /** @param registration durable; the connection acts for it from now on. */
    public void accept(final Registration registration)
    {
        reply.give(registration.identity());
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[RpcClient.MAX_MESSAGE_BYTES]);
        message = new UnsafeBuffer(buffer, 0, RegisterDescriptor.encodeReply(registration, buffer, 0));
    }

    /** @param refusal why not, and when to ask again. */
    public void refuse(final ControlException refusal)
    {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[RpcClient.MAX_MESSAGE_BYTES]);
        message = new UnsafeBuffer(
            buffer, 0, ControlHeaderDescriptor.encodeFailure(buffer, 0, buffer.capacity(), refusal));
    }

    /** @return false if there is no room to send it now: to be tried again after the next poll; true if it is over. */
    public boolean give()
    {
        return reply.reply(message, 0, message.capacity());
    }
}
