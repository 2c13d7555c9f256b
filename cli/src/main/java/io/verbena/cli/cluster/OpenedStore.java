package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.role.RoleOptions;
import io.verbena.cli.role.TlsOptions;
import io.verbena.compute.ComputeNodeException;
import io.verbena.compute.StoreObserver;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.protocol.view.View;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.table.check.RepairableStore;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A cluster's memory opened for a tool: of one that is up by joining it, of one whose processes have ended by itself.
 * One thread; closed by its opener.
 */
public final class OpenedStore implements AutoCloseable
{

    private final RepairableStore store;
    private final List<Integer> memoryNodeIds;
    private final IntFunction<View> views;
    private final String title;
    private final List<Runnable> parts;

    private OpenedStore(
        final RepairableStore store, final List<Integer> memoryNodeIds, final IntFunction<View> views,
        final String title, final List<Runnable> parts)
    {
        this.views = views;
        this.store = store;
        this.memoryNodeIds = memoryNodeIds;
        this.title = title;
        this.parts = parts;
    }

    /**
     * Opens the cluster at an address, or else that of a folder, up or not.
     *
     * @param address   {@code verbena://host:port}; null: the folder's.
     * @param tokenFile of the cluster; null: the folder's.
     * @param tls       of the handshake.
     * @param folder    of a cluster on this host.
     * @param given     fabric of this process; null: the cluster's.
     * @param isEncrypted whether nothing may be sent in clear.
     * @param timeoutNs of each answer.
     * @return the store.
     */
    static OpenedStore open(
        final String address, final Path tokenFile, final TlsOptions tls, final ClusterFolder folder,
        final String given, final boolean isEncrypted, final long timeoutNs)
    {
        final boolean isUp =
            new ProcessTable(folder.processes()).entries().stream().anyMatch(ProcessTable.Entry::isLive);
        if (null != address || isUp)
        {
            return live(null == address ? folder.address() : address,
                null == tokenFile ? folder.token() : tokenFile, tls, given, isEncrypted, null != address, timeoutNs);
        }
        final OfflineStore stopped = OfflineStore.open(folder);
        return new OpenedStore(stopped, stopped.memoryNodeIds(), stopped::view,
            folder.path() + ", whose processes have ended", List.of(stopped::close));
    }

    private static OpenedStore live(
        final String address, final Path tokenFile, final TlsOptions tls, final String given,
        final boolean isEncrypted, final boolean asksAgain, final long timeoutNs)
    {
        Fabric fabric = null;
        Device device = null;
        try
        {
            final ClusterAddress cluster = ClusterAddress.parse(address);
            final ClusterToken token = tls.secure(ClusterToken.read(tokenFile));
            final BootstrapAnswer answer = MetaCalls.shakeHands(cluster, token, asksAgain, timeoutNs);
            final String name = NetworkFabric.toJoin(answer, given, null, tokenFile);
            if (isEncrypted && !NetworkFabric.isSealed(name))
            {
                throw new CommandFailedException(ExitStatus.USAGE, "--encrypt: this command reads memory nodes " +
                    "itself, which is encrypted only where packets are sealed, and those of fabric " + name +
                    " are not; leave it out, or give VERBENA_ENCRYPT=false", null);
            }
            NetworkFabric.requireReachable(cluster, answer, name);
            fabric = Fabrics.open(name, ProcessRole.EXPENDABLE);
            device = fabric.openDevice("check-" + ProcessHandle.current().pid());
            final StoreObserver observer =
                StoreObserver.open(device, new BootstrapLocator(cluster, token, answer), timeoutNs);
            return new OpenedStore(observer, observer.memoryNodeIds(), observer::view,
                address + ", beside its users", List.of(observer::close, device::close, fabric::close));
        }
        catch (final BootstrapException ex)
        {
            throw RoleOptions.failed(ex);
        }
        catch (final RdmaException | ComputeNodeException ex)
        {
            if (null != device)
            {
                device.close();
            }
            if (null != fabric)
            {
                fabric.close();
            }
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, ex.getMessage(), ex);
        }
    }

    public RepairableStore store()
    {
        return store;
    }

    /**
     * Runs what blocks, such as a question to another process, and keeps the store's lease meanwhile.
     *
     * @param blocking runs on another thread if the store is live; must not use the store.
     * @return its result.
     */
    public <T> T besideLease(final Supplier<T> blocking)
    {
        if (!store.isLive())
        {
            return blocking.get();
        }
        final CompletableFuture<T> result =
            CompletableFuture.supplyAsync(blocking, (task) -> Thread.ofPlatform().daemon().start(task));
        while (!result.isDone())
        {
            store.keepLease();
        }
        if (result.isCompletedExceptionally() && result.exceptionNow() instanceof final RuntimeException failure)
        {
            throw failure;
        }
        return result.join();
    }

    /** Ids of all memory nodes, ascending. */
    public List<Integer> memoryNodeIds()
    {
        return memoryNodeIds;
    }

    /**
     * What an id is that tables name memory by.
     *
     * @param id of a memory node, or of a group.
     * @return "memory node 3", or "group 10, memory nodes 1, 2", the one that readers read last.
     */
    public String place(final int id)
    {
        final View view = views.apply(id);
        return null == view ? "memory node " + id : "group " + id + ", memory node" +
            (1 == view.members().size() ? " " : "s ") + view.members().stream()
            .map((member) -> Integer.toString(member.nodeId())).collect(Collectors.joining(", "));
    }

    /** Which cluster this is, for people. */
    public String title()
    {
        return title;
    }

    @Override
    public void close()
    {
        parts.forEach(Runnable::run);
    }
}
