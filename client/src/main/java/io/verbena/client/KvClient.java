package io.verbena.client;

import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;

/**
 * A connection of an application to a store: hands out its tables. The interface is the same whether operations run on
 * compute nodes in this process or elsewhere. Thread-safe: one client serves any number of threads. Closed by whoever
 * opened it; see {@link #close()}.
 *
 * <p>Every method here and on {@link KvTable} either returns, or throws a {@link KvException}, at the latest when its
 * deadline has passed (plus the time the caller's thread needs to be scheduled). Methods of the client itself have
 * {@link KvClientOptions#timeout()}. Methods named {@code xAsync} behave as described at {@link KvTable}.
 */
public interface KvClient extends AutoCloseable
{
    /**
     * Opens clients of clusters in other processes. {@link #connect(String, KvClientOptions)} finds it as a service;
     * applications do not call it. Implementations are thread-safe.
     */
    interface Connector
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

    /**
     * Connects to a cluster in other processes, with default options and the token of the environment.
     *
     * @param address {@code verbena://host:port}.
     * @return the client, closed by the caller.
     * @throws KvInvalidRequestException when the address cannot be one, the token is not the cluster's, the versions
     *                                   do not fit, or this JVM lacks flags of {@code config/jvm.args}.
     * @throws KvUnavailableException    when nobody answers for 5 s, or the cluster cannot be reached.
     */
    static KvClient connect(final String address)
    {
        return connect(address, new KvClientOptions());
    }

    /**
     * Connects to a cluster in other processes. The client is thin: its operations go to compute nodes, are spread over
     * them by key, and go to others when nodes come, leave or die; while the meta server is unreachable it uses the
     * nodes it knows.
     *
     * @param address {@code verbena://host:port}.
     * @param options how it behaves; copied.
     * @return the client, closed by the caller; its {@link #close()} waits up to 2 s for operations under way.
     * @throws KvInvalidRequestException when the address cannot be one, the token is not the cluster's, the versions
     *                                   do not fit, or this JVM lacks flags of {@code config/jvm.args}.
     * @throws KvUnavailableException    when nobody answers until {@link KvClientOptions#timeout()}, a minute at most,
     *                                   or at once, see {@link KvClientOptions#retryConnect(boolean)}; or the cluster
     *                                   cannot be reached.
     */
    static KvClient connect(final String address, final KvClientOptions options)
    {
        if (null == address || null == options)
        {
            throw new KvInvalidRequestException((null == address ? "address" : "options") + " is null");
        }
        return ServiceLoader.load(Connector.class, KvClient.class.getClassLoader()).findFirst().orElseThrow(
            () -> new IllegalStateException("no " + Connector.class.getName() + " on the class path: it is in the " +
                "jar of this class, as a service")).connect(address, options);
    }

    /**
     * Finds a table. Blocks for a call of the meta server when this client has not used the table before.
     *
     * @param name of the table, see {@link TableOptions} for what a name may be.
     * @return a handle that stays valid until the table is dropped or this client is closed; handles need no closing.
     * @throws KvNoSuchTableException when there is none of this name; {@link #createTable(String)} makes one.
     */
    KvTable table(String name);

    /**
     * As {@link #table(String)}, with the result in a future.
     *
     * @param name of the table.
     * @return future of a handle.
     */
    CompletableFuture<KvTable> tableAsync(String name);

    /**
     * Creates a table and waits until it can be used from every compute node.
     *
     * @param name    1 to 128 letters, digits, {@code '_'}, {@code '-'} or {@code '.'}, not beginning with
     *                {@code '-'} or {@code '.'}.
     * @param options how much it is to hold.
     * @return a handle as {@link #table(String)} gives it.
     * @throws KvTableExistsException   when there is one of this name already, whatever its options.
     * @throws KvOutOfMemoryException   when the memory nodes cannot hold its buckets.
     * @throws KvOutcomeUnknownException when the meta server did not answer in time; {@link #tables()} shows.
     */
    KvTable createTable(String name, TableOptions options);

    /**
     * As {@link #createTable(String, TableOptions)}, with the result in a future.
     *
     * @param name    of the table.
     * @param options how much it is to hold.
     * @return future of a handle.
     */
    CompletableFuture<KvTable> createTableAsync(String name, TableOptions options);

    /**
     * As {@link #createTable(String, TableOptions)}, for 100,000 records; it grows beyond.
     *
     * @param name of the table.
     * @return a handle as {@link #table(String)} gives it.
     */
    default KvTable createTable(final String name)
    {
        return createTable(name, TableOptions.DEFAULTS);
    }

    /** {@return names of all tables, sorted, as the meta server knows them at one instant within the call} */
    List<String> tables();

    /**
     * As {@link #tables()}, with the result in a future.
     *
     * @return future of the names.
     */
    CompletableFuture<List<String>> tablesAsync();

    /**
     * Drops a table. Operations on it that overlap the drop may still succeed; later ones fail with
     * {@link KvNoSuchTableException} as soon as their compute node has heard of it, and a new table of the same name
     * never shows this one's records. Its memory is reclaimed some epochs later.
     *
     * @param name of the table.
     * @throws KvNoSuchTableException when there is none of this name.
     */
    void dropTable(String name);

    /**
     * As {@link #dropTable(String)}, with the result in a future.
     *
     * @param name of the table.
     * @return future of nothing, when the table is dropped.
     */
    CompletableFuture<Void> dropTableAsync(String name);

    /**
     * Asks every compute node that this client is connected to for one sweep: to find the memory that no record uses
     * in what it has leased, and to take it back. Waits for a connection when there is none yet. Returns when the nodes
     * have been asked; a sweep takes some epochs more.
     *
     * @return ids, unique in the cluster, of the nodes that did not confirm within the client's timeout; empty when all
     *         have.
     * @throws KvUnavailableException when there is no compute node until the client's timeout.
     */
    List<Integer> reclaim();

    /**
     * As {@link #reclaim()}, with the result in a future.
     *
     * @return future of the ids of nodes that did not confirm.
     */
    CompletableFuture<List<Integer>> reclaimAsync();

    /** {@return what the operations of this client have cost so far, as one snapshot; see there how exact it is} */
    OperationStatistics statistics();

    /**
     * Refuses new operations with {@link KvClosedException} and lets running ones end by themselves: each still
     * returns its result or fails by its own deadline. Idempotent, does not block, leaves the cluster alone.
     */
    @Override
    void close();
}
