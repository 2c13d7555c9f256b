package io.verbena.protocol.session;

import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaDispatcher;
import io.verbena.protocol.control.MetaService;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodePage;
import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

import static org.assertj.core.api.Assertions.assertThat;

/** The connection to a meta server that is started again elsewhere, and lists of nodes over it. */
@Timeout(60)
class MetaLinkTest
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int PORT = 1;

    @TempDir
    Path directory;
    private final List<Integer> asked = new ArrayList<>();
    private IntFunction<NodePage> answer = (afterNodeId) -> page(1, false);
    private SoftFabric fabric;
    private Device firstDevice;
    private Device secondDevice;
    private Device clientDevice;
    private RaasContext server;
    private RaasContext client;
    private PeerAddress address;
    private int unreachableCount;
    private int callCount;
    private MetaLink link;

    @BeforeEach
    void open()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        firstDevice = fabric.openDevice("first");
        secondDevice = fabric.openDevice("second");
        clientDevice = fabric.openDevice("client");
        serve(firstDevice);
        client = RaasContext.open(clientDevice, new RaasConfiguration());
        link = new MetaLink(client, new MetaServerLocator()
        {
            @Override
            public PeerAddress address()
            {
                return address;
            }

            @Override
            public void onUnreachable()
            {
                unreachableCount++;
            }

            @Override
            public void onCall()
            {
                callCount++;
            }
        }, TIMEOUT_NS);
    }

    /** By which a long-running process hears of new members of a group. */
    @Test
    void shouldSayThatACallIsAboutToBeMade()
    {
        link.client();
        assertThat(callCount).isEqualTo(1);
        link.freshClient();
        assertThat(callCount).isEqualTo(2);
    }

    @AfterEach
    void close()
    {
        link.close();
        client.close();
        server.close();
        clientDevice.close();
        secondDevice.close();
        firstDevice.close();
        fabric.close();
    }

    private void serve(final Device device)
    {
        server = RaasContext.open(device, new RaasConfiguration());
        server.serve(PORT, (caller, source) -> Admission.callsOnly(), new MetaDispatcher(service()));
        address = new PeerAddress(device.address(), PORT, 1, 1);
    }

    private MetaService service()
    {
        return (MetaService)Proxy.newProxyInstance(
            MetaService.class.getClassLoader(), new Class<?>[]{MetaService.class}, (proxy, method, arguments) ->
            {
                if (method.isDefault())
                {
                    return InvocationHandler.invokeDefault(proxy, method, arguments);
                }
                asked.add((Integer)arguments[0]);
                return answer.apply((Integer)arguments[0]);
            });
    }

    private static NodePage page(final long version, final boolean hasMore, final int... nodeIds)
    {
        final List<PeerRecord> nodes = new ArrayList<>();
        for (final int nodeId : nodeIds)
        {
            nodes.add(new PeerRecord(nodeId, nodeId, 1, NodeRole.MEMORY_NODE, new DeviceAddress(1, nodeId), 1,
                new RemoteRegion(0, 4096, 1)));
        }
        return new NodePage(version, nodes, hasMore);
    }

    private void runUntil(final BooleanSupplier condition)
    {
        final long deadlineNs = client.clock().nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean())
        {
            server.poll();
            client.poll();
            assertThat(client.clock().nanoTime() - deadlineNs).as("in time").isNegative();
        }
    }

    /** As when the leader of a group stands still: its connection is whole, and another one leads. */
    @Test
    void shouldMoveToWhereTheMetaServerIsFoundWhenACallIsNotAnswered()
    {
        link.client();
        runUntil(link::isConnected);
        final RaasContext still = server;
        serve(secondDevice);
        link.poll(client.clock().nanoTime());
        link.onUnanswered();
        assertThat(unreachableCount).isEqualTo(1);
        runUntil(() ->
        {
            link.poll(client.clock().nanoTime());
            return link.isConnected();
        });
        final ControlCall<NodePage> call = link.client().nodes(0, TIMEOUT_NS);
        runUntil(call::isDone);
        assertThat(call.status()).isEqualTo(ControlStatus.OK);
        still.close();
    }

    private void loseTheServer()
    {
        runUntil(link::isConnected);
        server.close();
        serve(secondDevice);
        final ControlCall<NodePage> lost = link.client().nodes(0, TIMEOUT_NS);
        runUntil(() -> lost.isDone() && !link.isUsable());
        assertThat(lost.status().isUnknown()).as("no answer says what became of it").isTrue();
    }

    @Test
    void shouldConnectAtTheFirstUse()
    {
        assertThat(link.transport()).isEqualTo("none");
        assertThat(link.isUsable()).isTrue();
        final ControlCall<NodePage> call = link.client().nodes(0, TIMEOUT_NS);
        runUntil(call::isDone);
        assertThat(call.status()).isEqualTo(ControlStatus.OK);
        assertThat(link.isConnected()).isTrue();
    }

    @Test
    void shouldConnectAtOnceToWhereTheMetaServerIsByThenForAFreshClient()
    {
        link.client();
        loseTheServer();
        assertThat(unreachableCount).isZero();
        final ControlCall<NodePage> call = link.freshClient().nodes(0, TIMEOUT_NS);
        assertThat(unreachableCount).isEqualTo(1);
        runUntil(call::isDone);
        assertThat(call.status()).isEqualTo(ControlStatus.OK);
        assertThat(link.freshClient()).as("the same while it is good").isSameAs(link.client());
        assertThat(unreachableCount).isEqualTo(1);
    }

    @Test
    void shouldConnectAfterAPauseWhenPolled()
    {
        link.client();
        loseTheServer();
        final long nowNs = client.clock().nanoTime();
        assertThat(link.poll(nowNs)).as("the pause begins").isZero();
        assertThat(unreachableCount).isEqualTo(1);
        assertThat(link.poll(nowNs)).as("it is not over").isZero();
        assertThat(link.isUsable()).isFalse();
        assertThat(link.poll(nowNs + TIMEOUT_NS)).isPositive();
        assertThat(link.isUsable()).isTrue();
        runUntil(link::isConnected);
        assertThat(unreachableCount).isEqualTo(1);
    }

    @Test
    void shouldListTheNodesOfAllPages()
    {
        answer = (afterNodeId) -> 0 == afterNodeId ? page(1, true, 2, 3) : page(1, false, 5);
        assertThat(list(new NodeListing(link, TIMEOUT_NS))).containsExactly(2, 3, 5);
        assertThat(asked).containsExactly(0, 3);
    }

    @Test
    void shouldTakePagesOfAnyViewWhereThatDoes()
    {
        answer = (afterNodeId) -> 0 == afterNodeId ? page(1, true, 3) : page(2, false, 5);
        assertThat(list(new NodeListing(link, TIMEOUT_NS))).containsExactly(3, 5);
        assertThat(asked).containsExactly(0, 3);
    }

    @Test
    void shouldFailWhenAPageIsRefusedAndListWhenAskedAgain()
    {
        answer = (afterNodeId) ->
        {
            throw new ControlException(ControlStatus.UNAVAILABLE, "not now");
        };
        final NodeListing listing = new NodeListing(link, TIMEOUT_NS);
        listing.start();
        runUntil(listing::isAnswered);
        assertThat(listing.poll()).isEqualTo(NodeListing.Outcome.FAILED);
        assertThat(listing.status()).isEqualTo(ControlStatus.UNAVAILABLE);
        assertThat(listing.failure()).contains("not now");
        assertThat(listing.isUnderWay()).isFalse();
        answer = (afterNodeId) -> page(1, false, 7);
        assertThat(list(listing)).containsExactly(7);
    }

    private List<Integer> list(final NodeListing listing)
    {
        listing.start();
        NodeListing.Outcome outcome = NodeListing.Outcome.NONE;
        while (NodeListing.Outcome.LISTED != outcome)
        {
            runUntil(listing::isAnswered);
            outcome = listing.poll();
            assertThat(outcome).isNotEqualTo(NodeListing.Outcome.FAILED);
        }
        return listing.nodes().stream().map(PeerRecord::nodeId).toList();
    }
}
