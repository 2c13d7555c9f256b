package io.verbena.compute;

import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaDispatcher;
import io.verbena.protocol.control.MetaService;
import io.verbena.protocol.control.PendingNotification;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import org.agrona.concurrent.Agent;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;

/** One loop of a compute node against a meta server that answers as a test says, in virtual time. */
final class MetaRig implements AutoCloseable
{
    static final long LEASE_NS = 100_000_000;
    static final long TIMEOUT_NS = 5_000_000;
    static final Registration REGISTRATION = new Registration(3, 7, 1, 10, 8, 20, LEASE_NS, 99);
    private static final long MAX_STEPS = 2_000_000;

    final SimWorld world;
    final RaasContext raas;
    final MetaLink link;
    /** What each method was asked, in order. */
    final List<String> asked = new ArrayList<>();
    final List<PendingNotification> awaitingChanges = new ArrayList<>();
    private final Map<String, Function<Object[], Object>> answers = new HashMap<>();
    private final SimNode node;
    private final RaasContext server;
    private boolean isSilent;

    MetaRig()
    {
        world = new SimWorld(1, new SimFabricOptions().retryTimeoutNs(2_000_000));
        final SimNode metaNode = world.addNode("meta");
        node = world.addNode("compute");
        server = RaasContext.open(metaNode.device(), new RaasConfiguration());
        server.serve(1, (caller, source) -> Admission.callsOnly(), new MetaDispatcher(service()));
        metaNode.addAgent(agent("meta", (nowNs) -> isSilent ? 0 : server.poll()));
        raas = RaasContext.open(node.device(), new RaasConfiguration());
        link = new MetaLink(
            raas, MetaServerLocator.at(new PeerAddress(metaNode.device().address(), 1, 1, 1)), TIMEOUT_NS);
        node.addAgent(agent("raas", (nowNs) -> raas.poll(nowNs) + link.poll(nowNs)));
        answer("register", (arguments) -> REGISTRATION);
    }

    /** Runs a loop on the node from now on. */
    void run(final LongUnaryOperator poll)
    {
        node.addAgent(agent("loop", poll));
    }

    private Agent agent(final String name, final LongUnaryOperator poll)
    {
        return new Agent()
        {
            @Override
            public int doWork()
            {
                return (int)poll.applyAsLong(nowNs());
            }

            @Override
            public String roleName()
            {
                return name;
            }
        };
    }

    private MetaService service()
    {
        return (MetaService)Proxy.newProxyInstance(
            MetaService.class.getClassLoader(), new Class<?>[]{MetaService.class}, (proxy, method, arguments) ->
            {
                asked.add(method.getName());
                if ("awaitChange".equals(method.getName()))
                {
                    awaitingChanges.add((PendingNotification)arguments[1]);
                    return null;
                }
                final Function<Object[], Object> answer = answers.get(method.getName());
                if (null == answer)
                {
                    throw new ControlException(ControlStatus.INVALID_REQUEST, "no answer to " + method.getName());
                }
                return answer.apply(arguments);
            });
    }

    /** Says how a method is answered from now on. */
    void answer(final String method, final Function<Object[], Object> answer)
    {
        answers.put(method, answer);
    }

    /** Answers a method with a failure from now on. */
    void refuse(final String method, final ControlStatus status)
    {
        answer(method, (arguments) ->
        {
            throw new ControlException(status, "the test says so");
        });
    }

    /** The meta server stops, or goes on. */
    void silent(final boolean isOn)
    {
        isSilent = isOn;
    }

    ControlCall<Registration> registered()
    {
        final ControlCall<Registration> call = link.client().register(
            new NodeRegistration(0, NodeRole.COMPUTE_NODE, raas.device().address(), 0, new RemoteRegion(0, 0, 0)),
            TIMEOUT_NS);
        runUntil(call::isDone);
        return call;
    }

    long count(final String method)
    {
        return asked.stream().filter(method::equals).count();
    }

    long nowNs()
    {
        return world.clock().nanoTime();
    }

    void runUntil(final BooleanSupplier condition)
    {
        world.runUntil(condition, MAX_STEPS);
    }

    void runFor(final long durationNs)
    {
        world.runFor(durationNs);
    }

    @Override
    public void close()
    {
        link.close();
        raas.close();
        server.close();
        world.close();
    }
}
