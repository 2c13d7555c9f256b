package io.verbena.client;

import io.verbena.request.OperationRequest;

/**
 * The request of a thread that waits: one for each thread, used again and again. When its thread leaves it to a node
 * past the deadline it is given up, and the thread gets a new one.
 */
final class SyncCall extends OperationRequest
{
    private static final ThreadLocal<SyncCall> OF_THREAD = ThreadLocal.withInitial(SyncCall::new);

    private final CallWaiter waiter = new CallWaiter();

    /** @return the calling thread's request, not in use: a thread waits for one call at a time. */
    static SyncCall ofThread()
    {
        final SyncCall call = OF_THREAD.get();
        return ABANDONED == call.state() ? renew() : call;
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
