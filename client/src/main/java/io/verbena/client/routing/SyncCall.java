package io.verbena.client.routing;

import io.verbena.protocol.request.OperationRequest;

/**
 * The request of a thread that waits: one for each thread, used again and again. When its thread leaves it to a node
 * past the deadline it is given up, and the thread gets a new one.
 */
final class SyncCall extends OperationRequest
{
    private static final ThreadLocal<SyncCall> OF_THREAD = ThreadLocal.withInitial(SyncCall::new);

    private final CallWaiter waiter = new CallWaiter();
    private boolean inUse;

    /**
     * @return a request of the calling thread that is not in use, to be {@linkplain #release released} when its call is
     * over. A thread that waits may complete futures of others, and what depends on those may make calls: these get
     * other requests.
     */
    static SyncCall take()
    {
        SyncCall call = OF_THREAD.get();
        if (call.inUse)
        {
            call = new SyncCall();
        }
        else if (DONE != call.state() && IDLE != call.state())
        {
            call = renew(); // in a node's hands, or abandoned there
        }
        call.inUse = true;
        return call;
    }

    /** The answer is there, and read before the calling thread's next call, or never comes. */
    void release()
    {
        inUse = false;
    }

    private static SyncCall renew()
    {
        final SyncCall call = new SyncCall();
        OF_THREAD.set(call);
        return call;
    }

    CallWaiter waiter()
    {
        return waiter;
    }

    @Override
    protected void onDone()
    {
        waiter.signal();
    }
}
