package io.verbena.compute;

import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaDispatcher;
import io.verbena.protocol.control.MetaService;
import io.verbena.protocol.control.PendingNotification;
import io.verbena.protocol.control.PendingRegistration;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.protocol.message.UserPage;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.DirectoryView;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;
import org.agrona.concurrent.Agent;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

/** One loop of a compute node against a meta server that answers as a test says, in virtual time. */
public final class MetaRig implements AutoCloseable
{
    public static final long LEASE_NS = 100_000_000;
    public static final long TIMEOUT_NS = 5_000_000;
    public static final Registration REGISTRATION = new Registration(
        3, 7, 1, 10, 8, 20, LEASE_NS, 99,
        new RegistrationSecret(1, IdentitySecret.random(new SecureRandom()), null), List.of(), List.of());
    private static final long MAX_STEPS = 2_000_000;
    private static final int PLACES = 16;
    private static final int NAMED_BYTES = 8192;

    public final SimWorld world;
    public final RaasContext raas;
    public final MetaLink link;
    public final MetaServerLocator metaServer;
    public final List<PendingNotification> awaitingChanges = new ArrayList<>();
    private final List<PendingRegistration> registering = new ArrayList<>();
    /** The view of peers that the meta server has. */
    public final DirectoryView view;
    private final Script script = new Script();
    private final MemoryRegion viewRegion;
    private final SimNode node;
    private final RaasContext server;
    private boolean isSilent;
    private long late;
    private int memoryRefusals;

    @SuppressWarnings("unchecked")
    public MetaRig()
    {
        world = new SimWorld(1, new SimFabricOptions().retryTimeoutNs(2_000_000));
        final SimNode metaNode = world.addNode("meta");
        node = world.addNode("compute");
        server = RaasContext.open(metaNode.device(), new RaasConfiguration());
        viewRegion = server.protectionDomain().allocateRegistered(
            DirectoryView.regionLengthBytes(PLACES, NAMED_BYTES), AccessFlags.REMOTE_READ);
        view = new DirectoryView(viewRegion, PLACES, NAMED_BYTES);
        server.serve(1, (caller, source) -> Admission.accept(AccessFlags.REMOTE_READ, view.privateData(), viewRegion),
            new MetaDispatcher(script.service(MetaService.class)));
        metaNode.addAgent(agent("meta", (nowNs) -> isSilent ? 0 : server.poll() + giveRegistrations()));
        raas = RaasContext.open(
            device(node.device()), new RaasConfiguration().identity(REGISTRATION.identity()));
        final PeerAddress address = new PeerAddress(metaNode.device().address(), 1, 1, 1);
        metaServer = new MetaServerLocator()
        {
            @Override
            public PeerAddress address()
            {
                return address;
            }

            @Override
            public void onUnreachable()
            {
                // It stays there.
            }

            @Override
            public void onLate()
            {
                late++;
            }
        };
        link = new MetaLink(raas, metaServer, TIMEOUT_NS);
        node.addAgent(agent("raas", (nowNs) -> raas.poll(nowNs) + link.poll(nowNs)));
        answer("register", (arguments) ->
        {
            final PendingRegistration answer = ((Supplier<PendingRegistration>)arguments[1]).get();
            answer.accept(REGISTRATION);
            registering.add(answer);
            return null;
        });
        answer("mayChangeTables", (arguments) -> true);
        answer("isGuarded", (arguments) -> false);
        answer("onChanged", (arguments) -> null);
        answer("onForbidden", (arguments) -> null);
        answer("users", (arguments) -> new UserPage(0, false, List.of(), false));
        answer("awaitChange", (arguments) ->
        {
            awaitingChanges.add((PendingNotification)arguments[1]);
            return null;
        });
    }

    /** A device that refuses to register memory as often as a test says. */
    private Device device(final Device device)
    {
        return (Device)Proxy.newProxyInstance(Device.class.getClassLoader(), new Class<?>[]{Device.class},
            (self, method, arguments) -> ProtectionDomain.class == method.getReturnType() ?
                domain((ProtectionDomain)invoke(device, method, arguments)) : invoke(device, method, arguments));
    }

    private ProtectionDomain domain(final ProtectionDomain domain)
    {
        return (ProtectionDomain)Proxy.newProxyInstance(Device.class.getClassLoader(),
            new Class<?>[]{ProtectionDomain.class}, (self, method, arguments) ->
            {
                if (MemoryRegion.class == method.getReturnType() && memoryRefusals > 0)
                {
                    memoryRefusals--;
                    throw new RdmaException("planted: no memory can be registered");
                }
                return invoke(domain, method, arguments);
            });
    }

    private static Object invoke(final Object target, final Method method, final Object[] arguments) throws Throwable
    {
        try
        {
            return method.invoke(target, arguments);
        }
        catch (final InvocationTargetException ex)
        {
            throw ex.getCause();
        }
    }

    /** The next registrations of memory on the node fail, so many of them. */
    public void refuseMemory(final int times)
    {
        memoryRefusals = times;
    }

    /** Runs a loop on the node from now on. */
    public void run(final LongUnaryOperator poll)
    {
        node.addAgent(agent("loop", poll));
    }

    private int giveRegistrations()
    {
        return registering.removeIf(PendingRegistration::give) ? 1 : 0;
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

    /** Says how a method is answered from now on. */
    public void answer(final String method, final Function<Object[], Object> answer)
    {
        script.answer(method, answer);
    }

    /** @return how a method is answered now; null when a test has not said. */
    public Function<Object[], Object> answering(final String method)
    {
        return script.answering(method);
    }

    /** Answers a method with a failure from now on. */
    public void refuse(final String method, final ControlStatus status)
    {
        script.refuse(method, status);
    }

    /** @return how often somebody said that it takes long. */
    public long late()
    {
        return late;
    }

    /** The meta server stops, or goes on. */
    public void silent(final boolean isOn)
    {
        isSilent = isOn;
    }

    public ControlCall<Registration> registered()
    {
        final ControlCall<Registration> call = link.client().register(
            new NodeRegistration(0, NodeRole.COMPUTE_NODE, raas.device().address(), 0, new RemoteRegion(0, 0, 0)),
            TIMEOUT_NS);
        runUntil(call::isDone);
        link.actAs(call.result());
        return call;
    }

    public long count(final String method)
    {
        return script.count(method);
    }

    public long nowNs()
    {
        return world.clock().nanoTime();
    }

    public void runUntil(final BooleanSupplier condition)
    {
        world.runUntil(condition, MAX_STEPS);
    }

    public void runFor(final long durationNs)
    {
        world.runFor(durationNs);
    }

    @Override
    public void close()
    {
        link.close();
        raas.close();
        view.close();
        viewRegion.close();
        server.close();
        world.close();
    }
}
