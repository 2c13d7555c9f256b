package io.verbena.rdma.sim.device;

/** Told what changes the state of nodes. */
public interface SimObserver
{
    /** Does not care. */
    SimObserver NONE = new SimObserver()
    {
        @Override
        public void onCompleted(final SimRequest request)
        {
        }

        @Override
        public void onExecuted(final SimDevice target, final SimRequest request)
        {
        }

        @Override
        public void onShown(final SimDevice device, final long value)
        {
        }
    };

    /** The outcome of a request has reached its requester, after its data was placed. */
    void onCompleted(SimRequest request);

    /** A request, or a piece of it, was executed at its target. */
    void onExecuted(SimDevice target, SimRequest request);

    /** Something else became visible on a device. */
    void onShown(SimDevice device, long value);
}
