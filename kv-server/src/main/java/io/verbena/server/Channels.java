package io.verbena.server;

import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceCapability;

/** Completion channels of roles, on devices that have them. Stateless. */
final class Channels
{
    private Channels()
    {
    }

    /** A channel, or null where the device has none. When it cannot be made, the device is closed. */
    static CompletionChannel create(final Device device)
    {
        try
        {
            return device.attributes().supports(DeviceCapability.COMPLETION_CHANNEL) ?
                device.createCompletionChannel() : null;
        }
        catch (final RuntimeException ex)
        {
            device.close();
            throw ex;
        }
    }

    static void close(final CompletionChannel channel)
    {
        if (null != channel)
        {
            channel.close();
        }
    }
}
