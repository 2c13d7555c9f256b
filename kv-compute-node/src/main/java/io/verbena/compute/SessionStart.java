package io.verbena.compute;

import io.verbena.compute.figures.JoinTimeline;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.request.OperationDispatcher;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.VerbCounters;

import java.util.SplittableRandom;

/** One attempt to register a node, of which comes a {@link NodeSession} or nothing. Owned by the node's thread. */
final class SessionStart implements AutoCloseable
{
    /** To the meta server: the present one, and one that is not closed yet. */
    private static final int META_CONNECTIONS = 2;

    private final ComputeNodeConfiguration configuration;
    private final RaasContext raas;
    private final SplittableRandom random;
    private final MetaLink metaLink;
    private final ControlCall<Registration> registering;
    private boolean isHandedOver;

    /** Opens the connections, and asks. */
    SessionStart(
        final Device device, final MetaServerLocator metaServer, final ComputeNodeConfiguration configuration,
        final JoinTimeline timeline, final UnexpectedFailures failures)
    {
        this.configuration = configuration;
        raas = RaasContext.open(device, new RaasConfiguration().completionChannel(configuration.completionChannel())
            .peers(configuration.maxMemoryNodes() + META_CONNECTIONS, 0, device.attributes())
            .roomSetting(MemoryLinks.settingText(configuration.maxMemoryNodes()))
            .replayTimeoutNs(configuration.callTimeoutNs())
            .dcFailureHandler(failures::onDcFailure).errorHandler(failures::onCallbackError));
        timeline.opened(raas.clock().nanoTime());
        random = new SplittableRandom(device.address().gidLow() ^ raas.clock().nanoTime());
        metaLink = new MetaLink(raas, metaServer, configuration.callTimeoutNs()).actAsNode();
        metaLink.directory();
        registering = metaLink.client().register(
            new NodeRegistration(0, NodeRole.COMPUTE_NODE, device.address(), configuration.servicePort(),
                new RemoteRegion(0, 0, 0), 0, 0, ReadTargetAddress.NONE, configuration.tcpService(),
                configuration.isSpare()),
            configuration.callTimeoutNs());
    }

    int poll(final long nowNs)
    {
        final int workCount = raas.poll(nowNs) + metaLink.poll(nowNs);
        if (registering.isDone() && ControlStatus.OK != registering.status())
        {
            // Whoever begins the next one asks where the meta server is by then.
            metaLink.onUnanswered();
        }
        return workCount;
    }

    /** @return whether it is decided. */
    boolean isDone()
    {
        return registering.isDone();
    }

    /** @return why it came to nothing; empty when it is registered. Once it {@link #isDone()}. */
    String failure()
    {
        return ControlStatus.OK == registering.status() ? "" :
            "cannot register at the meta server: " + registering.status() + " " + registering.failure();
    }

    /** @return whether it came to nothing because this node may not register. Once it {@link #isDone()}. */
    boolean isForbidden()
    {
        return ControlStatus.FORBIDDEN == registering.status();
    }

    /** @return after how long the meta server wants to be asked again; 0 when it did not say. */
    long retryDelayNs()
    {
        return registering.retryDelayNs();
    }

    /** @return the session, which owns the connections from now on; once it is registered. */
    NodeSession begin(
        final OperationDispatcher dispatcher, final JoinTimeline timeline, final UnexpectedFailures failures)
    {
        final NodeSession session =
            new NodeSession(raas, metaLink, registering, configuration, dispatcher, timeline, failures, random);
        isHandedOver = true;
        return session;
    }

    /** @return whether the meta server cannot be reached now. */
    boolean isMetaServerUnreachable()
    {
        return !metaLink.isUsable();
    }

    VerbCounters counters()
    {
        return new VerbCounters().add(raas.counters());
    }

    /** @return its connections by what carries them; a new map. */
    RaasContext.Transports transports()
    {
        return raas.transports();
    }

    /** Closes the connections, unless a session has them. */
    @Override
    public void close()
    {
        if (!isHandedOver)
        {
            metaLink.close();
            raas.close();
        }
    }
}
