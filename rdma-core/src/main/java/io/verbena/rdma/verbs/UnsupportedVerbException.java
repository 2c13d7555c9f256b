package io.verbena.rdma.verbs;

/** The device cannot do what was asked; see {@link DeviceAttributes#supports}. */
public final class UnsupportedVerbException extends RdmaException
{
    private static final long serialVersionUID = 1L;

    /**
     * @param what   was asked for.
     * @param device that lacks it.
     */
    public UnsupportedVerbException(final String what, final String device)
    {
        this(what, device, "ask DeviceAttributes.supports first");
    }

    /**
     * @param what   was asked for.
     * @param device that lacks it.
     * @param remedy why, and what to do.
     */
    public UnsupportedVerbException(final String what, final String device, final String remedy)
    {
        super(what + " is not supported by this device: device=" + device + "; " + remedy);
    }
}
