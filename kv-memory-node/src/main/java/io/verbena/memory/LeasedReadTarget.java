package io.verbena.memory;

import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTarget;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.rdma.verbs.RdmaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The read target of a memory node, for compute nodes that join: they READ through it until they are connected. It
 * lives as long as the lease, and is another one afterwards. The node's thread only.
 */
final class LeasedReadTarget implements AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(LeasedReadTarget.class);

    private final RaasContext raas;
    private ReadTarget target;

    LeasedReadTarget(final RaasContext raas)
    {
        this.raas = raas;
    }

    /** Opens one where the device can; everybody connects first where it cannot. */
    void open()
    {
        try
        {
            target = raas.openReadTarget(raas.device().random().nextLong());
        }
        catch (final RdmaException ex)
        {
            LOGGER.warn("nobody reads here before being connected: {}", ex.getMessage());
        }
    }

    ReadTargetAddress address()
    {
        return null == target ? ReadTargetAddress.NONE : target.address();
    }

    /** No READ through it lands once this returns; when it throws, try again. */
    @Override
    public void close()
    {
        if (null != target)
        {
            target.close();
            target = null;
        }
    }
}
