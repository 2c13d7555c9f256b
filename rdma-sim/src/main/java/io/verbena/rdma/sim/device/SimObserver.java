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
        public void onExecuted(final SimHost target, final SimRequest request)
        {
        }

        @Override
        public void onShown(final SimHost device, final long value)
        {
        }
    };

    /** The outcome of a request has reached its requester, after its data was placed. */
    void onCompleted(SimRequest request);

    /** A request, or a piece of it, was executed at its target. */
    void onExecuted(SimHost target, SimRequest request);

    /** Something else became visible on a device. */
    void onShown(SimHost device, long value);
}
