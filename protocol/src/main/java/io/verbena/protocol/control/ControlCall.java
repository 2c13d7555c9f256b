package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.rpc.RpcStatus;
import org.agrona.DirectBuffer;

/**
 * A control call under way; polled by the owner thread, decided inside {@link io.verbena.raas.RaasContext#poll()} when
 * its deadline has passed at the latest.
 *
 * @param <T> what it returns.
 */
public final class ControlCall<T>
{
    /**
     * Reads the payload of a reply with status OK.
     *
     * @param <T> what it holds.
     */
    interface ReplyDecoder<T>
    {
        T decode(DirectBuffer buffer, int offset, int lengthBytes);
    }

    private final ReplyDecoder<T> decoder;
    private final String name;
    private final long calledAtNs;
    private ControlStatus status;
    private String failure = "";
    private long retryDelayNs;
    private T result;

    ControlCall(final String name, final ReplyDecoder<T> decoder, final long calledAtNs)
    {
        this.name = name;
        this.decoder = decoder;
        this.calledAtNs = calledAtNs;
    }

    /** @return whether it has ended. */
    public boolean isDone()
    {
        return status != null;
    }

    /** @return how it ended; null before. */
    public ControlStatus status()
    {
        return status;
    }

    /** @return why it did not end with OK, one line for people; empty otherwise. */
    public String failure()
    {
        return failure;
    }

    /** @return after how long the server wants to be asked again, in nanoseconds; 0 when it did not say. */
    public long retryDelayNs()
    {
        return retryDelayNs;
    }

    /**
     * @return what was returned.
     * @throws ControlException when it ended otherwise.
     * @throws IllegalStateException before it has ended.
     */
    public T result()
    {
        if (status == null)
        {
            throw new IllegalStateException(name + " has not ended: poll the context until isDone()");
        }
        if (status != ControlStatus.OK)
        {
            throw new ControlException(status, failure);
        }
        return result;
    }

    /** @return time on the local clock from before the request was sent: a lease counts from here. */
    public long calledAtNs()
    {
        return calledAtNs;
    }

    void fail(final ControlStatus kind, final String reason)
    {
        status = kind;
        failure = name + ": " + reason;
    }

    void onReply(
        final RpcStatus rpcStatus, final DirectBuffer payload, final int offset, final int lengthBytes)
    {
        switch (rpcStatus)
        {
            case OK -> onPayload(payload, offset, lengthBytes);
            case REFUSED -> fail(ControlStatus.REFUSED, text(payload, offset, lengthBytes));
            case TIMED_OUT -> fail(ControlStatus.TIMED_OUT, text(payload, offset, lengthBytes));
            case PEER_FAILED -> fail(ControlStatus.PEER_FAILED, text(payload, offset, lengthBytes));
            default -> throw new IllegalStateException("unknown status of a call: " + rpcStatus);
        }
    }

    private static String text(final DirectBuffer payload, final int offset, final int lengthBytes)
    {
        return payload.getStringWithoutLengthUtf8(offset, lengthBytes);
    }

    /**
     * A reply whose sender is mistaken about it fails this call alone; one that the decoder does not foresee is besides
     * thrown, for whoever counts and logs the errors of this node's own code.
     */
    private void onPayload(final DirectBuffer payload, final int offset, final int lengthBytes)
    {
        try
        {
            decode(payload, offset, lengthBytes);
        }
        catch (final ControlException ex)
        {
            fail(ControlStatus.MALFORMED_REPLY, ex.getMessage());
        }
        catch (final RuntimeException ex)
        {
            fail(ControlStatus.MALFORMED_REPLY, "its reply of " + lengthBytes + " bytes cannot be read: " + ex);
            throw new ControlException(status, failure, ex);
        }
    }

    private void decode(final DirectBuffer payload, final int offset, final int lengthBytes)
    {
        if (lengthBytes < ControlHeaderDescriptor.LENGTH_BYTES ||
            ControlHeaderDescriptor.version(payload, offset) != ControlHeaderDescriptor.VERSION)
        {
            throw new ControlException(ControlStatus.MALFORMED_REPLY, "a reply of " + lengthBytes +
                " bytes whose version is not " + ControlHeaderDescriptor.VERSION +
                ": update the older of the two nodes");
        }
        final ControlStatus said = ControlHeaderDescriptor.status(payload, offset);
        if (said != ControlStatus.OK)
        {
            retryDelayNs = ControlHeaderDescriptor.retryDelayNs(payload, offset);
            fail(said, ControlHeaderDescriptor.text(payload, offset, lengthBytes));
            return;
        }
        result = decoder.decode(payload, offset, lengthBytes);
        status = ControlStatus.OK;
    }

    @Override
    public String toString()
    {
        return "ControlCall{" + name + " status=" + status + (failure.isEmpty() ? "" : " failure=" + failure) + '}';
    }
}
