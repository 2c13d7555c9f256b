package io.verbena.client;

/**
 * Opens clients of clusters in other processes. {@link KvClient#connect(String, KvClientOptions)} finds it as a
 * service; applications do not call it. Implementations are thread-safe.
 */
public interface KvConnector
{
    /**
     * As {@link KvClient#connect(String, KvClientOptions)}.
     *
     * @param address of the cluster; not null.
     * @param options how the client behaves; not null; copied.
     * @return the client, closed by the caller.
     */
    KvClient connect(String address, KvClientOptions options);
}
