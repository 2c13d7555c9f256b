package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.role.RoleOptions;
import io.verbena.cli.role.TlsOptions;
import io.verbena.protocol.bootstrap.AccessTicket;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.protocol.message.NodePage;
import io.verbena.protocol.remote.NodeFigures;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewPage;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.server.ComputeNodeRole;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** Calls of a tool to the meta server, which work without any compute or memory node. One thread. */
public final class MetaCalls implements AutoCloseable
{
    private static final int BOOTSTRAP_TIMEOUT_MS = 10_000;
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final Fabric fabric;
    private final Device device;
    private final RaasContext raas;
    private final VirtualQp vqp;
    private final MetaClient client;
    private final BootstrapAnswer answer;
    private final AccessTicket nodeTicket;
    /** To compute nodes, by their incarnations. */
    private final Map<Integer, VirtualQp> links = new HashMap<>();

    private MetaCalls(
        final Fabric fabric, final BootstrapAnswer answer, final ClusterToken token, final boolean isEncrypted,
        final long timeoutNs)
    {
        this.fabric = fabric;
        nodeTicket = token.nodeTicket();
        this.answer = answer;
        device = fabric.openDevice("node-" + ProcessHandle.current().pid());
        raas = RaasContext.open(device, new RaasConfiguration().encrypted(isEncrypted));
        token.joiningTicket(answer).use(raas);
        vqp = raas.connect(answer.metaServer(), BatchListener.CALLS_ONLY, timeoutNs);
        client = new MetaClient(raas, vqp);
    }

    /**
     * Shakes hands.
     *
     * @param asksAgain whether a single address is asked again while nobody answers there, until the timeout.
     */
    static BootstrapAnswer shakeHands(
        final ClusterAddress cluster, final ClusterToken token, final boolean asksAgain, final long timeoutNs)
    {
        final int timeoutMs = Math.clamp(TimeUnit.NANOSECONDS.toMillis(timeoutNs), 1, BOOTSTRAP_TIMEOUT_MS);
        return asksAgain ? BootstrapClient.find(cluster, token, timeoutMs) :
            BootstrapClient.ask(cluster, token, timeoutMs);
    }

    /** Connects to the meta server of the cluster in a folder. */
    public static MetaCalls open(final ClusterFolder folder, final long timeoutNs)
    {
        return open(folder.address(), folder.token(), TlsOptions.NONE, null, folder.isEncrypted(), false, timeoutNs);
    }

    /**
     * Connects to the meta server of a cluster at an address.
     *
     * @param given       fabric of this process; null: the cluster's.
     * @param isEncrypted whether calls are encrypted, as they always are where the cluster seals packets.
     * @param asksAgain   whether a single address is asked again while nobody answers there, until the timeout.
     */
    public static MetaCalls open(
        final String address, final Path tokenFile, final TlsOptions tls, final String given,
        final boolean isEncrypted, final boolean asksAgain, final long timeoutNs)
    {
        try
        {
            final ClusterAddress cluster = ClusterAddress.parse(address);
            final ClusterToken token = tls.secure(ClusterToken.read(tokenFile));
            final BootstrapAnswer answer = shakeHands(cluster, token, asksAgain, timeoutNs);
            final String name = NetworkFabric.toJoin(answer, given, null, tokenFile);
            NetworkFabric.requireReachable(cluster, answer, name);
            return new MetaCalls(
                Fabrics.open(name, ProcessRole.EXPENDABLE), answer, token,
                RoleOptions.isEncrypted(isEncrypted, answer), timeoutNs);
        }
        catch (final BootstrapException ex)
        {
            throw RoleOptions.failed(ex);
        }
        catch (final RdmaException ex)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, ex.getMessage(), ex);
        }
    }

    /** Where a device of the cluster is, for people: on a network its address and port. */
    public String place(final DeviceAddress address)
    {
        return NetworkFabric.place(answer, address);
    }

    /**
     * Lists the living nodes.
     *
     * @param timeoutNs of each page.
     * @return all of one view, in ascending order of their numbers.
     */
    public List<PeerRecord> nodes(final long timeoutNs)
    {
        final List<PeerRecord> nodes = new ArrayList<>();
        NodePage page = result((meta) -> meta.nodes(0, timeoutNs));
        nodes.addAll(page.nodes());
        while (page.hasMore())
        {
            final NodePage next = result((meta) -> meta.nodes(nodes.getLast().nodeId(), timeoutNs));
            if (next.membershipVersion() == page.membershipVersion())
            {
                nodes.addAll(next.nodes());
                page = next;
            }
            else
            {
                // Pages of two views do not make one.
                page = result((meta) -> meta.nodes(0, timeoutNs));
                nodes.clear();
                nodes.addAll(page.nodes());
            }
        }
        return nodes;
    }

    /**
     * Lists groups of memory nodes.
     *
     * @param timeoutNs of each page.
     * @return the latest view of each group, ascending.
     */
    public List<View> views(final long timeoutNs)
    {
        final List<View> views = new ArrayList<>();
        ViewPage page;
        do
        {
            final int after = views.isEmpty() ? 0 : views.getLast().group();
            page = result((meta) -> meta.views(List.of(), after, timeoutNs));
            views.addAll(page.views());
        }
        while (page.hasMore() && !page.views().isEmpty());
        return views;
    }

    /**
     * Lists failure domains of memory nodes that live.
     *
     * @param timeoutNs of each page.
     * @return labels by node id; those without one are left out.
     */
    public Map<Integer, String> failureDomains(final long timeoutNs)
    {
        final Map<Integer, String> labels = new HashMap<>();
        FailureDomainPage page;
        int after = 0;
        do
        {
            final int behind = after;
            page = result((meta) -> meta.failureDomains(behind, timeoutNs));
            for (final FailureDomain domain : page.domains())
            {
                labels.put(domain.nodeId(), domain.label());
                after = domain.nodeId();
            }
        }
        while (page.hasMore() && !page.domains().isEmpty());
        return labels;
    }

    /**
     * Asks compute nodes for their figures, all at once.
     *
     * @param nodes     that live; connections to others are closed.
     * @param timeoutNs for all of them together.
     * @return of each its JSON object, or null when it did not answer.
     */
    public List<String> figures(final List<PeerRecord> nodes, final long timeoutNs)
    {
        final Set<Integer> present = new HashSet<>();
        nodes.forEach((node) -> present.add(node.incarnation()));
        links.entrySet().removeIf((link) ->
        {
            final boolean isGone = !present.contains(link.getKey()) ||
                VirtualQp.State.FAILED == link.getValue().state();
            if (isGone)
            {
                close(link.getValue());
            }
            return isGone;
        });
        final List<CompletableFuture<String>> asked = nodes.stream().map((node) -> NodeFigures.ask(raas,
            links.computeIfAbsent(node.incarnation(), (_) -> connect(node, timeoutNs)), timeoutNs)).toList();
        while (!asked.stream().allMatch(CompletableFuture::isDone))
        {
            if (0 == raas.poll())
            {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        return asked.stream().map(CompletableFuture::join).toList();
    }

    /** Closes the connection to a compute node, which waits for that when it is to end. */
    public void leave(final PeerRecord node)
    {
        final VirtualQp link = links.remove(node.incarnation());
        if (null != link)
        {
            close(link);
            raas.poll();
        }
    }

    private void close(final VirtualQp link)
    {
        link.close();
        raas.forget(link.peer());
    }

    /** A spare is not listed with its port. */
    private VirtualQp connect(final PeerRecord node, final long timeoutNs)
    {
        // Compute nodes know the token alone, and not what the certificate of this side says.
        nodeTicket.use(raas);
        return raas.connect(
            new PeerAddress(node.device(), ComputeNodeRole.SERVICE_PORT, node.nodeId(), node.incarnation()),
            BatchListener.CALLS_ONLY, timeoutNs);
    }

    /** Makes a call and waits for its end, which comes by the call's deadline. */
    public <T> ControlCall<T> await(final Function<MetaClient, ControlCall<T>> caller)
    {
        final ControlCall<T> call = caller.apply(client);
        while (!call.isDone())
        {
            if (0 == raas.poll())
            {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        return call;
    }

    /** As {@link #await}, for an answer that must be there. */
    public <T> T result(final Function<MetaClient, ControlCall<T>> caller)
    {
        final ControlCall<T> call = await(caller);
        if (ControlStatus.OK != call.status())
        {
            throw failed(call);
        }
        return call.result();
    }

    private static CommandFailedException failed(final ControlCall<?> call)
    {
        final boolean isRefused = ControlStatus.INVALID_REQUEST == call.status() ||
            ControlStatus.UNKNOWN_NODE == call.status() ||
            ControlStatus.EXHAUSTED == call.status() || ControlStatus.NO_SUCH_TABLE == call.status();
        return new CommandFailedException(
            isRefused ? ExitStatus.FAILED : ExitStatus.UNAVAILABLE, call.failure(), null);
    }

    @Override
    public void close()
    {
        links.values().forEach(VirtualQp::close);
        vqp.close();
        raas.close();
        device.close();
        fabric.close();
    }
}
