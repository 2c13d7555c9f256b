package io.verbena.protocol.control;

import io.verbena.raas.DeferredReply;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The answer that a node awaits which would hear of news; it says only that there are some. Belongs to the thread of
 * the meta server, and is given outside the handler of the request.
 */
public final class PendingNotification
{
    private final DeferredReply reply;

    PendingNotification(final DeferredReply reply)
    {
        this.reply = reply;
    }

    /** @return true if nobody awaits it any more: it was given, or the node's connection has ended. */
    public boolean isOver()
    {
        return reply.isOver();
    }

    /** @return false if there is no room to send it now: to be tried again after the next poll; true if it is over. */
    public boolean give()
    {
        final UnsafeBuffer header = new UnsafeBuffer(new byte[ControlHeaderDescriptor.LENGTH_BYTES]);
        return reply.reply(header, 0, ControlProxy.encodeHeader(header, 0));
    }
}
