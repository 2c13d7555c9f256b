package io.verbena.protocol.session;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.Registration;

/**
 * How long a registration may act, on the local clock. It counts from before the request that got or renewed it was
 * sent, never from the arrival of the reply: the meta server counts from the arrival of the request, which is later, so
 * the lease ends here first, however long the reply takes. One thread; time comes in.
 */
public final class Lease
{
    private long endsNs;
    private long lengthNs;

    /**
     * Begins with a registration.
     *
     * @param registered that has ended with OK.
     */
    public void begin(final ControlCall<Registration> registered)
    {
        lengthNs = registered.result().leaseNs();
        endsNs = registered.calledAtNs() + lengthNs;
    }

    /**
     * Goes on after a heartbeat.
     *
     * @param renewed that has ended with OK.
     */
    public void renew(final ControlCall<Heartbeat> renewed)
    {
        lengthNs = renewed.result().leaseNs();
        endsNs = renewed.calledAtNs() + lengthNs;
    }

    /**
     * @param nowNs time now.
     * @return time left, ns; 0 or less when it has ended.
     */
    public long leftNs(final long nowNs)
    {
        return endsNs - nowNs;
    }

    /** @return when it ends. */
    public long endsNs()
    {
        return endsNs;
    }

    /** @return how long one lasts, ns, as granted last. */
    public long lengthNs()
    {
        return lengthNs;
    }
}
