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
        super(what + " is not supported by this device: device=" + device + "; ask DeviceAttributes.supports first");
    }
}
