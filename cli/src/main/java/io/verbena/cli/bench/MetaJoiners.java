package io.verbena.cli.bench;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Compute nodes that register and leave, and do nothing else: what joining costs the meta server, without the start of
 * processes. All are driven by the one thread that uses this.
 */
final class MetaJoiners implements AutoCloseable
{
    private static final int BOOTSTRAP_TIMEOUT_MS = 20_000;
    private static final long CALL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long GIVE_UP_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final byte[] DESCRIPTOR = new byte[300];

    /** One node, with a connection of its own. */
    private static final class Joiner implements AutoCloseable
    {
        private final Device device;
        private final RaasContext raas;
        private final MetaLink link;
        private Registration registration;

        Joiner(final Device device, final BootstrapLocator locator)
        {
            this.device = device;
            raas = RaasContext.open(device, new RaasConfiguration().peers(2, 0, device.attributes()));
            link = new MetaLink(raas, locator, CALL_TIMEOUT_NS).actAsNode();
            link.client();
        }

        ControlCall<Registration> register()
        {
            return link.freshClient().register(new NodeRegistration(0, NodeRole.COMPUTE_NODE, device.address(), 0,
                new RemoteRegion(0, 0, 0), 0, 0, ReadTargetAddress.NONE), CALL_TIMEOUT_NS);
        }

        void onJoined(final Registration joined)
        {
            registration = joined;
        }

        /** Who answered the registration may lead no more: a connection to the next one acts for the node, too. */
        ControlCall<Void> leave()
        {
            link.actAs(registration);
            return link.freshClient().leave(registration.nodeId(), registration.incarnation(), CALL_TIMEOUT_NS);
        }

        void onLeft()
        {
            registration = null;
            link.actAsNode();
        }

        int poll()
        {
            return raas.poll() + link.poll(raas.clock().nanoTime());
        }

        @Override
        public void close()
        {
            link.close();
            raas.close();
        }
    }

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final Fabric fabric;
    private final Device device;
    private final List<Joiner> joiners = new ArrayList<>();
    /** Of the calls that are made now, why one was not answered or was refused last; empty for none. */
    private String lastFailure = "";

    /** Connects so many to the meta server of the cluster in a folder. */
    MetaJoiners(final ClusterFolder folder, final int count)
    {
        final ClusterAddress cluster = ClusterAddress.parse(folder.address());
        final ClusterToken token = ClusterToken.read(folder.token());
        final BootstrapAnswer answer = BootstrapClient.ask(cluster, token, BOOTSTRAP_TIMEOUT_MS);
        final BootstrapLocator locator = new BootstrapLocator(cluster, token, answer);
        fabric = Fabrics.open(NetworkFabric.toJoin(answer, null, null, folder.token()), ProcessRole.EXPENDABLE);
        device = fabric.openDevice("bench-meta-" + ProcessHandle.current().pid());
        for (int i = 0; i < count; i++)
        {
            joiners.add(new Joiner(device, locator));
        }
        final long endNs = clock.nanoTime() + GIVE_UP_NS;
        while (!joiners.stream().allMatch((joiner) -> joiner.link.isConnected()))
        {
            pollAll(endNs, "connected");
        }
    }

    /**
     * All register at once.
     *
     * @return how long it took until the last one had.
     */
    long joinNs()
    {
        return allNs("joined", Joiner::register, Joiner::onJoined);
    }

    /** All leave. */
    void leave()
    {
        allNs("left", Joiner::leave, (joiner, _) -> joiner.onLeft());
    }

    /**
     * Makes tables known which have no memory; the first node has registered, and acts from now on as what it is.
     *
     * @param from  number of the first, in its name.
     * @param count few enough for one lease, which is not renewed.
     */
    void createTables(final int from, final int count)
    {
        final Joiner creator = joiners.getFirst();
        creator.link.actAs(creator.registration);
        final MetaClient client = creator.link.client();
        for (int i = from; i < from + count; i++)
        {
            final int tableId = result(client.allocateTableId(0, CALL_TIMEOUT_NS));
            result(client.createTable(
                new TableEntry("bench-" + i, tableId, DESCRIPTOR), List.of(), 0, CALL_TIMEOUT_NS));
        }
    }

    private <T> T result(final ControlCall<T> call)
    {
        final long endNs = clock.nanoTime() + GIVE_UP_NS;
        while (!call.isDone())
        {
            pollAll(endNs, "answered");
        }
        if (ControlStatus.OK != call.status())
        {
            throw failed(call.failure());
        }
        return call.result();
    }

    /** Takes an answer. */
    private interface Taker<T>
    {
        void onAnswer(Joiner joiner, T answer);
    }

    /** What is refused or not answered is asked again after a pause, or when it was said. */
    private <T> long allNs(
        final String what, final Function<Joiner, ControlCall<T>> caller, final Taker<T> taker)
    {
        final long startNs = clock.nanoTime();
        final int count = joiners.size();
        lastFailure = "";
        final List<ControlCall<T>> calls = new ArrayList<>();
        final long[] retryAtNs = new long[count];
        joiners.forEach((joiner) -> calls.add(caller.apply(joiner)));
        for (int left = count; left > 0;)
        {
            pollAll(startNs + GIVE_UP_NS, what);
            for (int i = 0; i < count; i++)
            {
                final ControlCall<T> call = calls.get(i);
                if (null == call || !call.isDone())
                {
                    continue;
                }
                if (ControlStatus.OK == call.status())
                {
                    taker.onAnswer(joiners.get(i), call.result());
                    calls.set(i, null);
                    left--;
                }
                else if (0 == retryAtNs[i])
                {
                    lastFailure = call.failure();
                    joiners.get(i).link.onUnanswered();
                    retryAtNs[i] = clock.nanoTime() + Math.max(RETRY_NS, call.retryDelayNs());
                }
                else if (clock.nanoTime() - retryAtNs[i] >= 0)
                {
                    retryAtNs[i] = 0;
                    calls.set(i, caller.apply(joiners.get(i)));
                }
            }
        }
        return clock.nanoTime() - startNs;
    }

    private void pollAll(final long endNs, final String what)
    {
        int workCount = 0;
        for (final Joiner joiner : joiners)
        {
            workCount += joiner.poll();
        }
        if (0 == workCount)
        {
            LockSupport.parkNanos(POLL_NS);
        }
        if (clock.nanoTime() - endNs > 0)
        {
            throw failed("not all of " + joiners.size() + " nodes " + what + " within " +
                TimeUnit.NANOSECONDS.toSeconds(GIVE_UP_NS) + " s" + (lastFailure.isEmpty() ? "" : ": " + lastFailure));
        }
    }

    private static CommandFailedException failed(final String why)
    {
        return new CommandFailedException(ExitStatus.UNAVAILABLE, why, null);
    }

    @Override
    public void close()
    {
        CloseHelper.closeAll(joiners);
        device.close();
        fabric.close();
    }
}
