package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RpcHandler;
import io.verbena.raas.RpcReply;
import org.agrona.DirectBuffer;

/** What the two dispatchers have in common: the header, unknown methods, and how a service says no. */
abstract class ControlDispatcher implements RpcHandler
{
    /** What {@link #dispatch} returns for a method it does not know. */
    static final int UNKNOWN_METHOD = -1;

    private final String serviceName;

    ControlDispatcher(final String serviceName)
    {
        this.serviceName = serviceName;
    }

    @Override
    public final int onRequest(
        final PeerIdentity caller,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final RpcReply reply)
    {
        final int version = lengthBytes < ControlHeaderDescriptor.LENGTH_BYTES ?
            0 : ControlHeaderDescriptor.version(request, offset);
        if (version != ControlHeaderDescriptor.VERSION)
        {
            return reply.refuse("this " + serviceName + " knows version " + ControlHeaderDescriptor.VERSION +
                " of control messages, not version " + version + " (" + lengthBytes +
                " bytes): update the older of the two nodes");
        }
        try
        {
            if (isPutOff(method))
            {
                putOff(caller, method, request, offset, lengthBytes, reply);
                return RpcReply.DEFERRED;
            }
            final int length = dispatch(caller, method, request, offset, lengthBytes, reply);
            return length != UNKNOWN_METHOD ? length : reply.refuse(
                "this " + serviceName + " does not know method " + method + " (" + ControlMethod.name(method) +
                    "): is it the right node, and new enough?");
        }
        catch (final ControlException ex)
        {
            return ControlHeaderDescriptor.encodeFailure(reply.buffer(), reply.offset(), reply.capacity(), ex);
        }
    }

    /** Whether a method's answer may be given later. */
    boolean isPutOff(final int method)
    {
        return false;
    }

    /** Takes such a call, and has the reply put off, or refuses it. */
    void putOff(
        final PeerIdentity caller, final int method, final DirectBuffer request, final int offset,
        final int lengthBytes, final RpcReply reply)
    {
        throw new IllegalStateException("no method is answered later");
    }

    /** Answers one call; returns the length of the reply or {@link #UNKNOWN_METHOD}. */
    abstract int dispatch(
        PeerIdentity caller,
        int method,
        DirectBuffer request,
        int offset,
        int lengthBytes,
        RpcReply reply);
}
