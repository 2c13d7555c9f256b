package io.verbena.memory;

import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.session.Credentials;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerDirectory;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.Agent;

import java.lang.foreign.ValueLayout;

/** As much of a compute node as the control plane sees: it registers, renews its lease and uses memory nodes. */
final class SimComputeNode implements Agent
{
    private static final long TIMEOUT_NS = 5_000_000;

    private final long timeoutNs;
    final SimNode node;
    final RaasContext raas;
    MetaClient meta;
    final PeerDirectory directory;
    Registration registration;
    long epoch;
    long safeEpoch;
    long version;
    int beats;
    private boolean rests;
    boolean lost;
    int succeeded;
    int failed;
    private final MemoryRegion local;
    private final MetaServerLocator metaServer;
    private VirtualQp metaVqp;
    private ControlCall<Registration> registering;
    private ControlCall<Heartbeat> renewing;
    private long nextHeartbeatNs;
    private long registerAtNs;
    int registrations;
    Credentials credentials;

    SimComputeNode(final SimNode node, final MetaServerLocator metaServer)
    {
        this(node, metaServer, TIMEOUT_NS);
    }

    SimComputeNode(final SimNode node, final MetaServerLocator metaServer, final long timeoutNs)
    {
        this.timeoutNs = timeoutNs;
        this.node = node;
        raas = RaasContext.open(node.device(), new RaasConfiguration());
        local = raas.protectionDomain().allocateRegistered(4096, AccessFlags.LOCAL_WRITE);
        this.metaServer = metaServer;
        connectToMetaServer();
        directory = new PeerDirectory(raas, metaServer.address(), timeoutNs);
        register();
        node.addAgent(this);
    }

    private void connectToMetaServer()
    {
        metaVqp = raas.connect(metaServer.address(), (vqp, cookie, status) -> { }, timeoutNs);
        meta = new MetaClient(raas, metaVqp);
    }

    private void register()
    {
        registrations++;
        registering = meta.register(
            new NodeRegistration(0, NodeRole.COMPUTE_NODE, node.device().address(), 0, new RemoteRegion(0, 0, 0)),
            timeoutNs);
    }

    private void registerLater()
    {
        final long nowNs = raas.clock().nanoTime();
        if (0 == registerAtNs)
        {
            registerAtNs = nowNs + registering.retryDelayNs();
        }
        if (registerAtNs - nowNs <= 0)
        {
            registerAtNs = 0;
            register();
        }
    }

    @Override
    public int doWork()
    {
        final int workCount = raas.poll() + directory.poll();

        if (VirtualQp.State.FAILED == metaVqp.state())
        {
            metaServer.onUnreachable();
            metaVqp.close();
            connectToMetaServer();
        }

        if (null == registration)
        {
            if (registering.isDone() && ControlStatus.OK != registering.status())
            {
                registerLater();
            }
            else if (registering.isDone())
            {
                registration = registering.result();
                credentials = new Credentials(registration);
                raas.identity(registration.identity(), 1, credentials::towards);
                epoch = registration.epoch();
                nextHeartbeatNs = raas.clock().nanoTime();
            }

            return workCount;
        }

        return workCount + renew(raas.clock().nanoTime());
    }

    private int renew(final long nowNs)
    {
        if (null == renewing && nextHeartbeatNs - nowNs <= 0 && !lost)
        {
            // It runs no operation that outlives a duty cycle, so it has passed what it heard before.
            renewing = meta.heartbeat(
                registration.nodeId(), registration.incarnation(), epoch - 1, !rests, credentials.held(),
                timeoutNs);
            nextHeartbeatNs = nowNs + registration.leaseNs() / (rests ? 3 : 20);
            return 1;
        }

        if (null != renewing && renewing.isDone())
        {
            if (ControlStatus.OK == renewing.status())
            {
                beats++;
                credentials.renew(renewing.result());
                epoch = renewing.result().epoch();
                safeEpoch = renewing.result().safeEpoch();
                version = renewing.result().membershipVersion();
            }

            lost |= ControlStatus.UNKNOWN_NODE == renewing.status();
            renewing = null;
            return 1;
        }

        return 0;
    }

    /** From its next heartbeat on it only renews its lease, three times while it lasts, and waits for no epoch. */
    void rest()
    {
        rests = true;
    }

    VirtualQp connect(final MemoryNode memory, final PeerAddress address)
    {
        return raas.connect(
            new PeerAddress(address.device(), address.servicePort(), memory.nodeId(), memory.incarnation()),
            (vqp, cookie, status) ->
            {
                succeeded += WorkCompletionStatus.SUCCESS == status ? 1 : 0;
                failed += WorkCompletionStatus.SUCCESS == status ? 0 : 1;
            },
            timeoutNs);
    }

    MemoryNodeClient client(final VirtualQp vqp)
    {
        return new MemoryNodeClient(raas, vqp);
    }

    /** Posts a WRITE of one word; the outcome is counted. */
    void write(final VirtualQp vqp, final long offset, final long value)
    {
        local.segment().set(ValueLayout.JAVA_LONG, 0, value);
        vqp.begin();
        vqp.write(local, 0, Long.BYTES, vqp.peerRegions().getFirst(), offset);
        vqp.complete(0);
    }

    /** Posts a READ of one word; it is in {@link #word()} when it has succeeded. */
    void read(final VirtualQp vqp, final long offset)
    {
        vqp.begin();
        vqp.read(local, 8, Long.BYTES, vqp.peerRegions().getFirst(), offset);
        vqp.complete(0);
    }

    long word()
    {
        return local.segment().get(ValueLayout.JAVA_LONG, 8);
    }

    /** Posts a READ of the first bytes of the region; they are in {@link #superblock()} when it has succeeded. */
    void readSuperblock(final VirtualQp vqp)
    {
        vqp.begin();
        vqp.read(local, 64, SuperblockDescriptor.LENGTH, vqp.peerRegions().getFirst(), 0);
        vqp.complete(0);
    }

    Superblock superblock()
    {
        return SuperblockDescriptor.read(local.segment().asSlice(64, SuperblockDescriptor.LENGTH));
    }

    @Override
    public String roleName()
    {
        return "compute";
    }

    @Override
    public void onClose()
    {
        directory.close();
        metaVqp.close();
        local.close();
        raas.close();
    }
}
