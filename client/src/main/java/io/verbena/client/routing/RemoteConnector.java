package io.verbena.client.routing;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;

/** Makes clients that route their operations to compute nodes in other processes. Stateless. */
public final class RemoteConnector implements KvClient.Connector
{
    /** For the loader of services. */
    public RemoteConnector()
    {
    }

    @Override
    public KvClient connect(final String address, final KvClientOptions options)
    {
        JvmFlags.require();
        return RemoteKvClient.connect(address, options);
    }
}
